package upkeep

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"prejoin/pkg/mongodb"
	"prejoin/pkg/refresh"
)

// Progress is told what a job has done so far, from any goroutine.
type Progress func(shard, model string, documents int64)

// Backfilled says what a backfill did to one shard's documents of one model.
type Backfilled struct {
	Shard       string  `json:"shard"`
	Model       string  `json:"model"`
	Live        int64   `json:"documents"`   // rows found and written where they were newer
	Gone        int64   `json:"gone"`        // documents whose row no longer exists: tombstones
	Superfluous int64   `json:"superfluous"` // a newer or equal document was there
	Seconds     float64 `json:"seconds"`
}

// Backfill refreshes every document that the walkers reach, one shard and model
// beside the other. Collections that are empty at the start are filled by inserts.
func Backfill(ctx context.Context, walkers []*refresh.Walker, reader Documents, progress Progress) ([]Backfilled, error) {
	reports := make([]Backfilled, len(walkers))
	visits := make([]visit, len(walkers))
	for i, w := range walkers {
		blank, err := empty(ctx, reader, w.Refresher.Model().Collection())
		if err != nil {
			return nil, err
		}
		visits[i] = w.Refresher.Refresh
		if blank {
			visits[i] = w.Refresher.Fill
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	for i, w := range walkers {
		group.Go(func() (err error) {
			reports[i], err = backfill(ctx, w, visits[i], progress)
			return err
		})
	}
	return reports, group.Wait()
}

// visit reads and writes the documents of some ids.
type visit func(ctx context.Context, ids []string) (refresh.Result, error)

// empty tells whether the collection holds nothing, no tombstone either.
func empty(ctx context.Context, reader Documents, collection string) (bool, error) {
	cursor, err := reader.Find(ctx, mongodb.Find{Collection: collection, Limit: 1})
	if err != nil {
		return false, fmt.Errorf("looking into %s: %w", collection, err)
	}
	found, err := collect(ctx, cursor, 1)
	if err != nil {
		return false, fmt.Errorf("looking into %s: %w", collection, err)
	}
	return len(found) == 0, nil
}

func backfill(ctx context.Context, w *refresh.Walker, do visit, progress Progress) (Backfilled, error) {
	var live, gone, superfluous, visited atomic.Int64
	start := time.Now()
	r := w.Refresher
	err := w.Each(ctx, func(ctx context.Context, ids []string) error {
		res, err := do(ctx, ids)
		live.Add(int64(res.Live))
		gone.Add(int64(res.Gone))
		superfluous.Add(int64(res.Superfluous))
		progress(r.Shard(), r.Model().Name, visited.Add(int64(len(ids))))
		return err
	})
	if err != nil {
		err = fmt.Errorf("backfilling %s from shard %s (it may be run again): %w", r.Model().Name, r.Shard(), err)
	}
	return Backfilled{Shard: r.Shard(), Model: r.Model().Name, Live: live.Load(), Gone: gone.Load(), Superfluous: superfluous.Load(),
		Seconds: time.Since(start).Seconds()}, err
}
