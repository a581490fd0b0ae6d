package devstack

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Process is the running postmaster.
func (p *Postgres) Process() *Process { return p.proc }

// Crash ends the whole cluster by SIGKILL, backends and WAL sender too, as a
// machine that loses power would. Its data stays.
func (p *Postgres) Crash() {
	if p.proc == nil {
		return
	}
	backends := children(p.proc.PID())
	p.proc.Kill()
	for _, pid := range backends {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	gone(backends, 5*time.Second)
}

// Stop ends the cluster cleanly (a fast shutdown). Its data stays.
func (p *Postgres) Stop(ctx context.Context) error { return p.proc.Stop(ctx, syscall.SIGINT) }

// discard ends the cluster at once, without a checkpoint: its data is not
// needed any more.
func (p *Postgres) discard(ctx context.Context) {
	if p.proc.Stop(ctx, syscall.SIGQUIT) != nil {
		p.Crash()
	}
}

// Restart starts the cluster again on the same port and data, after Crash or
// Stop, and waits until it takes connections.
func (p *Postgres) Restart(ctx context.Context) error {
	if !p.proc.Ended() {
		return fmt.Errorf("restarting PostgreSQL %s: it still runs; Stop or Crash it first", p.Name)
	}
	for {
		err := p.launch(ctx)
		if err == nil {
			return nil
		}
		// A backend that was forked while the postmaster was killed may live for
		// a moment and keeps the shared memory.
		if !strings.Contains(err.Error(), "pre-existing shared memory block") || ctx.Err() != nil {
			return fmt.Errorf("restarting PostgreSQL %s: %w", p.Name, err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// children are the direct children of a process of one thread.
func children(pid int) []int {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	var pids []int
	for _, word := range strings.Fields(string(text)) {
		if n, err := strconv.Atoi(word); err == nil {
			pids = append(pids, n)
		}
	}
	return pids
}

// gone waits until no process of pids is left.
func gone(pids []int, limit time.Duration) {
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if !anyAlive(pids) {
			return
		}
	}
}

func anyAlive(pids []int) bool {
	for _, pid := range pids {
		if alive(pid) {
			return true
		}
	}
	return false
}

// alive: there is such a process and it is no zombie.
func alive(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	return !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
}
