package admin

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Check returns nil when what it looks at is ready, else why it is not, in
// words for an operator and without secrets. It must heed its context.
type Check func(context.Context) error

type readiness struct {
	mu     sync.Mutex
	checks []named
}

type named struct {
	name  string
	check Check
}

type result struct {
	name string
	err  error
}

// AddCheck makes /readyz ask the check under that name. Names are shown in the
// order they were added.
func (s *Server) AddCheck(name string, check Check) {
	s.ready.mu.Lock()
	defer s.ready.mu.Unlock()
	s.ready.checks = append(s.ready.checks, named{name, check})
}

// run asks all checks at once. One that does not heed its context is reported
// as late instead of holding the answer back.
func (r *readiness) run(ctx context.Context, timeout time.Duration) []result {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	r.mu.Lock()
	checks := r.checks[:len(r.checks):len(r.checks)]
	r.mu.Unlock()

	answers := make([]chan error, len(checks))
	for i, c := range checks {
		answers[i] = make(chan error, 1)
		go func() { answers[i] <- c.check(ctx) }()
	}
	results := make([]result, len(checks))
	for i, c := range checks {
		results[i] = result{c.name, wait(ctx, answers[i], timeout)}
	}
	return results
}

func wait(ctx context.Context, answer <-chan error, timeout time.Duration) error {
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-answer:
		return err
	case <-time.After(10 * time.Millisecond): // a check that heeds the context answers now
		return fmt.Errorf("no answer within %v", timeout)
	}
}
