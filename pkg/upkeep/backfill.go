package upkeep

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

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
// beside the other. The models of which fill says so are not served yet; their
// collections are filled by inserts.
func Backfill(ctx context.Context, walkers []*refresh.Walker, fill func(model string) bool, progress Progress) ([]Backfilled, error) {
	reports := make([]Backfilled, len(walkers))
	group, ctx := errgroup.WithContext(ctx)
	for i, w := range walkers {
		do := w.Refresher.Refresh
		if fill(w.Refresher.Model().Name) {
			do = w.Refresher.Fill
		}
		group.Go(func() (err error) {
			reports[i], err = backfill(ctx, w, do, progress)
			return err
		})
	}
	return reports, group.Wait()
}

// visit reads and writes the documents of some ids.
type visit func(ctx context.Context, ids []string) (refresh.Result, error)

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
