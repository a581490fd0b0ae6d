package main

import (
	"context"
	"fmt"

	"prejoin/pkg/refresh"
	"prejoin/pkg/upkeep"
)

// BackfillCmd reads every document of the shards and writes it.
type BackfillCmd struct {
	AcceptIncarnation bool `help:"Accept a shard that crashed, failed over or was restored: raise its epoch and read all of its documents again. Make sure first that it is the true primary."`
	Workers           int  `help:"Pages in flight a shard and model." default:"2"`
}

// Run runs the subcommand.
func (c *BackfillCmd) Run(ctx context.Context, env *Env) error {
	consent := refresh.Register
	if c.AcceptIncarnation {
		consent = refresh.Accept
	}
	h, err := openHouse(ctx, env, consent)
	if err != nil {
		return err
	}
	defer h.close()
	p := newProgress(env.Stderr, "backfill")
	reports, err := upkeep.Backfill(ctx, h.walkers(c.Workers), h.db, p.tell)
	p.end()
	if err != nil {
		return err
	}
	for i, g := range h.guards {
		if _, err := h.db.RecordRank(ctx, h.shards[i].Name(), g.Epoch(), g.Highest()); err != nil {
			return err
		}
	}
	for _, r := range reports {
		fmt.Fprintf(env.Stdout, "%s  %s  %d documents, %d gone, %d already there, %.1f s\n", r.Shard, r.Model, r.Live, r.Gone, r.Superfluous, r.Seconds)
	}
	return nil
}
