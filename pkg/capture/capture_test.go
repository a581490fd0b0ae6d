package capture_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"prejoin/pkg/capture"
	"prejoin/pkg/cdc"
	"prejoin/pkg/kafka"
	"prejoin/pkg/readmodel"
	"prejoin/pkg/route"
	"prejoin/pkg/testenv"
)

func TestMain(m *testing.M) {
	if os.Getenv("CAPTURE_CHILD") != "" {
		os.Exit(child())
	}
	testenv.Main(m)
}

// rig is one shard, one broker, and a capture between them.
type rig struct {
	t      *testing.T
	shard  testenv.Shard
	client *kafka.Client
	db     *pgx.Conn
	cfg    capture.Config
}

func newRig(t *testing.T, shard testenv.Shard) *rig {
	t.Helper()
	client, err := kafka.Open(kafka.Config{Brokers: testenv.Kafka(t), FetchWait: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	r := &rig{t: t, shard: shard, client: client, db: connect(t, shard.DSN)}
	r.cfg = capture.Config{Shards: []capture.Source{{Name: shard.Name, DSN: shard.CaptureDSN}}, Slot: shard.Slot, Partitions: 1, Heartbeat: 100 * time.Millisecond}
	return r
}

func connect(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	db, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close(context.Background()) })
	return db
}

type broker struct {
	*kafka.Client
	*kafka.Producer
}

// start runs a capture until the returned function, and waits until it is ready.
func (r *rig) start() (stop func() error) {
	r.t.Helper()
	c, err := capture.New(r.t.Context(), r.cfg, broker{r.client, r.client.NewProducer(kafka.ProducerConfig{})})
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	r.eventually("ready", func() error { return c.Ready(ctx) })
	stop = sync.OnceValue(func() error {
		cancel()
		select {
		case err := <-done:
			return err
		case <-time.After(20 * time.Second):
			return errors.New("the capture did not stop")
		}
	})
	r.t.Cleanup(func() {
		if err := stop(); err != nil {
			r.t.Error(err)
		}
	})
	return stop
}

func (r *rig) eventually(what string, f func() error) {
	r.t.Helper()
	var err error
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if err = f(); err == nil {
			return
		}
	}
	r.t.Fatalf("waiting for %s: %v", what, err)
}

func (r *rig) exec(statements ...string) {
	r.t.Helper()
	for _, sql := range statements {
		if _, err := r.db.Exec(context.Background(), sql); err != nil {
			r.t.Fatalf("%s: %v", sql, err)
		}
	}
}

// settle waits until the slot has confirmed everything that is in the WAL now.
func (r *rig) settle() {
	r.t.Helper()
	var now string
	if err := r.db.QueryRow(context.Background(), "SELECT pg_current_wal_insert_lsn()::text").Scan(&now); err != nil {
		r.t.Fatal(err)
	}
	r.eventually("the slot to confirm "+now, func() error {
		var confirmed string
		var passed bool
		err := r.db.QueryRow(context.Background(), "SELECT confirmed_flush_lsn::text, confirmed_flush_lsn >= $2::pg_lsn FROM pg_replication_slots WHERE slot_name = $1",
			r.shard.Slot, now).Scan(&confirmed, &passed)
		if err == nil && !passed {
			err = fmt.Errorf("it stands at %s", confirmed)
		}
		return err
	})
}

// messages reads a topic from its beginning.
func (r *rig) messages(topic string) (all []kafka.Message) {
	r.t.Helper()
	ends, err := r.client.EndOffsets(context.Background(), []string{topic})
	if err != nil {
		r.t.Fatal(err)
	}
	for tp, end := range ends {
		for next := int64(0); next < end; {
			b, err := r.client.Fetch(context.Background(), tp, next)
			if err != nil {
				r.t.Fatal(err)
			}
			all, next = append(all, b.Messages...), b.Next
		}
	}
	return all
}

