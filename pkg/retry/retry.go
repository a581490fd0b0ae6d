package retry

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// Policy says how long to wait between attempts. The zero Policy waits 50 ms
// first and 5 s at most, and never gives up.
type Policy struct {
	First    time.Duration // the first wait; 0: 50 ms
	Cap      time.Duration // the longest wait; 0: 5 s
	Attempts int           // calls at most; 0: until the context ends
	// Notify is told of each temporary error before the wait. It may be nil.
	Notify func(err error, attempt int, wait time.Duration)
}

// Do calls f until it returns nil or an error that temporary denies. When the
// context ends or the attempts are used up, the error wraps both the cause and
// the last error of f.
func Do(ctx context.Context, p Policy, temporary func(error) bool, f func(context.Context) error) error {
	for attempt := 1; ; attempt++ {
		err := f(ctx)
		if err == nil || !temporary(err) {
			return err
		}
		if ctx.Err() != nil {
			return ended(ctx, attempt, err)
		}
		if p.Attempts > 0 && attempt >= p.Attempts {
			return fmt.Errorf("giving up after %d attempts: %w", attempt, err)
		}
		wait := p.Wait(attempt)
		if p.Notify != nil {
			p.Notify(err, attempt, wait)
		}
		if !Sleep(ctx, wait) {
			return ended(ctx, attempt, err)
		}
	}
}

func ended(ctx context.Context, attempts int, last error) error {
	cause := context.Cause(ctx)
	if errors.Is(last, cause) {
		return fmt.Errorf("stopped after %d attempts: %w", attempts, last)
	}
	return fmt.Errorf("stopped after %d attempts (%w): %w", attempts, cause, last)
}

// Wait is the pause after the attempt of that number (from 1): between half of
// and the whole of First doubled for each attempt, never over Cap.
func (p Policy) Wait(attempt int) time.Duration {
	first, limit := p.First, p.Cap
	if first <= 0 {
		first = 50 * time.Millisecond
	}
	if limit <= 0 {
		limit = 5 * time.Second
	}
	wait := min(first, limit)
	for i := 1; i < attempt && wait < limit; i++ {
		wait = min(2*wait, limit)
	}
	return wait/2 + rand.N(wait/2+1)
}

// Sleep waits for d and reports true, or false as soon as the context ends.
func Sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return ctx.Err() == nil
	}
}
