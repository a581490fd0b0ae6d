package livepath

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"prejoin/pkg/bench"
	"prejoin/pkg/readmodel"
)

const (
	batchIDs = 1000 // the projector's default
	workers  = 2    // the projector's default: batches in flight
)

// New returns the bench over that many settlements. The model's first route by
// id is the table whose changes are sent.
func New(m *readmodel.Model, settlements int) bench.Bench {
	return bench.Bench{
		Name:  "livepath",
		About: fmt.Sprintf("%d documents of %s rewritten: from the bare updates to the whole live path", settlements, m.Name),
		Setup: func(ctx context.Context) (*bench.Fixture, error) {
			w, err := newWorld(ctx, m, settlements)
			if err != nil {
				return nil, err
			}
			return &bench.Fixture{Variants: w.variants(), Close: w.close}, nil
		},
	}
}

func (w *world) variants() []bench.Variant {
	return []bench.Variant{
		w.variant("bare", w.encode, func(ctx context.Context) error { return w.each(ctx, w.bare) }),
		w.variant("apply", w.read, func(ctx context.Context) error { return w.each(ctx, w.apply) }),
		w.variant("refresh", nil, w.refreshAll),
		w.variant("live", w.compose, w.liveAll),
	}
}

// variant makes the rank rise before each run, so that every run writes every
// document. ready makes what run needs beyond that.
func (w *world) variant(name string, ready, run func(context.Context) error) bench.Variant {
	prepare := func(ctx context.Context) error {
		err := w.commit(ctx)
		if err == nil && ready != nil {
			err = ready(ctx)
		}
		return err
	}
	return bench.Variant{
		Name: name, Prepare: prepare,
		Run: func(ctx context.Context) (bench.Work, error) {
			return bench.Work{Rows: int64(w.rows)}, run(ctx)
		},
		Check: func(ctx context.Context) (string, error) {
			for _, step := range []func(context.Context) error{w.spoil, prepare, run} {
				if err := step(ctx); err != nil {
					return "", err
				}
			}
			return w.digest(ctx)
		},
	}
}

// each runs f for every page of ids, some at once.
func (w *world) each(ctx context.Context, f func(ctx context.Context, page int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(workers)
	for page := range w.pages {
		g.Go(func() error { return f(ctx, page) })
	}
	return g.Wait()
}

func (w *world) refreshAll(ctx context.Context) error {
	return w.each(ctx, func(ctx context.Context, page int) error {
		res, err := w.refresher.Refresh(ctx, w.pages[page])
		if err == nil && res.Applied != len(w.pages[page]) {
			err = fmt.Errorf("%d of %d documents were written: the others were newer already", res.Applied, len(w.pages[page]))
		}
		return err
	})
}
