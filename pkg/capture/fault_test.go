package capture_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"prejoin/pkg/capture"
	"prejoin/pkg/kafka"
	"prejoin/pkg/postgres/wal"
	"prejoin/pkg/testenv"
)

func (r *rig) open() *capture.Capture {
	r.t.Helper()
	c, err := capture.New(r.t.Context(), r.cfg, broker{r.client, r.client.NewProducer(kafka.ProducerConfig{})})
	if err != nil {
		r.t.Fatal(err)
	}
	return c
}

// TestALostSlotIsNeverMadeAnewInSilence: neither after a restart nor while the capture runs.
func TestALostSlotIsNeverMadeAnewInSilence(t *testing.T) {
	r := newRig(t, testenv.Postgres(t))
	r.own("a", "id bigint PRIMARY KEY", "DEFAULT")
	stop := r.start()
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	r.dropSlot()
	r.exec("INSERT INTO a VALUES (1)")
	err := r.open().Run(t.Context())
	if !errors.Is(err, wal.ErrSlotLost) || !strings.Contains(err.Error(), "--accept-lost-slot") {
		t.Fatalf("a dropped slot: %v", err)
	}
	var log strings.Builder
	r.cfg.AcceptLostSlot, r.cfg.Log = true, slog.New(slog.NewTextHandler(&log, nil))
	stop = r.start()
	r.exec("INSERT INTO a VALUES (2)")
	r.want("public.a", []string{"id"}, `{"id":2} c none -> 2`)
	if err := stop(); err != nil || !strings.Contains(log.String(), "level=WARN") || !strings.Contains(log.String(), "run projector backfill") {
		t.Errorf("%v; the log says %s", err, log.String())
	}
}

// TestConsentToALostSlotIsSpentOnce: a slot that is lost while the capture runs is another one.
func TestConsentToALostSlotIsSpentOnce(t *testing.T) {
	r := newRig(t, testenv.Postgres(t))
	r.cfg.AcceptLostSlot = true
	c := r.open()
	done := make(chan error, 1)
	go func() { done <- c.Run(t.Context()) }()
	r.eventually("ready", func() error { return c.Ready(t.Context()) })
	r.exec(r.dropRead())
	select {
	case err := <-done:
		if !errors.Is(err, wal.ErrSlotLost) {
			t.Errorf("ended with %v", err)
		}
	case <-time.After(15 * time.Second):
		t.Error("the slot was made anew again")
	}
}

// dropRead is the statement that drops the slot under its reader.
func (r *rig) dropRead() string {
	return fmt.Sprintf(`DO $$ BEGIN
		PERFORM pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE slot_name = '%[1]s';
		FOR i IN 1..200 LOOP
			BEGIN PERFORM pg_drop_replication_slot('%[1]s'); EXIT; EXCEPTION WHEN object_in_use THEN PERFORM pg_sleep(0.01); END;
		END LOOP; END $$`, r.shard.Slot)
}

// TestADisconnectIsNoLoss: an idle shard sends from before what is confirmed, which must not count as captured only up to there.
func TestADisconnectIsNoLoss(t *testing.T) {
	r := newRig(t, testenv.Postgres(t))
	r.own("a", "id bigint PRIMARY KEY", "DEFAULT")
	stop := r.start()
	r.exec("INSERT INTO a SELECT generate_series(1, 1000)")
	r.settle()
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	r.cfg.Heartbeat = time.Hour
	for range 5 {
		stop := r.start()
		for range 3 {
			time.Sleep(50 * time.Millisecond)
			r.exec(r.terminate())
		}
		r.exec("INSERT INTO a SELECT max(id) + 1 FROM a")
		r.settle()
		if err := stop(); err != nil {
			t.Fatal(err)
		}
	}
}

func (r *rig) terminate() string {
	return fmt.Sprintf("SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE slot_name = '%s' AND active", r.shard.Slot)
}

