package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"prejoin/pkg/config"
	"prejoin/pkg/sample"
)

// SeedCmd fills shards that are migrated and empty.
type SeedCmd struct {
	Settlements int      `help:"How many settlements over all shards." default:"200000" placeholder:"N"`
	Seed        uint64   `help:"The seed: the same one gives the same rows." default:"1" placeholder:"N"`
	Shard       []string `help:"A shard as NAME=DSN; repeat it. Default: SHARD0_DSN, SHARD1_DSN, … of the environment." placeholder:"NAME=DSN" sep:"none"`
}

// Run migrates the shards where that was not done, fills them and prints how
// many rows each has.
func (c SeedCmd) Run(ctx context.Context, env *Env) error {
	shards, err := sampleShards(c.Shard)
	if err != nil {
		return err
	}
	for i, dsn := range shards {
		if err := sample.Migrate(ctx, dsn, i, len(shards)); err != nil {
			return err
		}
	}
	report, err := sample.Seed(ctx, sample.SeedConfig{Shards: shards, Settlements: c.Settlements, Seed: c.Seed})
	if err != nil {
		return err
	}
	for i, s := range report.Shards {
		fmt.Fprintf(env.Stdout, "shard%d  %9d settlements  %9d rows  %4d merchants\n", i, s.Settlements, s.Rows(), s.Merchants)
	}
	fmt.Fprintf(env.Stdout, "seeded in %s\n", report.Took.Round(10*time.Millisecond))
	return nil
}

// sampleShards are the DSNs in the order of the shards' indexes. The sample
// names its shards itself: shard0, shard1, …
func sampleShards(flags []string) ([]string, error) {
	shards, err := config.Shards(flags, os.Environ())
	if err != nil {
		return nil, err
	}
	byName := map[string]string{}
	for _, s := range shards {
		byName[s.Name] = s.DSN
	}
	dsns := make([]string, len(shards))
	for i := range dsns {
		name := fmt.Sprintf("shard%d", i)
		if dsns[i] = byName[name]; dsns[i] == "" {
			return nil, fmt.Errorf("of %d shards none is called %s: the sample's are shard0, shard1 and so on, without a gap", len(shards), name)
		}
	}
	return dsns, nil
}
