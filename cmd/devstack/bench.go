package main

import (
	"context"
	"fmt"

	"prejoin/pkg/bench"
	"prejoin/pkg/bench/flush"
	"prejoin/pkg/bench/livepath"
	"prejoin/pkg/readmodel"
)

// BenchCmd times variants of the same work against each other.
type BenchCmd struct {
	Names  []string `arg:"" optional:"" help:"Which benches; default: all."`
	Rounds int      `help:"Rounds a bench; the variants take turns in each." default:"5"`
	Rows   int      `help:"Documents a run; a fifth of them in livepath, whose writes are durable." default:"100000"`
	Model  string   `help:"The model whose documents are used." default:"readmodels/settlement.yaml" placeholder:"FILE"`
}

// Run writes JSON lines to stdout and a table a bench to stderr.
func (c BenchCmd) Run(ctx context.Context, env *Env) error {
	if c.Rounds < 1 || c.Rows < 1 {
		return fmt.Errorf("bench: %d rounds of %d documents measure nothing; give 1 or more of both", c.Rounds, c.Rows)
	}
	m, err := readmodel.Load(c.Model)
	if err != nil {
		return err
	}
	all := []bench.Bench{flush.New(m, c.Rows), livepath.New(m, max(c.Rows/5, 1))}
	chosen, err := bench.Select(all, c.Names)
	if err != nil {
		return err
	}
	return bench.Run(ctx, bench.Config{Rounds: c.Rounds, JSON: env.Stdout, Table: env.Stderr}, chosen)
}
