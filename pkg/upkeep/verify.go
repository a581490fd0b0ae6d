package upkeep

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"prejoin/pkg/refresh"
	"prejoin/pkg/retry"
)

// Report says how the documents of one model compare with one shard's SQL.
type Report struct {
	Shard     string     `json:"shard"`
	Model     string     `json:"model"`
	Compared  int64      `json:"compared"` // ids in SQL or MongoDB
	Missing   int64      `json:"missing"`  // a row without a document
	Extra     int64      `json:"extra"`    // a document without a row
	Different int64      `json:"different"`
	Examples  []Mismatch `json:"examples,omitempty"` // ten at most
	Seconds   float64    `json:"seconds"`
}

// Clean tells that nothing differs.
func (r Report) Clean() bool { return r.Missing+r.Extra+r.Different == 0 }

// Mismatch is one document that is not what the shard says.
type Mismatch struct {
	ID     string   `json:"id"`
	Kind   Kind     `json:"kind"`
	Fields []string `json:"fields,omitempty"` // names only: values may be personal
}

// Kind is how a document differs.
type Kind string

// The kinds of mismatches.
const (
	Missing   Kind = "missing"
	Extra     Kind = "extra"
	Different Kind = "different"
)

// Verify compares every document that the walkers reach with the shards' SQL.
// A difference counts when it is still there after settle: until then a change
// may be on its way.
func Verify(ctx context.Context, walkers []*refresh.Walker, settle time.Duration, progress Progress) ([]Report, error) {
	reports := make([]Report, len(walkers))
	group, ctx := errgroup.WithContext(ctx)
	for i, w := range walkers {
		group.Go(func() (err error) {
			v := &verification{walker: w, progress: progress, settle: settle,
				report: Report{Shard: w.Refresher.Shard(), Model: w.Refresher.Model().Name}}
			reports[i], err = v.run(ctx)
			return err
		})
	}
	return reports, group.Wait()
}

// verification is the comparison of one shard's documents of one model.
type verification struct {
	walker   *refresh.Walker
	progress Progress
	settle   time.Duration

	mu     sync.Mutex
	report Report
}

func (v *verification) run(ctx context.Context) (Report, error) {
	start := time.Now()
	err := v.walker.Each(ctx, v.page)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.report.Seconds = time.Since(start).Seconds()
	if err != nil {
		return v.report, fmt.Errorf("comparing %s with shard %s: %w", v.report.Model, v.report.Shard, err)
	}
	return v.report, nil
}

// page compares some ids, and those that differ again, with growing pauses,
// until none differs or the time to settle is over.
func (v *verification) page(ctx context.Context, ids []string) error {
	compared, start := len(ids), time.Now()
	for pause := 50 * time.Millisecond; ; pause *= 2 {
		found, err := v.compare(ctx, ids)
		if err != nil {
			return err
		}
		left := v.settle - time.Since(start)
		if len(found) == 0 || left <= 0 {
			v.count(compared, found)
			return nil
		}
		if ids = idsOf(found); !retry.Sleep(ctx, min(pause, left)) {
			return ctx.Err()
		}
	}
}

func idsOf(found []Mismatch) []string {
	ids := make([]string, len(found))
	for i, m := range found {
		ids[i] = m.ID
	}
	return ids
}

// examples is how many mismatches a report names.
const examples = 10

func (v *verification) count(compared int, found []Mismatch) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.report.Compared += int64(compared)
	for _, m := range found {
		switch m.Kind {
		case Missing:
			v.report.Missing++
		case Extra:
			v.report.Extra++
		case Different:
			v.report.Different++
		}
		if len(v.report.Examples) < examples {
			v.report.Examples = append(v.report.Examples, m)
		}
	}
	slices.SortFunc(v.report.Examples, func(a, b Mismatch) int { return compareText(a.ID, b.ID) })
	v.progress(v.report.Shard, v.report.Model, v.report.Compared)
}

func compareText(a, b string) int {
	if len(a) != len(b) { // numbers in their order
		return len(a) - len(b)
	}
	return slices.Compare([]byte(a), []byte(b))
}
