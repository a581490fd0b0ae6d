package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"prejoin/pkg/refresh"
	"prejoin/pkg/upkeep"
)

// VerifyCmd compares every document with the shards' SQL.
type VerifyCmd struct {
	JSON    bool          `name:"json" help:"Print the report as JSON."`
	Workers int           `help:"Pages in flight a shard and model." default:"2"`
	Settle  time.Duration `help:"How long a difference may last before it counts: a change may be on its way." default:"6s"`
}

// Validate refuses limits that would be none; kong calls it after parsing.
func (c *VerifyCmd) Validate() error { return validWorkers(c.Workers) }

// Run runs the subcommand; a difference is errDifferent.
func (c *VerifyCmd) Run(ctx context.Context, env *Env) error {
	h, err := openHouse(ctx, env, refresh.ReadOnly)
	if err != nil {
		return err
	}
	defer h.close()
	p := newProgress(env.Stderr, "verify")
	reports, err := upkeep.Verify(ctx, h.walkers(c.Workers), c.Settle, p.tell)
	p.end()
	if err != nil {
		return err
	}
	strays, err := upkeep.Strays(ctx, h.db, h.models, h.shardNames())
	if err != nil {
		return err
	}
	result := verified{Shards: reports, Strays: strays}
	result.total()
	if c.JSON {
		err = json.NewEncoder(env.Stdout).Encode(result)
	} else {
		err = result.print(env.Stdout)
	}
	if err == nil && !result.OK {
		return errDifferent
	}
	return err
}

// verified is the whole report; Strays are documents of no configured shard.
type verified struct {
	OK        bool            `json:"ok"`
	Compared  int64           `json:"compared"`
	Missing   int64           `json:"missing"`
	Extra     int64           `json:"extra"`
	Different int64           `json:"different"`
	Strays    int64           `json:"strays"`
	Shards    []upkeep.Report `json:"shards"`
}

func (v *verified) total() {
	for _, r := range v.Shards {
		v.Compared += r.Compared
		v.Missing += r.Missing
		v.Extra += r.Extra
		v.Different += r.Different
	}
	v.OK = v.Missing+v.Extra+v.Different+v.Strays == 0
}

func (v *verified) print(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "shard\tmodel\tcompared\tmissing\textra\tdifferent\tseconds\t")
	for _, r := range v.Shards {
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%d\t%d\t%.1f\t\n", r.Shard, r.Model, r.Compared, r.Missing, r.Extra, r.Different, r.Seconds)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, r := range v.Shards {
		for _, m := range r.Examples {
			fmt.Fprintf(w, "%s %s %s is %s %s\n", r.Shard, r.Model, m.ID, m.Kind, strings.Join(m.Fields, ", "))
		}
	}
	_, err := fmt.Fprintln(w, v.verdict())
	return err
}

func (v *verified) verdict() string {
	if v.OK {
		return fmt.Sprintf("%d documents compared: 0 missing, 0 extra, 0 different", v.Compared)
	}
	strays := ""
	if v.Strays > 0 {
		strays = fmt.Sprintf(", %d of a shard that is not configured", v.Strays)
	}
	return fmt.Sprintf("%d documents compared: %d missing, %d extra, %d different%s. Is the projector running and caught up? If so, run projector backfill.",
		v.Compared, v.Missing, v.Extra, v.Different, strays)
}
