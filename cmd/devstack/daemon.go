package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"prejoin/pkg/devstack"
)

// daemon is one of Prejoin's own processes.
type daemon struct {
	*devstack.Process
	ports []int
	admin string // http://127.0.0.1:port of /livez, /readyz and /metrics
}

// program says which daemon to start. Each variable of ports gets an address with
// a free port; the first is the admin server's.
type program struct {
	name  string
	args  []string // the program's file and its arguments
	env   []string
	ports []string
}

// startDaemon starts one and waits until its /readyz says 200, again with other
// ports while another process was faster to take one.
func (l *local) startDaemon(ctx context.Context, p program) (d *daemon, err error) {
	for range 5 {
		if d, err = l.tryDaemon(ctx, p); !errors.Is(err, devstack.ErrPortTaken) {
			return d, err
		}
	}
	return nil, fmt.Errorf("starting %s: %w, five times; run it again", p.name, err)
}

func (l *local) tryDaemon(ctx context.Context, c program) (*daemon, error) {
	d := &daemon{}
	env := slices.Clone(c.env)
	for _, variable := range c.ports {
		port, err := devstack.FreePort()
		if err != nil {
			return nil, err
		}
		d.ports = append(d.ports, port)
		env = append(env, fmt.Sprintf("%s=127.0.0.1:%d", variable, port))
	}
	d.admin = d.url(0)
	log := l.stack.Folder.File(strings.ReplaceAll(c.name, " ", "-") + ".log")
	_ = os.Remove(log) // of a try before, whose end would be taken for this one's
	var err error
	if d.Process, err = devstack.Launch(devstack.Command{Name: c.name, Path: l.program(c.args[0]), Args: c.args[1:], Env: env, Log: log}); err != nil {
		return nil, err
	}
	if err := d.awaitReady(ctx); err != nil {
		d.Kill()
		return nil, err
	}
	l.sayf("%s is ready", c.name)
	return d, nil
}

// url is the address of the daemon's n-th port.
func (d *daemon) url(n int) string { return fmt.Sprintf("http://127.0.0.1:%d", d.ports[n]) }

func (d *daemon) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, time.Minute, fmt.Errorf("%s was not ready within a minute", d.Name))
	defer cancel()
	for {
		answer := d.ready(ctx)
		// Another process on its port may say 200 too.
		if answer == "" && d.listens() {
			return nil
		}
		select {
		case <-d.Done():
			if d.PortTaken() {
				return devstack.ErrPortTaken
			}
			return d.Died()
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w; /readyz says %q, and its last lines are:\n%s", d.Name, context.Cause(ctx), answer, d.Tail())
		case <-time.After(30 * time.Millisecond):
		}
	}
}

// listens: each port is the daemon's own.
func (d *daemon) listens() bool {
	for _, port := range d.ports {
		if !d.Listens(port) {
			return false
		}
	}
	return true
}

// ready is "" when /readyz says 200, else what it said.
func (d *daemon) ready(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.admin+"/readyz", nil)
	if err != nil {
		return err.Error()
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
	if resp.StatusCode == http.StatusOK {
		return ""
	}
	return strings.TrimSpace(string(body))
}

// end asks the daemon to stop; one that does not within 15 s is killed.
func (d *daemon) end(say devstack.Progress) {
	if d == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	if err := d.Stop(ctx, syscall.SIGTERM); err != nil {
		say(err.Error())
	}
}

// tool runs a subcommand of a daemon to its end and returns its stdout.
func (l *local) tool(ctx context.Context, env []string, name string, args ...string) (string, error) {
	label := name + " " + args[0]
	log := l.stack.Folder.File(name + "-" + args[0] + ".log")
	out := l.stack.Folder.File(name + "-" + args[0] + ".out")
	defer os.Remove(out) // it may hold an API key
	p, err := devstack.Launch(devstack.Command{Name: label, Path: l.program(name), Args: args, Env: env, Log: log, Out: out})
	if err != nil {
		return "", err
	}
	select {
	case <-p.Done():
	case <-ctx.Done():
		p.Kill()
		return "", fmt.Errorf("running %s: %w", label, context.Cause(ctx))
	}
	text, err := os.ReadFile(out)
	if err != nil {
		return "", fmt.Errorf("reading the output of %s: %w", label, err)
	}
	if p.Status() != 0 {
		return string(text), p.Died()
	}
	return string(text), nil
}
