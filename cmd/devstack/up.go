package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// UpCmd starts everything and serves until Ctrl-C.
type UpCmd struct {
	Flags
}

// Run prints the environment on stdout, ready for a shell's eval, when all is up.
func (c UpCmd) Run(ctx context.Context, env *Env) error {
	l, err := bringUp(ctx, c.Flags, newProgress(env.Stderr))
	if err != nil {
		return err
	}
	defer l.stop()
	for _, line := range l.environ() {
		name, value, _ := strings.Cut(line, "=")
		fmt.Fprintf(env.Stdout, "export %s='%s'\n", name, value)
	}
	l.say("ready; Ctrl-C stops all")
	return l.serve(ctx)
}

// serve waits for a signal, which is the usual end and no failure, or for a
// daemon that ended by itself.
func (l *local) serve(ctx context.Context) error {
	watching, unwatch := context.WithCancel(ctx)
	defer unwatch()
	select {
	case d := <-l.daemons.ended(watching):
		return d.Died()
	case <-ctx.Done():
	}
	l.say("stopping")
	if _, ok := errors.AsType[signalled](context.Cause(ctx)); ok {
		return nil
	}
	return context.Cause(ctx)
}
