package main

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"

	"prejoin/pkg/sample"
	"prejoin/pkg/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// world is the sample on real servers: two seeded shards and a MongoDB.
type world struct {
	t       *testing.T
	shards  []testenv.Shard
	uri, db string
	brokers []string
	mongo   *mongo.Database
}

func newWorld(t *testing.T, settlements int) *world {
	t.Helper()
	w := &world{t: t, shards: testenv.Shards(t), brokers: testenv.Kafka(t)}
	w.uri, w.db = testenv.MongoDB(t)
	client, err := mongo.Connect(t.Context(), options.Client().ApplyURI(w.uri))
	w.must(err)
	t.Cleanup(func() { _ = client.Disconnect(context.Background()) })
	w.mongo = client.Database(w.db)
	if settlements > 0 {
		_, err := sample.Seed(t.Context(), sample.SeedConfig{Shards: []string{w.shards[0].DSN, w.shards[1].DSN}, Settlements: settlements, Seed: 1})
		w.must(err)
	}
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// args are a subcommand with the flags that reach the world's servers.
func (w *world) args(command ...string) []string {
	args := append(command, "--mongodb-uri="+w.uri, "--mongodb-db="+w.db, "--brokers="+w.brokers[0], "--model="+filepath.Join("..", "..", "readmodels"))
	for _, s := range w.shards {
		args = append(args, "--shard="+s.Name+"="+s.ProjectorDSN)
	}
	return args
}

// projector runs a subcommand to its end and returns its status and output.
func (w *world) projector(command ...string) (int, string) {
	w.t.Helper()
	var out bytes.Buffer
	status := run(w.t.Context(), w.args(command...), &out, &out)
	return status, out.String()
}

func (w *world) expect(want int, command ...string) string {
	w.t.Helper()
	status, out := w.projector(command...)
	if status != want {
		w.t.Fatalf("projector %v: status %d, want %d\n%s", command, status, want, out)
	}
	return out
}

// exec runs SQL on a shard as its owner.
func (w *world) exec(shard int, sql string) {
	w.t.Helper()
	conn, err := pgx.Connect(w.t.Context(), w.shards[shard].DSN)
	w.must(err)
	defer conn.Close(context.Background())
	_, err = conn.Exec(w.t.Context(), sql)
	w.must(err)
}

// one asks a shard for one number.
func (w *world) one(shard int, sql string) (n int64) {
	w.t.Helper()
	conn, err := pgx.Connect(w.t.Context(), w.shards[shard].DSN)
	w.must(err)
	defer conn.Close(context.Background())
	w.must(conn.QueryRow(w.t.Context(), sql).Scan(&n))
	return n
}

// TestBackfillAndVerify: verify finds each kind of difference, a backfill mends
// what a re-read can mend, and it may be run again.
func TestBackfillAndVerify(t *testing.T) {
	w := newWorld(t, 2000)
	if out := w.expect(1, "verify"); out == "" {
		t.Error("verify before the first backfill said nothing")
	}
	if served := w.served("settlement"); served != "" {
		t.Errorf("served %q before a backfill", served)
	}
	w.expect(0, "backfill")
	if served := w.served("settlement"); served != "settlement_v1" {
		t.Errorf("served %q after a backfill", served)
	}
	w.expect(0, "verify")
	w.expect(0, "backfill")
	w.expect(0, "verify")

	id := w.one(0, "SELECT min(id) FROM settlement")
	coll := w.mongo.Collection("settlement_v1")
	f := func(what string, change func() error, want string) {
		t.Helper()
		w.must(change())
		if out := w.expect(1, "verify", "--json", "--settle=100ms"); !bytes.Contains([]byte(out), []byte(want)) {
			t.Errorf("%s: want %s in %s", what, want, out)
		}
	}
	byID := bson.D{{Key: "_id", Value: id}}
	amount := bson.D{{Key: "$set", Value: bson.D{{Key: "amount", Value: "1"}}}}
	f("a changed field", func() error { _, err := coll.UpdateOne(t.Context(), byID, amount); return err }, `"fields":["amount"]`)
	f("a deleted document", func() error { _, err := coll.DeleteOne(t.Context(), byID); return err }, `"missing":1`)
	w.expect(0, "backfill")
	w.expect(0, "verify")
	extra := bson.D{{Key: "_id", Value: int64(1)<<62 + 5}, {Key: "_p", Value: bson.D{{Key: "s", Value: "shard0"}, {Key: "v", Value: bson.D{{Key: "e", Value: int64(1)}, {Key: "r", Value: int64(1)}}}}}}
	f("a document without a row", func() error { _, err := coll.InsertOne(t.Context(), extra); return err }, `"extra":1`)
	w.expect(0, "backfill")
	w.expect(0, "verify")
	stray := bson.D{{Key: "_id", Value: int64(1)<<62 + 6}, {Key: "_p", Value: bson.D{{Key: "s", Value: "shard9"}}}}
	f("a document of an unknown shard", func() error { _, err := coll.InsertOne(t.Context(), stray); return err }, `"strays":1`)
}

// served is the collection that queryd would read.
func (w *world) served(model string) string {
	w.t.Helper()
	var r struct{ Served string }
	err := w.mongo.Collection("_prejoin.models").FindOne(w.t.Context(), bson.D{{Key: "_id", Value: model}}).Decode(&r)
	if err != nil && !errors.Is(err, mongo.ErrNoDocuments) {
		w.t.Fatal(err)
	}
	return r.Served
}

// TestACutBackfillServesNothing: queryd must not call a half the whole.
func TestACutBackfillServesNothing(t *testing.T) {
	w := newWorld(t, 5000)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
			if n, err := w.mongo.Collection("settlement_v1").EstimatedDocumentCount(ctx); err == nil && n > 0 {
				return
			}
		}
	}()
	var out bytes.Buffer
	if status := run(ctx, w.args("backfill"), &out, &out); status == 0 {
		t.Skip("the backfill was faster than its end")
	}
	if served := w.served("settlement"); served != "" {
		t.Errorf("served %q after a cut backfill", served)
	}
	w.expect(0, "backfill")
	w.expect(0, "verify")
}

