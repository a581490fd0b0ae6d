package logging

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// maxThrottled bounds the kinds of warnings that are remembered; a kind beyond
// it is written each time.
const maxThrottled = 1000

// Throttle writes a repeated warning once an interval, with the number of
// those left out since. It may be used by many goroutines.
type Throttle struct {
	log   *slog.Logger
	every time.Duration

	mu   sync.Mutex
	seen map[string]*repeat
}

type repeat struct {
	written time.Time
	left    int
	msg     string
}

// NewThrottle writes each kind of warning to log once in every.
func NewThrottle(log *slog.Logger, every time.Duration) *Throttle {
	return &Throttle{log: log, every: every, seen: map[string]*repeat{}}
}

// Warn writes the warning unless one of the same kind was written within the
// interval. The first one after a silence carries suppressed=<count>.
func (t *Throttle) Warn(ctx context.Context, kind, msg string, args ...any) {
	left, write := t.count(kind, msg)
	if !write {
		return
	}
	if left > 0 {
		args = append(args[:len(args):len(args)], "suppressed", left)
	}
	t.log.WarnContext(ctx, msg, args...)
}

func (t *Throttle) count(kind, msg string) (left int, write bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.seen[kind]
	if r == nil {
		if len(t.seen) >= maxThrottled {
			return 0, true
		}
		r = &repeat{}
		t.seen[kind] = r
	}
	if !r.written.IsZero() && time.Since(r.written) < t.every {
		r.left++
		return 0, false
	}
	left, r.left = r.left, 0
	r.written, r.msg = time.Now(), msg
	return left, true
}

// Flush writes the counts of what is still left out, so that a stop loses none.
func (t *Throttle) Flush(ctx context.Context) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range t.seen {
		if r.left > 0 {
			t.log.WarnContext(ctx, r.msg, "suppressed", r.left)
			r.left = 0
		}
	}
}