// story is what happened to a table, a line a message.
func (r *rig) story(table string, columns ...string) (lines []string) {
	r.t.Helper()
	for _, m := range r.messages(r.shard.Name + "." + table) {
		c, err := cdc.Decode(cdc.Message{Topic: m.Topic, Key: m.Key, Value: m.Value}, func(string, string) []string { return columns })
		if err != nil {
			r.t.Fatalf("decoding %s: %v", m.Value, err)
		}
		if c.Kind == cdc.Tombstone {
			lines = append(lines, fmt.Sprintf("%s tombstone", m.Key))
			continue
		}
		if c.Connector != r.shard.Name || c.Schema+"."+c.Table != table || !c.HasTxID || c.LSN == 0 || time.Since(c.Committed) > time.Hour || c.Snapshot {
			r.t.Errorf("source of %s", m.Value)
		}
		lines = append(lines, fmt.Sprintf("%s %c %s -> %s", m.Key, c.Op, image(c.Before, columns), image(c.After, columns)))
	}
	return lines
}

func image(row cdc.Columns, columns []string) string {
	if row == nil {
		return "none"
	}
	var parts []string
	for _, name := range columns {
		switch v, ok := row[name]; {
		case !ok:
			parts = append(parts, "unsent")
		case v.Null:
			parts = append(parts, "null")
		default:
			parts = append(parts, fmt.Sprintf("%.30s", v.Text))
		}
	}
	return strings.Join(parts, ",")
}

