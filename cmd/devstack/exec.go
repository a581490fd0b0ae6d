package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"prejoin/pkg/devstack"
)

// ExecCmd runs a command on a stack of its own.
type ExecCmd struct {
	Flags
	Command []string `arg:"" passthrough:"partial" placeholder:"CMD" help:"The command and its arguments, after --."`
}

// Run returns the command's status.
func (c ExecCmd) Run(ctx context.Context, env *Env) error {
	path, args, err := command(c.Command)
	if err != nil {
		return err
	}
	name := filepath.Base(path)
	l, err := bringUp(ctx, c.Flags, newProgress(env.Stderr))
	if err != nil {
		return err
	}
	defer l.stop()
	l.sayf("running %s", name)
	code, err := l.run(ctx, path, args)
	if err != nil {
		return err
	}
	l.sayf("%s ended with status %d", name, code)
	if code != 0 {
		return status(code)
	}
	return nil
}

// command finds the program before anything is started: a typo costs nothing.
func command(line []string) (path string, args []string, err error) {
	if len(line) > 0 && line[0] == "--" {
		line = line[1:]
	}
	if len(line) == 0 {
		return "", nil, errors.New("exec: there is no command; write devstack exec -- CMD")
	}
	path, err = exec.LookPath(line[0])
	if err != nil {
		return "", nil, fmt.Errorf("exec: finding the command: %w; give a program on PATH or its path", err)
	}
	return path, line[1:], nil
}

// run runs the command until it ends. A signal to devstack is handed on to it.
func (l *local) run(ctx context.Context, path string, args []string) (int, error) {
	shared := onTerminal()
	p, err := devstack.Launch(devstack.Command{Name: path, Path: path, Args: args, Env: append(os.Environ(), l.environ()...), Foreground: shared})
	if err != nil {
		return 0, err
	}
	watching, unwatch := context.WithCancel(ctx)
	go l.noteEnds(watching)
	select {
	case <-p.Done():
	case <-ctx.Done():
		interrupt(ctx, p, shared)
	}
	unwatch()
	if !shared { // what the command left in the background would find no servers
		p.SignalAll(syscall.SIGKILL)
	}
	return p.Status(), nil
}

// noteEnds says when a daemon ends. The command may have killed it on purpose: it
// has their process ids.
func (l *local) noteEnds(ctx context.Context) {
	ended := l.daemons.ended(ctx)
	for {
		select {
		case d := <-ended:
			l.sayf("%s ended while the command runs: %s", d.Name, d.How())
		case <-ctx.Done():
			return
		}
	}
}

// interrupt hands the signal on and gives the command time to end by it.
func interrupt(ctx context.Context, p *devstack.Process, shared bool) {
	sig := syscall.SIGTERM
	if s, ok := errors.AsType[signalled](context.Cause(ctx)); ok {
		sig = s.Signal
	}
	// A terminal sends its Ctrl-C to the whole group: the command has it already.
	if !shared || sig != syscall.SIGINT {
		p.SignalAll(sig)
	}
	for _, next := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		select {
		case <-p.Done():
			return
		case <-time.After(10 * time.Second):
			p.SignalAll(next)
		}
	}
	<-p.Done()
}
