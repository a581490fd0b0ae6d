package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"
)

// Config says how long to measure and where the figures go.
type Config struct {
	Rounds int       // rounds a bench; 0 means 5. The median of fewer than 3 is no median.
	JSON   io.Writer // JSON lines
	Table  io.Writer // for people
}

const defaultRounds = 5

// Run runs the benches one after another. It stops at the first error, so that
// no figure follows a broken one, and frees the fixture in any case.
func Run(ctx context.Context, cfg Config, benches []Bench) error {
	if cfg.Rounds == 0 {
		cfg.Rounds = defaultRounds
	}
	if cfg.Rounds < 0 {
		return fmt.Errorf("%d rounds cannot be run: give 1 or more", cfg.Rounds)
	}
	for _, b := range benches {
		if err := runOne(ctx, cfg, b); err != nil {
			return fmt.Errorf("running bench %s: %w", b.Name, err)
		}
	}
	return nil
}

func runOne(ctx context.Context, cfg Config, b Bench) (err error) {
	fixture, err := b.Setup(ctx)
	if err != nil {
		return fmt.Errorf("setting it up: %w", err)
	}
	if fixture.Close != nil {
		defer func() { err = errors.Join(err, fixture.Close()) }()
	}
	if len(fixture.Variants) < 2 {
		return fmt.Errorf("it has %d variants: a comparison needs two or more", len(fixture.Variants))
	}
	if err := parity(ctx, fixture.Variants); err != nil {
		return err
	}
	rounds, err := measure(ctx, cfg, b, fixture.Variants)
	if err != nil {
		return err
	}
	return report(cfg, b, summarize(b, fixture.Variants, rounds))
}

// parity refuses variants that do not yield what the first one yields.
func parity(ctx context.Context, variants []Variant) error {
	var first string
	for i, v := range variants {
		got, err := v.Check(ctx)
		if err != nil {
			return fmt.Errorf("checking variant %s: %w", v.Name, err)
		}
		if i == 0 {
			first = got
		}
		if got != first {
			return fmt.Errorf("%w: %s yields %s, %s yields %s; no time was taken", ErrParity, variants[0].Name, first, v.Name, got)
		}
	}
	return nil
}

// measure runs the rounds: every variant once a round, in order.
func measure(ctx context.Context, cfg Config, b Bench, variants []Variant) ([][]Round, error) {
	rounds := make([][]Round, cfg.Rounds)
	for r := range rounds {
		for _, v := range variants {
			one, err := runVariant(ctx, v)
			if err != nil {
				return nil, fmt.Errorf("running variant %s in round %d: %w", v.Name, r+1, err)
			}
			one.Bench, one.Round = b.Name, r+1
			if err := writeLine(cfg.JSON, one); err != nil {
				return nil, err
			}
			rounds[r] = append(rounds[r], one)
		}
	}
	return rounds, nil
}

func runVariant(ctx context.Context, v Variant) (Round, error) {
	if v.Prepare != nil {
		if err := v.Prepare(ctx); err != nil {
			return Round{}, fmt.Errorf("preparing: %w", err)
		}
	}
	if err := ctx.Err(); err != nil {
		return Round{}, err
	}
	runtime.GC() // so that no variant pays for the garbage of the one before
	start := time.Now()
	work, err := v.Run(ctx)
	taken := time.Since(start)
	if err != nil {
		return Round{}, err
	}
	return newRound(v.Name, work, taken), nil
}
