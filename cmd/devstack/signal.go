package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// signalled is the cause of a context that a signal ended.
type signalled struct{ syscall.Signal }

func (s signalled) Error() string { return s.String() + " was received" }

// untilSignal is done at the first SIGINT, SIGTERM or SIGHUP. The second one
// ends the process at once; the kernel then ends its children.
func untilSignal(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	stop := func() { signal.Stop(signals); cancel(context.Canceled) }
	go func() {
		select {
		case s := <-signals:
			signal.Stop(signals)
			cancel(signalled{s.(syscall.Signal)})
		case <-ctx.Done():
		}
	}()
	return ctx, stop
}
