package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"prejoin/pkg/devstack"
	"prejoin/pkg/sample"
)

// asProjector makes the test binary the projector itself, so that a test can
// start one as a process and kill it.
const asProjector = "PROJECTOR_TEST_PROCESS"

func init() {
	if os.Getenv(asProjector) != "" {
		main()
	}
}

// start runs a subcommand as a process of its own, until the test ends or kills it.
func (w *world) start(log io.Writer, command ...string) *exec.Cmd {
	w.t.Helper()
	cmd := exec.Command(os.Args[0], w.args(command...)...) //nolint:gosec // the test binary itself
	cmd.Env = append(os.Environ(), asProjector+"=1")
	cmd.Stdout, cmd.Stderr = log, log
	w.must(cmd.Start())
	w.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd
}

// journal keeps what processes say, for the report of a failure.
type journal struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.String()
}

// capture starts projector capture and waits until its slots exist.
func (w *world) capture(log io.Writer) {
	w.t.Helper()
	port, err := devstack.FreePort()
	w.must(err)
	addr := fmt.Sprintf("127.0.0.1:%d", port)
	args := []string{"capture", "--admin-addr=" + addr, "--slot=" + w.shards[0].Slot}
	cmd := exec.Command(os.Args[0], append(args, w.captureArgs()...)...) //nolint:gosec // the test binary itself
	cmd.Env = append(os.Environ(), asProjector+"=1")
	cmd.Stdout, cmd.Stderr = log, log
	w.must(cmd.Start())
	w.t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	within(w.t, 30*time.Second, "capture is ready", func() bool { return ready(addr) })
}

func (w *world) captureArgs() []string {
	args := []string{"--brokers=" + w.brokers[0]}
	for _, s := range w.shards {
		args = append(args, "--shard="+s.Name+"="+s.CaptureDSN)
	}
	return args
}

func ready(addr string) bool {
	res, err := http.Get("http://" + addr + "/readyz")
	if err != nil {
		return false
	}
	_ = res.Body.Close()
	return res.StatusCode == http.StatusOK
}

// load changes the sample until the test stops it.
func (w *world) load(rate float64) (stop func()) {
	w.t.Helper()
	workload, err := sample.NewWorkload(sample.WorkloadConfig{Shards: []string{w.shards[0].DSN, w.shards[1].DSN}, Rate: rate, Seed: 7})
	w.must(err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- workload.Run(ctx) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			if err := <-done; err != nil {
				w.t.Errorf("the load failed: %v", err)
			}
		})
	}
	w.t.Cleanup(stop)
	return stop
}

// TestTenKills: a projector that is killed ten times under load loses nothing
// and regresses nothing.
func TestTenKills(t *testing.T) {
	w := newWorld(t, 2000)
	log := &journal{}
	w.capture(log)
	w.expect(0, "backfill")
	stop := w.load(100)
	for i := range 10 {
		p := w.start(log, "run", "--admin-addr=127.0.0.1:0", "--session=6s")
		time.Sleep(time.Duration(300+rand.IntN(1500)) * time.Millisecond) //nolint:gosec // no secret
		w.must(p.Process.Kill())
		_ = p.Wait()
		t.Logf("kill %d", i+1)
	}
	w.start(log, "run", "--admin-addr=127.0.0.1:0", "--session=6s")
	time.Sleep(3 * time.Second) // changes while the last one works
	stop()
	out := w.expect(0, "verify", "--settle=60s")
	if !strings.Contains(out, "0 missing, 0 extra, 0 different") {
		t.Errorf("%s\n%s", out, log)
	}
}
