package sample

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/time/rate"
)

// hand is one connection's worker: it draws an action, does it in a transaction,
// and now and then takes it back.
type hand struct {
	w     *Workload
	pool  *pgxpool.Pool
	known *surroundings
	r     *rand.Rand
	shard int
	away  time.Time // since when the shard has not answered; zero: it does
}

func (w *Workload) hand(pool *pgxpool.Pool, known *surroundings, shard, n int) *hand {
	stream := mix(uint64(w.rng)<<32 | uint64(shard)<<16 | uint64(n))
	return &hand{w: w, pool: pool, known: known, shard: shard, r: rand.New(rand.NewPCG(w.cfg.Seed, stream))}
}

// run works until ctx ends. The transaction at hand is ended in its own time.
func (h *hand) run(ctx context.Context, limit *rate.Limiter) error {
	for limit.Wait(ctx) == nil {
		if err := h.judge(h.transact(context.WithoutCancel(ctx))); err != nil {
			return err
		}
		if !h.away.IsZero() {
			pause(ctx, 200*time.Millisecond)
		}
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// judge counts what went wrong and returns what stops the workload.
func (h *hand) judge(err error) error {
	var pg *pgconn.PgError
	switch answered := errors.As(err, &pg); {
	case err == nil:
		h.away = time.Time{}
	case answered && conflict(pg.Code):
		h.away = time.Time{}
		h.w.count(func(r *WorkloadReport) { r.Conflicts++ })
	case answered && !unavailable(pg.Code):
		return fmt.Errorf("changing shard %d: %w; the workload keeps the schema's rules, so look for what else changed the shard", h.shard, err)
	default:
		return h.interrupted(err)
	}
	return nil
}

// interrupted bears with a shard that is away for a while.
func (h *hand) interrupted(err error) error {
	h.w.count(func(r *WorkloadReport) { r.Interrupted++ })
	h.w.cfg.Log.Debug("the workload was interrupted", "shard", h.shard, "error", err)
	if h.away.IsZero() {
		h.away = time.Now()
	}
	if time.Since(h.away) < h.w.cfg.Patience {
		return nil
	}
	return fmt.Errorf("changing shard %d, which has been away for %s: %w; start it, then the load again", h.shard, h.w.cfg.Patience, err)
}

// unavailable: connection exceptions, too few resources, shutting down or
// starting up.
func unavailable(code string) bool {
	return strings.HasPrefix(code, "08") || strings.HasPrefix(code, "53") || strings.HasPrefix(code, "57")
}

// conflict tells what two hands do to each other: serialization failure, deadlock,
// lock not available, and a parent deleted by the other.
func conflict(code string) bool {
	return code == "40001" || code == "40P01" || code == "55P03" || code == "23503"
}

// transact does one drawn action. One in a hundred is rolled back whole, one in
// a hundred follows another that was rolled back to a savepoint.
func (h *hand) transact(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	variant := h.r.IntN(100)
	var done outcome
	err := pgx.BeginFunc(ctx, h.pool, func(tx pgx.Tx) (err error) {
		if variant == 1 {
			if err := h.inVain(ctx, tx); err != nil {
				return err
			}
		}
		if done, err = h.act(ctx, tx); err == nil && variant == 0 && done.name != "" {
			return errTakenBack
		}
		return err
	})
	h.score(done, err, variant == 1)
	if errors.Is(err, errTakenBack) {
		return nil
	}
	return err
}

var errTakenBack = errors.New("taken back on purpose")

// inVain does an action that a savepoint takes back.
func (h *hand) inVain(ctx context.Context, tx pgx.Tx) error {
	err := pgx.BeginFunc(ctx, tx, func(inner pgx.Tx) error {
		if _, err := h.act(ctx, inner); err != nil {
			return err
		}
		return errTakenBack
	})
	if errors.Is(err, errTakenBack) {
		return nil
	}
	return err
}

func (h *hand) score(done outcome, err error, savepoint bool) {
	h.w.count(func(r *WorkloadReport) {
		switch {
		case errors.Is(err, errTakenBack):
			r.RolledBack++
		case err != nil: // judge counts it
		case done.name == "":
			r.Skipped++
		default:
			r.Committed++
			r.Actions[done.name]++
			if savepoint {
				r.Savepoints++
			}
		}
	})
	if err == nil && done.made != 0 {
		h.known.remember(done.made)
	}
}
