package sample

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"prejoin/pkg/testenv"
)

// run runs a workload for a while.
func run(t *testing.T, w *Workload, d time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	if err := w.Run(ctx); err != nil {
		t.Fatal(err)
	}
}

func newWorkload(t *testing.T, cfg WorkloadConfig) *Workload {
	t.Helper()
	w, err := NewWorkload(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// everyAction but the rare changes of merchants.
var everyAction = []string{"create", "pay", "hold", "release", "bounce", "correct_line", "add_line", "remove_line", "move_line", "payment", "confirm", "order", "cancel", "withdraw", "delete"}

func complete(r WorkloadReport) bool {
	return r.RolledBack > 0 && r.Savepoints > 0 && !slices.ContainsFunc(everyAction, func(name string) bool { return r.Actions[name] == 0 })
}

func TestWorkloadKeepsTheLaws(t *testing.T) {
	t.Parallel()
	dsns, conns := seeded(t, 2_000, 1)
	w := newWorkload(t, WorkloadConfig{Shards: dsns, Rate: 5_000, Seed: 3, Connections: 4})
	// Again and again, as after a pause, until each action has been done.
	var r WorkloadReport
	for end := time.Now().Add(time.Minute); time.Now().Before(end) && !complete(r); r = w.Report() {
		run(t, w, 2*time.Second)
	}
	lawful(t, conns)
	for _, name := range everyAction {
		if r.Actions[name] == 0 {
			t.Errorf("the workload never did %s", name)
		}
	}
	var sum int64
	for _, n := range r.Actions {
		sum += n
	}
	if sum != r.Committed || r.RolledBack == 0 || r.Savepoints == 0 || r.Interrupted != 0 || r.Conflicts > r.Committed/50 {
		t.Errorf("the counts do not add up: %+v", r)
	}
	// What was counted is what is there: made and not deleted.
	var there int64
	for _, c := range conns {
		there += one[int64](t, c, "SELECT count(*) FROM settlement")
	}
	if want := 2_000 + r.Actions["create"] + r.Actions["cancel"] - r.Actions["delete"]; there != want {
		t.Errorf("%d settlements are there, %d were counted", there, want)
	}
}

func TestSequencesDoNotMeet(t *testing.T) {
	t.Parallel()
	dsns, conns := seeded(t, 500, 1)
	w := newWorkload(t, WorkloadConfig{Shards: dsns, Rate: 2_000, Seed: 1})
	const live = "SELECT id FROM settlement WHERE id BETWEEN 1000000000 AND 9007199254740991"
	for i, c := range conns {
		for n := 0; len(list[int64](t, c, live)) == 0; n++ {
			if n == 30 {
				t.Fatalf("nothing was made on shard %d", i)
			}
			run(t, w, time.Second)
		}
	}
	for i, c := range conns {
		live := list[int64](t, c, live)
		for _, id := range live {
			if (id-1_000_000_000)%MaxShards != int64(i) {
				t.Fatalf("shard %d made the id %d", i, id)
			}
		}
	}
}

func TestWorkloadKeepsItsRate(t *testing.T) {
	t.Parallel()
	dsns, _ := seeded(t, 500, 1)
	w := newWorkload(t, WorkloadConfig{Shards: dsns, Rate: 50, Seed: 1})
	run(t, w, 3*time.Second)
	r := w.Report()
	if n := r.Committed + r.RolledBack + r.Skipped; n < 30 || n > 160 {
		t.Errorf("%d transactions in 3 s at 50 a second", n)
	}
}

// A shard that crashes and comes back is no reason to stop.
func TestWorkloadOutlivesACrash(t *testing.T) {
	t.Parallel()
	p := testenv.PrivatePostgres(t)
	dsn := testenv.As(t, p).DSN
	if _, err := Seed(t.Context(), SeedConfig{Shards: []string{dsn}, Settlements: 500, Seed: 1}); err != nil {
		t.Fatal(err)
	}
	w := newWorkload(t, WorkloadConfig{Shards: []string{dsn}, Rate: 500, Seed: 1})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	busy(t, w, 100)
	p.Crash()
	time.Sleep(300 * time.Millisecond)
	if err := p.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	busy(t, w, 100)
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if w.Report().Interrupted == 0 {
		t.Error("the crash was not noticed")
	}
}

// busy waits until n more transactions were committed.
func busy(t *testing.T, w *Workload, n int64) {
	t.Helper()
	want := w.Report().Committed + n
	for end := time.Now().Add(30 * time.Second); w.Report().Committed < want; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the workload stands still: %+v", w.Report())
		}
	}
}

func TestWorkloadGivesUp(t *testing.T) {
	t.Parallel()
	f := func(err error, want string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
	_, err := NewWorkload(WorkloadConfig{Rate: 1})
	f(err, "0 shards")
	_, err = NewWorkload(WorkloadConfig{Shards: []string{"x"}})
	f(err, "rate of 0")
	_, err = NewWorkload(WorkloadConfig{Shards: []string{"x"}, Rate: 1, Connections: -1})
	f(err, "-1 connections")
	f(newWorkload(t, WorkloadConfig{Shards: []string{testenv.Postgres(t).DSN}, Rate: 1}).Run(t.Context()), "seed the shard first")
	f(newWorkload(t, WorkloadConfig{Shards: []string{"postgres://127.0.0.1:1/x?connect_timeout=1"}, Rate: 1}).Run(t.Context()), "reading what shard 0 holds")

	dsns, conns := seeded(t, 500, 1)
	if _, err := conns[0].Exec(t.Context(), "ALTER TABLE orders ADD CHECK (id < 1000000000)"); err != nil {
		t.Fatal(err)
	}
	f(newWorkload(t, WorkloadConfig{Shards: dsns, Rate: 1000}).Run(t.Context()), "changing shard 0")
}
