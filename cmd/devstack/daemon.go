package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"

	"prejoin/pkg/devstack"
)

// daemon is one of Prejoin's own processes.
type daemon struct {
	*devstack.Process
	admin string // http://127.0.0.1:port of /livez, /readyz and /metrics
}

// startDaemon starts one and waits until its /readyz says 200. adminVar names the
// variable that sets its admin address.
func (l *local) startDaemon(ctx context.Context, name string, args []string, adminVar string, env []string) (*daemon, error) {
	port, err := devstack.FreePort()
	if err != nil {
		return nil, err
	}
	address := fmt.Sprintf("127.0.0.1:%d", port)
	p, err := devstack.Launch(devstack.Command{
		Name: name, Path: l.program(args[0]), Args: args[1:],
		Env: append(env, adminVar+"="+address), Log: l.stack.Folder.File(strings.ReplaceAll(name, " ", "-") + ".log"),
	})
	if err != nil {
		return nil, err
	}
	d := &daemon{Process: p, admin: "http://" + address}
	if err := d.awaitReady(ctx); err != nil {
		p.Kill()
		return nil, err
	}
	l.sayf("%s is ready", name)
	return d, nil
}

func (d *daemon) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, time.Minute, fmt.Errorf("%s was not ready within a minute", d.Name))
	defer cancel()
	for {
		answer := d.ready(ctx)
		if answer == "" {
			return nil
		}
		select {
		case <-d.Done():
			return d.Died()
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w; /readyz says %q, and its last lines are:\n%s", d.Name, context.Cause(ctx), answer, d.Tail())
		case <-time.After(30 * time.Millisecond):
		}
	}
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