func (r *rig) want(table string, columns []string, want ...string) {
	r.t.Helper()
	r.settle()
	if got := r.story(table, columns...); !slices.Equal(got, want) {
		r.t.Errorf("%s:\n%s\nwant\n%s", table, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// own makes a table that the capture publishes.
func (r *rig) own(name, columns, identity string) {
	r.t.Helper()
	r.exec("CREATE TABLE "+name+" ("+columns+")", "ALTER TABLE "+name+" REPLICA IDENTITY "+identity,
		"ALTER PUBLICATION prejoin ADD TABLE "+name, "GRANT SELECT ON "+name+" TO prejoin_capture")
}

func TestTellsWhatHappensToRows(t *testing.T) {
	r := newRig(t, testenv.Postgres(t))
	r.own("a", "id bigint PRIMARY KEY, amount numeric(18,2), at timestamptz, ok boolean, note text", "DEFAULT")
	r.own("f", "id bigint PRIMARY KEY, amount numeric(18,2), at timestamptz, ok boolean, note text", "FULL")
	r.start()
	for _, table := range []string{"a", "f"} {
		r.exec("INSERT INTO "+table+` VALUES (9007199254740993, 1234567890123456.78, '2026-11-30 10:11:12.5+09', true, E'한글 "q" \\ \n')`,
			"INSERT INTO "+table+" (id) VALUES (2)", "UPDATE "+table+" SET amount = 'NaN', ok = false WHERE id = 2",
			"UPDATE "+table+" SET id = 3 WHERE id = 2", "DELETE FROM "+table+" WHERE id = 3", "TRUNCATE "+table, "INSERT INTO "+table+" (id) VALUES (4)")
	}
	columns := []string{"id", "amount", "at", "ok", "note"}
	big := "9007199254740993,1234567890123456.78,2026-11-30T01:11:12.500000Z,t,한글 \"q\" \\ \n"
	r.want("public.a", columns,
		`{"id":9007199254740993} c none -> `+big,
		`{"id":2} c none -> 2,null,null,null,null`,
		`{"id":2} u none -> 2,NaN,null,f,null`,
		`{"id":2} d 2,unsent,unsent,unsent,unsent -> none`, `{"id":2} tombstone`, `{"id":3} c none -> 3,NaN,null,f,null`,
		`{"id":3} d 3,unsent,unsent,unsent,unsent -> none`, `{"id":3} tombstone`,
		` t none -> none`,
		`{"id":4} c none -> 4,null,null,null,null`)
	r.want("public.f", columns,
		`{"id":9007199254740993} c none -> `+big,
		`{"id":2} c none -> 2,null,null,null,null`,
		`{"id":2} u 2,null,null,null,null -> 2,NaN,null,f,null`,
		`{"id":2} d 2,NaN,null,f,null -> none`, `{"id":2} tombstone`, `{"id":3} c none -> 3,NaN,null,f,null`,
		`{"id":3} d 3,NaN,null,f,null -> none`, `{"id":3} tombstone`,
		` t none -> none`,
		`{"id":4} c none -> 4,null,null,null,null`)
	newkey := r.messages(r.shard.Name + ".public.a")[3].Headers
	if len(newkey) != 1 || newkey[0].Key != "__debezium.newkey" || string(newkey[0].Value) != `{"id":3}` {
		t.Errorf("headers of the delete of a changed key: %+v", newkey)
	}
}

// TestNamesBothParents: a replica identity by an index tells the parent that a row leaves, and the key stays the primary key.
func TestNamesBothParents(t *testing.T) {
	r := newRig(t, testenv.EmptyPostgres(t))
	r.exec("CREATE SCHEMA prejoin", "CREATE TABLE prejoin.heartbeat (id int PRIMARY KEY, at timestamptz NOT NULL)", "CREATE PUBLICATION prejoin FOR TABLE prejoin.heartbeat")
	r.cfg.Shards[0].DSN = r.shard.DSN
	r.exec("CREATE TABLE line (id bigint PRIMARY KEY, parent bigint NOT NULL, kind text)", "CREATE UNIQUE INDEX line_identity ON line (parent, id)",
		"ALTER TABLE line REPLICA IDENTITY USING INDEX line_identity", "ALTER PUBLICATION prejoin ADD TABLE line")
	r.start()
	r.exec("INSERT INTO line VALUES (1, 10, 'a')", "UPDATE line SET kind = 'b'", "UPDATE line SET parent = 20", "DELETE FROM line")
	r.want("public.line", []string{"id", "parent", "kind"},
		`{"id":1} c none -> 1,10,a`, `{"id":1} u none -> 1,10,b`, `{"id":1} u 1,10,unsent -> 1,20,b`, `{"id":1} d 1,20,unsent -> none`, `{"id":1} tombstone`)
}

// TestAParentThatIsNotNamedIsNoNull: someone takes the parent out of the replica identity while the capture runs. A delete that said
// "parent": null would touch no document (law 3).
func TestAParentThatIsNotNamedIsNoNull(t *testing.T) {
	r := newRig(t, testenv.Postgres(t))
	r.own("line", "id bigint PRIMARY KEY, parent bigint", "FULL")
	r.own("other", "id bigint NOT NULL UNIQUE, parent bigint PRIMARY KEY", "USING INDEX other_id_key")
	r.start()
	r.exec("INSERT INTO line VALUES (1, 10), (2, NULL)", "DELETE FROM line WHERE id = 2", "ALTER TABLE line REPLICA IDENTITY DEFAULT", "DELETE FROM line",
		"INSERT INTO other VALUES (1, 10)", "UPDATE other SET id = 2", "DELETE FROM other")
	columns := []string{"id", "parent"}
	r.want("public.line", columns, `{"id":1} c none -> 1,10`, `{"id":2} c none -> 2,null`, `{"id":2} d 2,null -> none`, `{"id":2} tombstone`,
		`{"id":1} d 1,unsent -> none`, `{"id":1} tombstone`)
	r.want("public.other", columns, `{"parent":10} c none -> 1,10`, `{"parent":10} u 1,unsent -> 2,10`, `{"parent":null} d 2,unsent -> none`, `{"parent":null} tombstone`)

	router := route.New(&readmodel.Model{Routes: []readmodel.Route{{Table: "public.line", ID: "parent"}}})
	c, err := cdc.Decode(cdc.Message{Value: r.messages(r.shard.Name + ".public.line")[4].Value}, router.Wanted)
	if err != nil {
		t.Fatal(err)
	}
	var missing *route.MissingColumnError
	if touch, err := router.Route(&c); !errors.As(err, &missing) {
		t.Errorf("a delete without its parent touches %+v, %v; want a MissingColumnError", touch, err)
	}
}

func TestSaysWhatWasNotSent(t *testing.T) {
	r := newRig(t, testenv.Postgres(t))
	r.own("a", "id bigint PRIMARY KEY, n int, note text", "DEFAULT")
	r.own("f", "id bigint PRIMARY KEY, n int, note text", "FULL")
	r.exec("ALTER TABLE a ALTER note SET STORAGE EXTERNAL", "ALTER TABLE f ALTER note SET STORAGE EXTERNAL")
	r.start()
	for _, table := range []string{"a", "f"} {
		r.exec("INSERT INTO "+table+" VALUES (1, 1, repeat('x', 9000))", "UPDATE "+table+" SET n = 2", "UPDATE "+table+" SET id = 2")
	}
	x := strings.Repeat("x", 30)
	r.want("public.a", []string{"id", "n", "note"}, `{"id":1} c none -> 1,1,`+x, `{"id":1} u none -> 1,2,unsent`,
		`{"id":1} d 1,unsent,unsent -> none`, `{"id":1} tombstone`, `{"id":2} c none -> 2,2,unsent`)
	r.want("public.f", []string{"id", "n", "note"}, `{"id":1} c none -> 1,1,`+x, `{"id":1} u 1,1,`+x+` -> 1,2,`+x,
		`{"id":1} d 1,2,`+x+` -> none`, `{"id":1} tombstone`, `{"id":2} c none -> 2,2,`+x)
}

func TestTellsOnlyWhatIsCommitted(t *testing.T) {
	r := newRig(t, testenv.Postgres(t))
	r.own("a", "id bigint PRIMARY KEY", "DEFAULT")
	r.own("b", "id bigint PRIMARY KEY", "DEFAULT")
	r.start()
	r.exec("BEGIN; INSERT INTO a VALUES (1); ROLLBACK")
	r.exec("BEGIN; INSERT INTO a VALUES (2); SAVEPOINT s; INSERT INTO a VALUES (3); ROLLBACK TO s; INSERT INTO b VALUES (4); COMMIT")
	r.exec("BEGIN; TRUNCATE a, b; COMMIT")
	r.want("public.a", []string{"id"}, `{"id":2} c none -> 2`, ` t none -> none`)
	r.want("public.b", []string{"id"}, `{"id":4} c none -> 4`, ` t none -> none`)
	same := map[uint32]bool{}
	for _, table := range []string{"public.a", "public.b"} {
		m := r.messages(r.shard.Name + "." + table)[0]
		c, _ := cdc.Decode(cdc.Message{Value: m.Value}, func(string, string) []string { return nil })
		same[c.TxID] = true
	}
	if len(same) != 1 {
		t.Errorf("one transaction came with ids %v", same)
	}
}

func TestFollowsChangesOfSchema(t *testing.T) {
	r := newRig(t, testenv.Postgres(t))
	r.own("a", "id bigint PRIMARY KEY", "DEFAULT")
	r.start()
	r.exec("INSERT INTO a VALUES (1)", "ALTER TABLE a ADD COLUMN note text DEFAULT 'n'", "INSERT INTO a VALUES (2)", "ALTER TABLE a RENAME note TO memo", "INSERT INTO a VALUES (3)")
	r.own("later", "id bigint, v text, PRIMARY KEY (v, id)", "DEFAULT")
	r.exec("INSERT INTO later VALUES (1, 'v')")
	r.own("keyless", "id bigint", "FULL")
	r.exec("INSERT INTO keyless VALUES (1)", "DELETE FROM keyless")
	r.want("public.a", []string{"id", "note", "memo"}, `{"id":1} c none -> 1,unsent,unsent`, `{"id":2} c none -> 2,n,unsent`, `{"id":3} c none -> 3,unsent,n`)
	r.want("public.later", []string{"id"}, `{"v":"v","id":1} c none -> 1`)
	r.want("public.keyless", []string{"id"}, ` c none -> 1`, ` d 1 -> none`)
}

// TestLeavesLargeTextsOut: a row that no message can hold is still told.
func TestLeavesLargeTextsOut(t *testing.T) {
	r := newRig(t, testenv.Postgres(t))
	r.own("a", "id bigint PRIMARY KEY, n int, small text, large text", "FULL")
	r.start()
	r.exec("INSERT INTO a VALUES (1, 1, 's', repeat('x', 12000000))", "UPDATE a SET n = 2")
	r.want("public.a", []string{"id", "n", "small", "large"}, `{"id":1} c none -> 1,1,s,unsent`, `{"id":1} u 1,1,s,unsent -> 1,2,s,unsent`)
}

func TestAnIdleShardMovesOn(t *testing.T) {
	r := newRig(t, testenv.Postgres(t))
	r.start()
	r.exec("CREATE TABLE unpublished AS SELECT g FROM generate_series(1, 1000) g")
	r.settle()
	beats := r.messages("__debezium-heartbeat." + r.shard.Name)
	c, err := cdc.Decode(cdc.Message{Key: beats[0].Key, Value: beats[0].Value}, nil)
	if err != nil || c.Kind != cdc.Heartbeat || c.Connector != r.shard.Name || time.Since(c.Committed) > time.Minute {
		t.Fatalf("heartbeat %s: %+v, %v", beats[0].Value, c, err)
	}
}
