package sample

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"
	"golang.org/x/time/rate"
)

// WorkloadConfig says how the company's applications behave.
type WorkloadConfig struct {
	Shards      []string      // a DSN a shard, migrated and seeded
	Rate        float64       // transactions a second over all shards, above 0
	Seed        uint64        // of the draws; the order over connections is not repeatable
	Connections int           // a shard; default 8
	Patience    time.Duration // how long a shard may be away before Run gives up; default 1 min
	Log         *slog.Logger  // default: none
}

// WorkloadReport counts what a workload did. It is a copy.
type WorkloadReport struct {
	Actions     map[string]int64 // committed, by the action's name
	Committed   int64
	RolledBack  int64 // on purpose, after doing an action
	Savepoints  int64 // commits that rolled a first action back to a savepoint
	Skipped     int64 // nothing that the drawn actions fit was found
	Conflicts   int64 // deadlocks and the like; the transaction was given up
	Interrupted int64 // the server went away; whether it committed is unknown
	Took        time.Duration
}

// Workload changes seeded shards as applications would. Run may be called again
// after it ended: it goes on where it was.
type Workload struct {
	cfg WorkloadConfig
	rng int64 // Runs so far, so that a second does not repeat the first's draws

	mu     sync.Mutex
	report WorkloadReport
}

// NewWorkload checks the configuration; it does not connect.
func NewWorkload(cfg WorkloadConfig) (*Workload, error) {
	if len(cfg.Shards) < 1 || len(cfg.Shards) > MaxShards {
		return nil, fmt.Errorf("a workload over %d shards cannot be: give 1 to %d DSNs", len(cfg.Shards), MaxShards)
	}
	if !(cfg.Rate > 0) || cfg.Rate > 1e6 {
		return nil, fmt.Errorf("a rate of %v transactions a second cannot be: give more than 0, at most a million", cfg.Rate)
	}
	if cfg.Connections < 0 || cfg.Connections > 100 {
		return nil, fmt.Errorf("%d connections a shard cannot be: give 1 to 100", cfg.Connections)
	}
	if cfg.Connections == 0 {
		cfg.Connections = 8
	}
	if cfg.Patience == 0 {
		cfg.Patience = time.Minute
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Workload{cfg: cfg, report: WorkloadReport{Actions: map[string]int64{}}}, nil
}

// Report is what has been done so far; safe while Run runs.
func (w *Workload) Report() WorkloadReport {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.report
	r.Actions = maps.Clone(r.Actions)
	return r
}

// Run works at the rate until ctx ends, which is no error. Every transaction
// that was begun is then ended first, so the counts are exact.
func (w *Workload) Run(ctx context.Context) (err error) {
	start := time.Now()
	w.rng++
	defer func() { w.count(func(r *WorkloadReport) { r.Took += time.Since(start) }) }()
	limit := rate.NewLimiter(rate.Limit(w.cfg.Rate), 1+int(w.cfg.Rate/50)) // at most 20 ms ahead
	group, ctx := errgroup.WithContext(ctx)
	for i := range w.cfg.Shards {
		group.Go(func() error { return w.shard(ctx, i, limit) })
	}
	return group.Wait()
}

// shard runs one shard's connections.
func (w *Workload) shard(ctx context.Context, index int, limit *rate.Limiter) error {
	cfg, err := pgxpool.ParseConfig(w.cfg.Shards[index])
	if err != nil {
		return fmt.Errorf("reading the DSN of shard %d: %w", index, err)
	}
	cfg.MaxConns = int32(w.cfg.Connections)
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return fmt.Errorf("connecting to shard %d: %w", index, err)
	}
	defer pool.Close()
	known, err := lookAround(ctx, pool)
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return fmt.Errorf("reading what shard %d holds: %w", index, err)
	}
	group, ctx := errgroup.WithContext(ctx)
	for n := range w.cfg.Connections {
		h := w.hand(pool, known, index, n)
		group.Go(func() error { return h.run(ctx, limit) })
	}
	return group.Wait()
}

var errNoMerchants = errors.New("there are no merchants: seed the shard first")

func (w *Workload) count(change func(*WorkloadReport)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(&w.report)
}
