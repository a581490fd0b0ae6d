package testenv

import (
	"context"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"prejoin/pkg/devstack"
)

// Main runs a package's tests, stops the servers that they started and fails
// on a leaked goroutine. It does not return.
func Main(m *testing.M, options ...goleak.Option) { goleak.VerifyTestMain(runner{m}, options...) }

type runner struct{ m *testing.M }

// Run stops the servers before goleak looks.
func (r runner) Run() int {
	defer stopOwn()
	return r.m.Run()
}

// own are the servers that this test binary started for itself.
var own struct {
	sync.Mutex
	stacks []*devstack.Stack
}

// startOwn starts servers that live until the end of this test binary.
func startOwn(c devstack.Config) (*devstack.Stack, error) {
	s, err := start(c)
	if err != nil {
		return nil, err
	}
	own.Lock()
	defer own.Unlock()
	own.stacks = append(own.stacks, s)
	return s, nil
}

// start allows for the first fetch of a server over a slow line.
func start(c devstack.Config) (*devstack.Stack, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	return devstack.Start(ctx, c)
}

func stopOwn() {
	own.Lock()
	defer own.Unlock()
	for _, s := range own.stacks {
		_ = s.Stop() // what is left of its folder is swept at the next start
	}
	own.stacks = nil
}
