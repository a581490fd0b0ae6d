package capture_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"prejoin/pkg/capture"
	"prejoin/pkg/cdc"
	"prejoin/pkg/kafka"
	"prejoin/pkg/testenv"
)

// child is a capture in a process of its own, to be killed.
func child() int {
	client, err := kafka.Open(kafka.Config{Brokers: strings.Split(os.Getenv("CHILD_BROKERS"), ",")})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	ctx := context.Background()
	c, err := capture.New(ctx, capture.Config{Shards: []capture.Source{{Name: "shard0", DSN: os.Getenv("CHILD_DSN")}}, Slot: os.Getenv("CHILD_SLOT"),
		Heartbeat: 100 * time.Millisecond}, broker{client, client.NewProducer(kafka.ProducerConfig{})})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	go func() {
		for c.Ready(ctx) != nil {
			time.Sleep(time.Millisecond)
		}
		fmt.Println("ready")
	}()
	fmt.Fprintln(os.Stderr, c.Run(ctx))
	return 1
}

func spawn(t *testing.T, brokers []string, shard testenv.Shard) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "CAPTURE_CHILD=1", "CHILD_BROKERS="+strings.Join(brokers, ","), "CHILD_DSN="+shard.CaptureDSN, "CHILD_SLOT="+shard.Slot)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("the child said %q, %v", line, err)
	}
	return cmd
}

// TestLosesNothingWhenKilled: kill -9 in the middle of a load, again and again; rows may come twice, none is missing, and each
// row's last state comes last.
func TestLosesNothingWhenKilled(t *testing.T) {
	shard := testenv.Postgres(t)
	brokers := testenv.Kafka(t)
	client, err := kafka.Open(kafka.Config{Brokers: brokers, FetchWait: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	r := &rig{t: t, shard: shard, client: client, db: connect(t, shard.DSN)}
	r.own("a", "id bigint PRIMARY KEY, n int", "DEFAULT")
	cmd := spawn(t, brokers, shard)

	const rows, rounds = 400, 5
	load := make(chan error, 1)
	db := connect(t, shard.DSN)
	go func() {
		for i := 1; i <= rows; i++ {
			if _, err := db.Exec(context.Background(), "INSERT INTO a SELECT $1 * 10 + g, 0 FROM generate_series(0, 9) g", i); err != nil {
				load <- err
				return
			}
			if _, err := db.Exec(context.Background(), "UPDATE a SET n = n + 1 WHERE id <= $1 * 10 AND id > $1 * 10 - 20", i); err != nil {
				load <- err
				return
			}
			time.Sleep(2 * time.Millisecond)
		}
		load <- nil
	}()
	for i := range rounds {
		time.Sleep(time.Duration(50+i*70) * time.Millisecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		cmd = spawn(t, brokers, shard)
	}
	if err := <-load; err != nil {
		t.Fatal(err)
	}
	r.settle()
	r.compare(rows * 10)
}

// compare checks that the last event of each row tells the row as it is.
func (r *rig) compare(want int) {
	r.t.Helper()
	last := map[string]string{}
	events := 0
	for _, m := range r.messages("shard0.public.a") {
		c, err := cdc.Decode(cdc.Message{Value: m.Value}, func(string, string) []string { return []string{"id", "n"} })
		if err != nil {
			r.t.Fatal(err)
		}
		last[c.After["id"].Text] = c.After["n"].Text
		events++
	}
	rows, err := r.db.Query(context.Background(), "SELECT id::text, n::text FROM a")
	if err != nil {
		r.t.Fatal(err)
	}
	defer rows.Close()
	n := 0
	for rows.Next() {
		var id, value string
		if err := rows.Scan(&id, &value); err != nil {
			r.t.Fatal(err)
		}
		if last[id] != value {
			r.t.Errorf("row %s is %s, the last event says %q", id, value, last[id])
		}
		n++
	}
	if n != want || len(last) != want {
		r.t.Errorf("%d rows, %d told; want %d", n, len(last), want)
	}
	r.t.Logf("%d events for %d rows", events, n)
}
