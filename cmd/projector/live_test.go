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

	"go.mongodb.org/mongo-driver/bson"

	"prejoin/pkg/devstack"
	"prejoin/pkg/kafka"
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

// projecting starts a projector and waits until it owns the partitions: the one
// before was killed, and keeps them until its session ends.
func (w *world) projecting(log *journal) *exec.Cmd {
	w.t.Helper()
	before := strings.Count(log.String(), "partitions assigned")
	p := w.start(log, "run", "--admin-addr=127.0.0.1:0", "--session=2s")
	within(w.t, 60*time.Second, "partitions are assigned", func() bool { return strings.Count(log.String(), "partitions assigned") > before })
	return p
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
		p := w.projecting(log)
		time.Sleep(time.Duration(100+rand.IntN(1500)) * time.Millisecond) //nolint:gosec // no secret
		w.must(p.Process.Kill())
		_ = p.Wait()
		t.Logf("kill %d", i+1)
	}
	w.projecting(log)
	time.Sleep(3 * time.Second) // changes while the last one works
	stop()
	out := w.expect(0, "verify", "--settle=60s")
	if !strings.Contains(out, "0 missing, 0 extra, 0 different") {
		t.Errorf("%s\n%s", out, log)
	}
}

// TestEveryRoute: each kind of change on the write side reaches the documents,
// also those that name the document only in the old row, or not at all.
func TestEveryRoute(t *testing.T) {
	w := newWorld(t, 1000)
	log := &journal{}
	w.capture(log)
	w.expect(0, "backfill")
	w.start(log, "run", "--admin-addr=127.0.0.1:0", "--session=6s")
	id := w.one(0, "SELECT min(settlement_id) FROM settlement_line")
	other := w.one(0, fmt.Sprintf("SELECT min(id) FROM settlement WHERE id > %d", id))
	f := func(what, sql string) {
		t.Helper()
		w.exec(0, sql)
		if status, out := w.projector("verify", "--settle=30s"); status != 0 {
			t.Fatalf("%s: %s\n%s", what, out, log)
		}
	}
	f("a field", fmt.Sprintf("UPDATE settlement SET payment_amount = payment_amount + 0.01, amount = amount + 0.01 WHERE id = %d", id))
	f("a fee line corrected", fmt.Sprintf("UPDATE settlement_line SET base = base + 0.01 WHERE settlement_id = %d", id))
	f("a fee line moved", fmt.Sprintf("UPDATE settlement_line SET settlement_id = %d WHERE settlement_id = %d", other, id))
	f("fee lines deleted", fmt.Sprintf("DELETE FROM settlement_line WHERE settlement_id = %d", other))
	f("a payment", fmt.Sprintf("UPDATE payment SET paid_at = paid_at + interval '1 second' WHERE id = (SELECT payment_id FROM settlement WHERE id = %d)", id))
	f("an order", fmt.Sprintf("UPDATE orders SET product_name = 'x' WHERE id = (SELECT order_id FROM settlement WHERE id = %d)", id))
	f("the largest merchant renamed", "UPDATE merchant SET name = '새이름' WHERE id = 1")
	f("a settlement deleted", fmt.Sprintf("DELETE FROM settlement WHERE id = %d", id))
	f("a settlement with another id", fmt.Sprintf("UPDATE settlement SET id = 900000000000000001 WHERE id = (SELECT max(id) FROM settlement s WHERE id <> %d AND NOT EXISTS (SELECT FROM settlement_line WHERE settlement_id = s.id))", id))
	f("rolled back", "BEGIN; UPDATE merchant SET name = 'never'; ROLLBACK")
	f("all fee lines truncated", "TRUNCATE settlement_line")
	f("a table rewritten", "ALTER TABLE settlement_line ALTER COLUMN kind TYPE varchar(40)")
	if t.Failed() {
		t.Log(log)
	}
}

// TestWhatStopsTheProjector: what cannot be done by trying again stops it with
// a sentence that says where, why and what to do, and commits nothing of it.
func TestWhatStopsTheProjector(t *testing.T) {
	w := newWorld(t, 200)
	log := &journal{}
	w.capture(log)
	w.expect(0, "backfill")
	id := w.one(0, "SELECT min(id) FROM settlement")
	stops := func(what string, wants ...string) {
		t.Helper()
		status, out := w.projector("run", "--admin-addr=127.0.0.1:0", "--session=6s")
		for _, want := range wants {
			if status != 1 || !strings.Contains(out, want) {
				t.Errorf("%s: status %d, want %q in\n%s", what, status, want, out)
			}
		}
	}
	byID := bson.D{{Key: "_id", Value: id}}
	_, err := w.mongo.Collection("settlement_v1").UpdateOne(t.Context(), byID, bson.D{{Key: "$set", Value: bson.D{{Key: "_p.s", Value: "shard1"}}}})
	w.must(err)
	w.exec(0, fmt.Sprintf("UPDATE settlement SET updated_at = now() WHERE id = %d", id))
	stops("a document of another shard", fmt.Sprint(id), "another shard")
	_, err = w.mongo.Collection("settlement_v1").DeleteOne(t.Context(), byID)
	w.must(err)

	w.publish("shard0.public.settlement", `{"before":null,"after":{"id":1},"op":"c"`)
	stops("a message that is cut off", "shard0.public.settlement[", "@")
}

// publish puts one message on a topic.
func (w *world) publish(topic, value string) {
	w.t.Helper()
	client, err := kafka.Open(kafka.Config{Brokers: w.brokers})
	w.must(err)
	defer client.Close()
	w.must(client.NewProducer(kafka.ProducerConfig{}).Send(w.t.Context(), []kafka.Message{{Topic: topic, Key: []byte(`{"id":1}`), Value: []byte(value)}}))
}
