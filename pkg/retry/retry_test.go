package retry_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"prejoin/pkg/retry"
)

var (
	errBusy = errors.New("busy")
	errBad  = errors.New("bad")
)

func busy(err error) bool { return errors.Is(err, errBusy) }

func TestTemporaryErrorsAreTriedAgainUntilSuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls, told := 0, 0
		policy := retry.Policy{Notify: func(error, int, time.Duration) { told++ }}
		err := retry.Do(t.Context(), policy, busy, func(context.Context) error {
			if calls++; calls < 5 {
				return errBusy
			}
			return nil
		})
		if err != nil || calls != 5 || told != 4 {
			t.Fatalf("err %v, %d calls, told %d times; want nil, 5, 4", err, calls, told)
		}
	})
}

func TestLastingErrorReturnsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start, calls := time.Now(), 0
		err := retry.Do(t.Context(), retry.Policy{}, busy, func(context.Context) error { calls++; return errBad })
		if err != errBad || calls != 1 || time.Since(start) != 0 {
			t.Fatalf("err %v after %d calls and %v; want the same error, once, at once", err, calls, time.Since(start))
		}
	})
}

func TestAttemptsAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		err := retry.Do(t.Context(), retry.Policy{Attempts: 3}, busy, func(context.Context) error { calls++; return errBusy })
		if !errors.Is(err, errBusy) || calls != 3 || !strings.Contains(err.Error(), "3 attempts") {
			t.Fatalf("err %v after %d calls", err, calls)
		}
	})
}

func TestCancelEndsTheWaitAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("shutting down")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(cause) })
		start := time.Now()
		err := retry.Do(ctx, retry.Policy{First: time.Hour, Cap: time.Hour}, busy, func(context.Context) error { return errBusy })
		if time.Since(start) != time.Second {
			t.Errorf("ended after %v, want 1s", time.Since(start))
		}
		if !errors.Is(err, cause) || !errors.Is(err, errBusy) {
			t.Errorf("err %v must wrap the cause and the last error", err)
		}
	})
}

func TestCancelledBeforeItStartsCallsOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	calls := 0
	err := retry.Do(ctx, retry.Policy{}, busy, func(context.Context) error { calls++; return errBusy })
	if calls != 1 || !errors.Is(err, context.Canceled) {
		t.Fatalf("err %v after %d calls", err, calls)
	}
}

func TestWaitsGrowToTheCapWithJitter(t *testing.T) {
	policy := retry.Policy{First: 100 * time.Millisecond, Cap: time.Second}
	for attempt, want := range map[int]time.Duration{
		1: 100 * time.Millisecond, 2: 200 * time.Millisecond, 3: 400 * time.Millisecond,
		4: 800 * time.Millisecond, 5: time.Second, 64: time.Second, 1 << 30: time.Second,
	} {
		seen := map[time.Duration]bool{}
		for range 200 {
			wait := policy.Wait(attempt)
			if wait < want/2 || wait > want {
				t.Fatalf("attempt %d waits %v, want between %v and %v", attempt, wait, want/2, want)
			}
			seen[wait] = true
		}
		if len(seen) < 50 {
			t.Errorf("attempt %d: only %d different waits in 200: no jitter", attempt, len(seen))
		}
	}
}