// TestAPairTakesTurns: the one that lost the slot to the other waits, and takes it back.
func TestAPairTakesTurns(t *testing.T) {
	r := newRig(t, testenv.Postgres(t))
	r.own("a", "id bigint PRIMARY KEY", "DEFAULT")
	first, second := r.open(), r.open()
	one, two := make(chan error, 1), make(chan error, 1)
	ctx, end := context.WithCancel(t.Context())
	ctx2, end2 := context.WithCancel(t.Context())
	go func() { one <- first.Run(ctx) }()
	r.eventually("the first to read", func() error { return first.Ready(ctx) })
	r.exec("INSERT INTO a VALUES (1)")
	r.settle()
	go func() { two <- second.Run(ctx2) }()
	r.eventually("the second to take over", func() error {
		err := second.Ready(ctx2)
		if err != nil {
			r.exec(r.terminate())
			time.Sleep(40 * time.Millisecond)
		}
		return err
	})
	r.exec("INSERT INTO a SELECT generate_series(2, 1000)")
	r.settle()
	r.eventually("the first to wait", func() error {
		if err := first.Ready(ctx); !errors.Is(err, wal.ErrSlotActive) {
			return fmt.Errorf("ready says %v", err)
		}
		return nil
	})
	end2()
	r.eventually("the first to read again", func() error { return first.Ready(ctx) })
	end()
	if err := errors.Join(<-one, <-two); err != nil {
		t.Error(err)
	}
}

func (r *rig) dropSlot() {
	r.t.Helper()
	r.eventually("dropping the slot", func() error {
		_, err := r.db.Exec(context.Background(), "SELECT pg_drop_replication_slot($1)", r.shard.Slot)
		return err
	})
}

// TestNoticesASlotThatWasMadeAnewBehindItsBack while another shard goes on.
func TestNoticesASlotThatWasMadeAnewBehindItsBack(t *testing.T) {
	shards := testenv.Shards(t)
	r := newRig(t, shards[0])
	r.own("a", "id bigint PRIMARY KEY", "DEFAULT")
	r.cfg.Shards = append(r.cfg.Shards, capture.Source{Name: shards[1].Name, DSN: shards[1].CaptureDSN})
	c := r.open()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	r.eventually("ready", func() error { return c.Ready(ctx) })
	r.exec("INSERT INTO a VALUES (1)")
	r.settle()
	r.exec(r.dropRead(), "INSERT INTO a VALUES (2)", fmt.Sprintf("SELECT pg_create_logical_replication_slot('%s', 'pgoutput')", r.shard.Slot))
	r.eventually("the loss to be noticed", func() error {
		if err := c.Ready(ctx); !errors.Is(err, wal.ErrSlotLost) || !strings.Contains(err.Error(), shards[0].Name) {
			return fmt.Errorf("ready says %v", err)
		}
		return nil
	})
	beats := len(r.messages("__debezium-heartbeat." + shards[1].Name))
	r.eventually("the other shard to go on", func() error {
		if n := len(r.messages("__debezium-heartbeat." + shards[1].Name)); n <= beats {
			return fmt.Errorf("%d heartbeats", n)
		}
		return nil
	})
	cancel()
	if err := <-done; !errors.Is(err, wal.ErrSlotLost) {
		t.Fatalf("run ended with %v", err)
	}
}

// TestWaitsForASlotThatIsReadElsewhere and takes over.
func TestWaitsForASlotThatIsReadElsewhere(t *testing.T) {
	r := newRig(t, testenv.Postgres(t))
	stop := r.start()
	second := r.open()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- second.Run(ctx) }()
	r.eventually("the second to wait", func() error {
		if err := second.Ready(ctx); !errors.Is(err, wal.ErrSlotActive) {
			return fmt.Errorf("ready says %v", err)
		}
		return nil
	})
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	r.eventually("the second to take over", func() error { return second.Ready(ctx) })
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// TestSurvivesACrashOfTheShard: what was committed arrives after the restart.
func TestSurvivesACrashOfTheShard(t *testing.T) {
	p := testenv.PrivatePostgres(t)
	r := newRig(t, testenv.As(t, p))
	r.own("a", "id bigint PRIMARY KEY, n int", "DEFAULT")
	r.start()
	r.exec("INSERT INTO a SELECT g, 0 FROM generate_series(1, 100) g")
	r.settle()
	r.exec("INSERT INTO a SELECT g, 0 FROM generate_series(101, 5000) g")
	p.Crash()
	if err := p.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.db = connect(t, r.shard.DSN)
	r.exec("UPDATE a SET n = 1 WHERE id > 4000")
	r.settle()
	r.compare(5000)
}

