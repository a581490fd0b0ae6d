package devstack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// Command says what to launch.
type Command struct {
	Name    string         // for messages: "mongod", "queryd"
	Path    string         // the program
	Args    []string       // without the program's name
	Env     []string       // nil: this process's environment
	Log     string         // file that gets stdout and stderr; "": this process's own
	Out     string         // with Log: another file for stdout
	Orphan  syscall.Signal // what it gets when this process dies; 0: SIGKILL
	Account *Account       // whom it runs as; nil: as this process
	// Foreground leaves it in this process's group, so that a terminal's Ctrl-C
	// and its input reach it. Otherwise it has a group of its own.
	Foreground bool
}

// Process is a running child. It dies with this process, whatever happens.
type Process struct {
	Name string
	log  string
	own  bool // it leads a process group of its own
	cmd  *exec.Cmd
	done chan struct{}
	err  error // set before done is closed
}

// Launch starts a child. The caller ends it by Stop, Signal or Kill.
func Launch(c Command) (*Process, error) {
	p := &Process{Name: c.Name, log: c.Log, own: !c.Foreground, cmd: exec.Command(c.Path, c.Args...), done: make(chan struct{})}
	p.cmd.Env, p.cmd.Dir = c.Env, c.Account.dir()
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: !c.Foreground, Credential: c.Account.credential()}
	dieWithParent(p.cmd.SysProcAttr, c.Orphan)
	files, err := p.attach(c)
	defer closeAll(files) // the child has its own copies
	if err != nil {
		return nil, fmt.Errorf("opening the log of %s: %w", c.Name, err)
	}
	started := make(chan error, 1)
	go p.live(started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("starting %s: %w", c.Name, err)
	}
	return p, nil
}

// attach gives the child its standard files and returns those that were opened.
func (p *Process) attach(c Command) (files []*os.File, err error) {
	if c.Log == "" {
		p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		return nil, nil
	}
	for _, path := range []string{c.Log, cmp.Or(c.Out, c.Log)} {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return files, err
		}
		files = append(files, f)
	}
	p.cmd.Stderr, p.cmd.Stdout = files[0], files[1]
	return files, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// live starts the child and waits for it on one thread. The kernel sends the
// death signal when the *thread* that forked ends, not the process, so the
// thread is held for as long as the child lives.
func (p *Process) live(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	p.err = p.cmd.Wait()
	close(p.done)
}

// PID is the child's process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed when the child has ended and was reaped.
func (p *Process) Done() <-chan struct{} { return p.done }

// Ended tells whether the child has ended.
func (p *Process) Ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// Signal sends sig to the child; a child that has ended is no error.
func (p *Process) Signal(sig os.Signal) error {
	if err := p.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("signalling %s: %w", p.Name, err)
	}
	return nil
}

// SignalAll sends sig to the child's group, or to the child alone where it shares
// this process's group. Nobody left to hear it is no error.
func (p *Process) SignalAll(sig syscall.Signal) {
	if p.own {
		_ = syscall.Kill(-p.PID(), sig)
		return
	}
	_ = p.Signal(sig)
}

// Kill ends the child, and what it started in its group (initdb has children), by
// SIGKILL and waits until it is gone.
func (p *Process) Kill() {
	if !p.Ended() {
		p.SignalAll(syscall.SIGKILL)
	}
	<-p.done
}

// Stop asks by sig, waits, and kills the child when ctx ends first, which it
// then reports.
func (p *Process) Stop(ctx context.Context, sig os.Signal) error {
	if err := p.Signal(sig); err != nil {
		return err
	}
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		p.Kill()
		return fmt.Errorf("stopping %s: it did not end by %v in time and was killed", p.Name, sig)
	}
}

// Status is the child's exit status once it has ended: 128 + the signal's
// number where a signal ended it, as shells count.
func (p *Process) Status() int {
	<-p.done
	ws, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return p.cmd.ProcessState.ExitCode()
}

// Tail is the last lines that the child logged.
func (p *Process) Tail() string { return Tail(p.log, 15) }

// Died describes the end of a child that should still be running, with the last
// lines that it logged.
func (p *Process) Died() error {
	<-p.done
	return fmt.Errorf("%s ended early (%s); its last lines:\n%s", p.Name, p.How(), p.Tail())
}

// How tells in a few words how the child ended: "exit status 1", "signal: killed".
func (p *Process) How() string {
	<-p.done
	if p.err != nil {
		return p.err.Error()
	}
	return "exit status 0"
}

// pause sleeps for d; false when ctx or the child ended first.
func (p *Process) pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-p.done:
	case <-ctx.Done():
	}
	return false
}
