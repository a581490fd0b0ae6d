package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// verdict is what projector verify --json reports.
type verdict struct {
	OK        bool  `json:"ok"`
	Compared  int64 `json:"compared"`
	Missing   int64 `json:"missing"`
	Extra     int64 `json:"extra"`
	Different int64 `json:"different"`
	took      time.Duration
}

func (d *demo) verify(ctx context.Context) (v verdict, err error) {
	d.say("comparing every document with the shards")
	from := time.Now()
	out, err := d.tool(ctx, d.daemonEnv("prejoin_projector"), "projector", "verify", "--json")
	// A difference ends verify with status 1 and a whole report: that is a
	// result. Without a report it failed.
	if wrong := json.Unmarshal([]byte(out), &v); wrong != nil {
		if err == nil {
			err = wrong
		}
		return v, fmt.Errorf("verifying: %w", err)
	}
	v.took = time.Since(from)
	d.say(v.String())
	return v, nil
}

func (v verdict) String() string {
	return fmt.Sprintf("%s compared with SQL in %.1f s: %s missing, %s extra, %s different",
		grouped(v.Compared), v.took.Seconds(), grouped(v.Missing), grouped(v.Extra), grouped(v.Different))
}

// status is nil, or exit status 1 for a difference.
func (v verdict) status() error {
	if !v.OK {
		return status(exitFailed)
	}
	return nil
}