// TestKafkaOutageHoldsTheShardBack: while Kafka refuses, the slot never passes what Kafka has, the shard is not read on into memory, and
// afterwards all arrives.
func TestKafkaOutageHoldsTheShardBack(t *testing.T) {
	r := newRig(t, testenv.Postgres(t))
	cluster, client := flaky(t)
	r.client, r.cfg.QueueBytes, r.cfg.Heartbeat = client, 256<<10, time.Hour
	r.own("a", "id bigint PRIMARY KEY, n int, note text", "DEFAULT")
	r.start()
	r.settle()
	var sends atomic.Int64 // that are still let through; below 0: as many as come
	cluster.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		if n := sends.Load(); n < 0 || n > 0 && sends.CompareAndSwap(n, n-1) {
			return nil, nil, false
		}
		return nil, errors.New("away"), true
	})
	r.exec("INSERT INTO a VALUES (-1)") // is in work when the next one is read
	time.Sleep(200 * time.Millisecond)
	second, _ := r.commit("INSERT INTO a VALUES (-2)")
	time.Sleep(200 * time.Millisecond)
	sends.Store(1)
	r.eventually("the first row", func() error {
		if n := len(r.messages("shard0.public.a")); n != 1 {
			return fmt.Errorf("%d messages", n)
		}
		return nil
	})
	const rows = 20000
	_, end := r.commit(fmt.Sprintf("INSERT INTO a SELECT g, 0, repeat(md5(g::text), 32) FROM generate_series(1, %d) g", rows))
	for range 20 {
		time.Sleep(50 * time.Millisecond)
		var confirmed string
		var lost, read bool
		r.one(fmt.Sprintf(`SELECT s.confirmed_flush_lsn::text, s.confirmed_flush_lsn > '%s', r.sent_lsn >= '%s'
			FROM pg_replication_slots s JOIN pg_stat_replication r ON r.pid = s.active_pid WHERE slot_name = '%s'`, second, end, r.shard.Slot), &confirmed, &lost, &read)
		if lost {
			t.Fatalf("the slot confirms %s while Kafka lacks the transaction that was committed behind %s", confirmed, second)
		}
		if read {
			t.Fatalf("the shard has sent everything up to %s while Kafka takes nothing: 20 MB are in memory, with a queue of 256 KiB", end)
		}
	}
	if n := len(r.messages("shard0.public.a")); n != 1 {
		t.Fatalf("%d messages while Kafka was away", n)
	}
	sends.Store(-1)
	r.exec("UPDATE a SET n = 0 WHERE id < 0")
	r.settle()
	r.compare(rows + 2)
}

// commit runs a statement in a transaction, and returns the WAL's end before and after its commit.
func (r *rig) commit(sql string) (before, after string) {
	r.t.Helper()
	r.exec("BEGIN", sql)
	r.one("SELECT pg_current_wal_insert_lsn()::text", &before)
	r.exec("COMMIT")
	r.one("SELECT pg_current_wal_insert_lsn()::text", &after)
	return before, after
}

// flaky is a broker that a test may control.
func flaky(t *testing.T) (*kfake.Cluster, *kafka.Client) {
	t.Helper()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	client, err := kafka.Open(kafka.Config{Brokers: cluster.ListenAddrs(), FetchWait: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return cluster, client
}

func (r *rig) one(sql string, to ...any) {
	r.t.Helper()
	if err := r.db.QueryRow(context.Background(), sql).Scan(to...); err != nil {
		r.t.Fatal(err)
	}
}

func TestSaysWhatIsMissingOnTheShard(t *testing.T) {
	f := func(says string, prepare ...string) {
		t.Helper()
		r := newRig(t, testenv.EmptyPostgres(t))
		r.cfg.Shards[0].DSN = r.shard.DSN
		r.exec(prepare...)
		if err := r.open().Run(within(t)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want %q", err, says)
		}
	}
	f("no publication prejoin")
	f("run the migrations", "CREATE TABLE a (id int PRIMARY KEY)", "CREATE PUBLICATION prejoin FOR TABLE a")
	r := newRig(t, testenv.Postgres(t))
	r.cfg.Shards[0].DSN = r.shard.ProjectorDSN
	if err := r.open().Run(within(t)); err == nil || !strings.Contains(err.Error(), "GRANT") {
		t.Errorf("a role without rights: %v", err)
	}
	r.cfg.Shards[0].DSN = strings.Replace(r.shard.CaptureDSN, "prejoin_capture:", "prejoin_capture:x", 1)
	err := r.open().Run(within(t))
	if err == nil || !strings.Contains(err.Error(), "check the user and password") || strings.Contains(err.Error(), "prejoin_capture:x") {
		t.Errorf("a wrong password: %v", err)
	}
}

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}
