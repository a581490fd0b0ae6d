package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"

	"prejoin/pkg/devstack"
	"prejoin/pkg/sample"
)

// Flags say what is brought up.
type Flags struct {
	Settlements int    `help:"How many settlements the sample shards are filled with; 0: none." default:"2000" placeholder:"N"`
	Seed        uint64 `help:"The seed: the same one gives the same rows." default:"1" placeholder:"N"`
	Bare        bool   `help:"Servers, schema and rows only: no daemons."`
}

// local is all that runs on this machine: the servers and, unless bare, the
// daemons between them.
type local struct {
	*progress
	flags   Flags
	stack   *devstack.Stack
	bin     string // folder of projector and queryd
	daemons daemons
	key     string // an API key that may read all merchants
}

// bringUp starts what the flags ask for, in the order that loses nothing. When
// it fails, nothing is left running.
func bringUp(ctx context.Context, flags Flags, p *progress) (*local, error) {
	l := &local{progress: p, flags: flags}
	err := l.servers(ctx)
	if err == nil {
		err = l.data(ctx)
	}
	if err == nil && !flags.Bare {
		err = l.startDaemons(ctx)
	}
	if err != nil {
		l.stop()
		return nil, err
	}
	return l, nil
}

// servers starts the servers and builds the programs meanwhile.
func (l *local) servers(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		l.stack, err = devstack.Start(ctx, devstack.Config{Shards: 2, Mongo: true, Kafka: true, Say: l.say})
		if err == nil {
			l.sayf("PostgreSQL (2 shards), MongoDB and Kafka (kfake) run in %s", l.stack.Folder.Path)
		}
		return err
	})
	g.Go(func() (err error) { l.bin, err = programs(ctx, l.say); return err })
	return g.Wait()
}

// data makes the schema and fills it.
func (l *local) data(ctx context.Context) error {
	g, gctx := errgroup.WithContext(ctx)
	for i, p := range l.stack.Shards {
		g.Go(func() error {
			if err := sample.Migrate(gctx, p.DSN(p.Name), i, len(l.stack.Shards)); err != nil {
				return err
			}
			return devstack.SetRolePasswords(gctx, p.DSN(p.Name))
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	l.say("the sample schema is there")
	if l.flags.Settlements == 0 {
		return nil
	}
	report, err := sample.Seed(ctx, sample.SeedConfig{Shards: l.dsns(), Settlements: l.flags.Settlements, Seed: l.flags.Seed})
	if err != nil {
		return err
	}
	l.sayf("seeded %s", counts(report))
	return nil
}

func counts(r sample.SeedReport) string {
	var parts []string
	for i, s := range r.Shards {
		parts = append(parts, fmt.Sprintf("shard%d with %d settlements of %d merchants", i, s.Settlements, s.Merchants))
	}
	return strings.Join(parts, ", ")
}

// dsns are the owner's, a shard each.
func (l *local) dsns() (dsns []string) {
	for _, p := range l.stack.Shards {
		dsns = append(dsns, p.DSN(p.Name))
	}
	return dsns
}

// environ points a command at all that runs, NAME=value each.
func (l *local) environ() []string {
	env := append(l.stack.Env(), "PREJOIN_BIN="+l.bin)
	env = append(env, models()...)
	if l.flags.Bare {
		return env
	}
	return append(env, l.daemons.environ(l.key)...)
}

// stop ends all: first what reads, then what writes, then the servers.
func (l *local) stop() {
	l.daemons.stop(l.say)
	if l.stack == nil {
		return
	}
	if err := l.stack.Stop(); err != nil {
		l.say(err.Error())
	}
}

func (l *local) program(name string) string { return filepath.Join(l.bin, name) }
