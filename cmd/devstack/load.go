package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"prejoin/pkg/sample"
)

// LoadCmd changes seeded shards as the company's applications would.
type LoadCmd struct {
	Rate        float64       `help:"Transactions a second over all shards." default:"200" placeholder:"R"`
	For         time.Duration `help:"How long; 0: until Ctrl-C." default:"0s" placeholder:"DURATION"`
	Seed        uint64        `help:"The seed of the draws." default:"1" placeholder:"N"`
	Connections int           `help:"Connections a shard." default:"8" placeholder:"N"`
	Shard       []string      `help:"A shard as NAME=DSN; repeat it. Default: SHARD0_DSN, SHARD1_DSN, … of the environment." placeholder:"NAME=DSN" sep:"none"`
}

// Run works until the time is over or a signal comes, then prints what it did.
// Both ends are clean: no transaction is cut.
func (c LoadCmd) Run(ctx context.Context, env *Env) error {
	shards, err := sampleShards(c.Shard)
	if err != nil {
		return err
	}
	w, err := sample.NewWorkload(sample.WorkloadConfig{Shards: shards, Rate: c.Rate, Seed: c.Seed, Connections: c.Connections})
	if err != nil {
		return err
	}
	if c.For > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.For)
		defer cancel()
	}
	err = w.Run(ctx)
	printLoad(env.Stdout, w.Report())
	return err
}

func printLoad(w io.Writer, r sample.WorkloadReport) {
	for _, name := range slices.Sorted(maps.Keys(r.Actions)) {
		fmt.Fprintf(w, "%-14s %9d\n", name, r.Actions[name])
	}
	fmt.Fprintf(w, "%-14s %9d  in %s, %.1f a second\n", "committed", r.Committed, r.Took.Round(10*time.Millisecond), float64(r.Committed)/max(r.Took.Seconds(), 0.001))
	fmt.Fprintf(w, "%-14s %9d  and %d with a savepoint rolled back, %d found nothing to do, %d conflicts, %d interrupted\n",
		"rolled back", r.RolledBack, r.Savepoints, r.Skipped, r.Conflicts, r.Interrupted)
}