// TestNewIncarnation: a lost incarnation row stops every command until an
// operator accepts it; then the epoch is one higher.
func TestNewIncarnation(t *testing.T) {
	w := newWorld(t, 200)
	w.expect(0, "backfill")
	w.exec(0, "TRUNCATE prejoin.incarnation") // what a crash does to an unlogged table
	for _, command := range []string{"backfill", "verify", "run"} {
		if out := w.expect(1, command); !bytes.Contains([]byte(out), []byte("--accept-incarnation")) {
			t.Errorf("%s does not say what to do: %s", command, out)
		}
	}
	w.expect(0, "backfill", "--accept-incarnation")
	w.expect(0, "verify")
	n, err := w.mongo.Collection("settlement_v1").CountDocuments(t.Context(), bson.D{{Key: "_p.s", Value: "shard0"}, {Key: "_p.v.e", Value: bson.D{{Key: "$ne", Value: 2}}}})
	if err != nil || n != 0 {
		t.Errorf("%d documents of shard0 are not of epoch 2 (%v)", n, err)
	}

	// An epoch that was raised by a walk that did not end is still owed its walk.
	_, err = w.mongo.Collection("_prejoin.shards").UpdateOne(t.Context(), bson.D{{Key: "_id", Value: "shard0"}}, bson.D{{Key: "$set", Value: bson.D{{Key: "walked", Value: 1}}}})
	w.must(err)
	if out := w.expect(1, "run"); !bytes.Contains([]byte(out), []byte("let projector backfill run to its end")) {
		t.Errorf("run does not say what is owed: %s", out)
	}
	w.expect(0, "backfill")
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(3*time.Second, cancel)
	var out bytes.Buffer
	if status := run(ctx, w.args("run", "--admin-addr=127.0.0.1:0"), &out, &out); status != 0 {
		t.Errorf("run after the walk: status %d: %s", status, out.String())
	}
}

// within waits until f holds.
func within(t *testing.T, limit time.Duration, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !f(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %s: %s", limit, what)
		}
	}
}

// TestBadSettings: each mistake is one sentence, and no command hangs.
func TestBadSettings(t *testing.T) {
	f := func(want string, args ...string) {
		t.Helper()
		var out bytes.Buffer
		start := time.Now()
		if status := run(t.Context(), args, &out, &out); status == 0 {
			t.Errorf("%v: status 0", args)
		}
		if !bytes.Contains(out.Bytes(), []byte(want)) || bytes.Contains(out.Bytes(), []byte("goroutine")) || bytes.Contains(out.Bytes(), []byte("hunter2")) {
			t.Errorf("%v: want %q in\n%s", args, want, out.String())
		}
		if d := time.Since(start); d > 15*time.Second {
			t.Errorf("%v took %s", args, d)
		}
	}
	models := "--model=" + filepath.Join("..", "..", "readmodels")
	uri, db := testenv.MongoDB(t)
	here := []string{models, "--mongodb-uri=" + uri, "--mongodb-db=" + db}
	f("unexpected argument", "nonsense")
	f("no MongoDB is configured", "verify", models, "--mongodb-uri=")
	f("check that mongod runs", "verify", models, "--mongodb-uri=mongodb://u:hunter2@127.0.0.1:1/?replicaSet=rs")
	f("NAME=DSN", append([]string{"verify", "--shard=x"}, here...)...)
	f("is PostgreSQL running there", append([]string{"verify", "--shard=s=postgres://u:hunter2@127.0.0.1:1/x"}, here...)...)
	f("cannot be parsed", append([]string{"verify", "--shard=s=postgres://u:hunter2@127.0.0.1:x/x"}, here...)...)
	f("cannot be parsed", append([]string{"verify", "--shard=s=postgres:hunter2@127.0.0.1:1/x?sslmode=disable"}, here...)...)
	f("--batch is 1 to 10000", "run", "--batch=0")
	f("--linger is 0 to 1m", "run", "--linger=-1s")
	f("--workers is 1 to 64", "backfill", "--workers=-1")
	f("no such file", "verify", "--model=/nonexistent.yaml", "--mongodb-uri="+uri)
}
