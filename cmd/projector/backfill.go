package main

import (
	"context"
	"errors"
	"fmt"

	"prejoin/pkg/refresh"
	"prejoin/pkg/upkeep"
)

// BackfillCmd reads every document of the shards and writes it.
type BackfillCmd struct {
	AcceptIncarnation bool `help:"Accept a shard that crashed, failed over or was restored: raise its epoch and read all of its documents again. Make sure first that it is the true primary."`
	Workers           int  `help:"Pages in flight a shard and model." default:"2"`
}

// Validate refuses limits that would be none; kong calls it after parsing.
func (c *BackfillCmd) Validate() error { return validWorkers(c.Workers) }

func validWorkers(n int) error {
	if n < 1 || n > 64 {
		return errors.New("--workers is 1 to 64")
	}
	return nil
}

// Run runs the subcommand.
func (c *BackfillCmd) Run(ctx context.Context, env *Env) error {
	consent := refresh.Walk
	if c.AcceptIncarnation {
		consent = refresh.Accept
	}
	h, err := openHouse(ctx, env, consent)
	if err != nil {
		return err
	}
	defer h.close()
	fill, err := h.unserved(ctx)
	if err != nil {
		return err
	}
	p := newProgress(env.Stderr, "backfill")
	reports, err := upkeep.Backfill(ctx, h.walkers(c.Workers), func(model string) bool { return fill[model] }, p.tell)
	p.end()
	if err != nil {
		return err
	}
	if err := h.walked(ctx); err != nil {
		return err
	}
	if err := h.serve(ctx); err != nil {
		return err
	}
	for _, r := range reports {
		fmt.Fprintf(env.Stdout, "%s  %s  %d documents, %d gone, %d already there, %.1f s\n", r.Shard, r.Model, r.Live, r.Gone, r.Superfluous, r.Seconds)
	}
	return nil
}

// unserved are the models that no backfill has filled yet.
func (h *house) unserved(ctx context.Context) (map[string]bool, error) {
	fill := map[string]bool{}
	for _, m := range h.models {
		served, err := h.db.Served(ctx, m.Name)
		if err != nil {
			return nil, err
		}
		fill[m.Name] = served == ""
	}
	return fill, nil
}

// serve lets queryd read what is filled now.
func (h *house) serve(ctx context.Context) error {
	for _, m := range h.models {
		if err := h.db.Serve(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// walked notes that every document was read under the shards' present epochs.
func (h *house) walked(ctx context.Context) error {
	for i, g := range h.guards {
		name := h.shards[i].Name()
		if _, err := h.db.RecordRank(ctx, name, g.Epoch(), g.Highest()); err != nil {
			return err
		}
		current, err := h.db.RecordWalk(ctx, name, g.Epoch())
		if err != nil {
			return err
		}
		if !current {
			return &refresh.EpochError{Shard: name}
		}
	}
	return nil
}
