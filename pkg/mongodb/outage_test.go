package mongodb_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"

	"prejoin/pkg/mongodb"
	"prejoin/pkg/retry"
	"prejoin/pkg/testenv"
)

// mongod is killed while bulks run: each answer is either complete or
// temporary, and writing again until it succeeds loses nothing.
func TestKilledServerIsTemporaryAndLosesNothing(t *testing.T) {
	t.Parallel() // it mostly waits
	server := testenv.PrivateMongo(t)
	db := openAt(t, server.URI(), "outage")
	c := clock(t, db)
	var done atomic.Int64
	failed := make(chan error, 100)
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		for rank := int64(1); rank <= 60; rank++ {
			v := version(1, rank)
			var writes []mongodb.Write
			for i := range 200 {
				writes = append(writes, row(t, int64(i), shard, v, text(2000)))
			}
			policy := retry.Policy{Notify: func(err error, _ int, _ time.Duration) { failed <- err }}
			err := retry.Do(t.Context(), policy, mongodb.Temporary, func(ctx context.Context) error {
				_, err := db.Apply(ctx, bulk(c, shard, v, writes...))
				return err
			})
			if err != nil {
				t.Errorf("rank %d: %v", rank, err)
				return
			}
			done.Store(rank)
		}
	}()
	for done.Load() < 10 {
		time.Sleep(time.Millisecond)
	}
	server.Kill()
	// The driver itself tries again while it looks for a primary, for 5 s: a
	// short outage is never seen here.
	first := <-failed
	t.Logf("temporary: %.300v", first)
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-finished
	for i := range 200 {
		if got := rankOf(stored(t, db, int64(i))); got != version(1, 60) {
			t.Fatalf("id %d: %+v", i, got)
		}
	}
}

func TestKilledServerEndsAReadVisibly(t *testing.T) {
	t.Parallel() // it mostly waits
	server := testenv.PrivateMongo(t)
	db := openAt(t, server.URI(), "outage")
	fill(t, db, 3000)
	cursor, err := db.Find(t.Context(), mongodb.Find{Collection: collection, BatchSize: 100})
	if err != nil {
		t.Fatal(err)
	}
	defer cursor.Close()
	if _, err := cursor.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	server.Kill()
	if _, err := cursor.Next(t.Context()); !mongodb.Temporary(err) {
		t.Errorf("Next: %v, want a temporary error", err)
	}
	start := time.Now()
	if _, err := db.SampleClock(t.Context()); !mongodb.Temporary(err) {
		t.Errorf("SampleClock: %v, want a temporary error", err)
	}
	if err := db.Ping(t.Context()); !mongodb.Temporary(err) || time.Since(start) > 12*time.Second {
		t.Errorf("Ping: %v after %v", err, time.Since(start))
	}
}

// What the caller gives up on must never look like an outage to wait for.
func TestCallersEndIsNotTemporary(t *testing.T) {
	db := open(t)
	c := clock(t, db)
	ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	<-ctx.Done()
	v := version(1, 5)
	if _, err := db.Apply(ctx, bulk(c, shard, v, row(t, int64(1), shard, v))); !errors.Is(err, context.DeadlineExceeded) || mongodb.Temporary(err) {
		t.Errorf("Apply: %v", err)
	}
}

// A bulk that the server cannot begin ends by its own maxTimeMS, which is what
// makes the deadline of a write real: it is temporary, and takes no effect later.
func TestBulkEndsOnTheServerToo(t *testing.T) {
	t.Parallel() // it mostly waits
	server := testenv.PrivateMongo(t)
	db := openAt(t, server.URI(), "outage")
	db.LimitBulks(2 * time.Second)
	c, v := clock(t, db), version(1, 5)
	apply(t, db, c, shard, v, row(t, int64(1), shard, v))
	admin := db.Raw().Client().Database("admin")
	command := func(name string) {
		t.Helper()
		if err := admin.RunCommand(t.Context(), bson.D{{Key: name, Value: 1}}).Err(); err != nil {
			t.Fatal(err)
		}
	}
	if err := admin.RunCommand(t.Context(), bson.D{{Key: "fsync", Value: 1}, {Key: "lock", Value: true}}).Err(); err != nil {
		t.Fatal(err)
	}
	v6 := version(1, 6)
	outcomes, err := db.Apply(t.Context(), bulk(c, shard, v6, row(t, int64(1), shard, v6)))
	if !mongodb.Temporary(err) || outcomes != nil {
		t.Errorf("%v, %v; want a temporary error", outcomes, err)
	}
	t.Logf("%v", err)
	time.Sleep(200 * time.Millisecond)
	command("fsyncUnlock")
	time.Sleep(500 * time.Millisecond)
	if got := rankOf(stored(t, db, int64(1))); got != v {
		t.Errorf("the bulk took effect after it had ended: %+v", got)
	}
}

// The driver has no option for it: a client without a timeout and a context
// with one make it send maxTimeMS, 30 s less the round trip.
func TestBulksCarryMaxTimeAndMajority(t *testing.T) {
	uri, database := testenv.MongoDB(t)
	var sent []bson.Raw
	cfg := mongodb.Config{URI: uri, Database: database}.Trace("update", func(c bson.Raw) { sent = append(sent, c) })
	db := openWith(t, cfg)
	v := version(1, 5)
	apply(t, db, clock(t, db), shard, v, row(t, int64(1), shard, v))
	if len(sent) != 1 {
		t.Fatalf("%d commands for one write", len(sent))
	}
	limit, _ := sent[0].Lookup("maxTimeMS").AsInt64OK()
	if limit < 29_000 || limit > 30_000 || sent[0].Lookup("writeConcern", "w").StringValue() != "majority" || sent[0].Lookup("ordered").Boolean() {
		t.Errorf("sent maxTimeMS %d, %v, ordered %v", limit, sent[0].Lookup("writeConcern"), sent[0].Lookup("ordered"))
	}
}

// A reader that is slower than the server's history sees it, typed.
func TestSnapshotThatIsTooOldSaysSo(t *testing.T) {
	t.Parallel()
	server := testenv.PrivateMongo(t)
	db := openAt(t, server.URI(), "outage")
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	fill(t, db, 3000)
	err := db.Raw().Client().Database("admin").RunCommand(t.Context(), bson.D{{Key: "setParameter", Value: 1}, {Key: "minSnapshotHistoryWindowInSeconds", Value: 0}}).Err()
	if err != nil {
		t.Fatal(err)
	}
	s, err := db.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.End()
	cursor, err := s.Find(t.Context(), mongodb.Find{Collection: collection, BatchSize: 10})
	if err != nil {
		t.Fatal(err)
	}
	defer cursor.Close()
	c := clock(t, db)
	for rank := int64(10); ; rank++ {
		v := version(1, rank)
		apply(t, db, c, shard, v, row(t, int64(1), shard, v))
		if _, err = cursor.Next(t.Context()); err != nil {
			break
		}
	}
	if !errors.Is(err, mongodb.ErrSnapshotTooOld) || mongodb.Temporary(err) {
		t.Errorf("%v, want ErrSnapshotTooOld", err)
	}
}

func TestWhichErrorsTimeCures(t *testing.T) {
	server := func(code int32, labels ...string) error {
		return fmt.Errorf("writing: %w", mongo.CommandError{Code: code, Labels: labels})
	}
	one := func(code int) error {
		return mongo.BulkWriteException{WriteErrors: []mongo.BulkWriteError{{WriteError: mongo.WriteError{Code: code}}}}
	}
	for _, c := range []struct {
		name string
		err  error
		want bool
	}{
		{"maxTimeMS", server(50), true}, {"not primary", server(10107), true}, {"stepped down", server(189), true},
		{"shutting down", server(91), true}, {"a retryable label", server(1, "RetryableWriteError"), true},
		{"network", mongo.CommandError{Labels: []string{"NetworkError"}}, true}, {"no answer", errors.New("connection reset"), true},
		{"write concern", mongo.BulkWriteException{WriteConcernError: &mongo.WriteConcernError{Code: 64}}, true},
		{"our own deadline", context.DeadlineExceeded, true},
		{"too large", one(10334), false}, {"validation", one(121), false}, {"unauthorized", server(13), false},
		{"bad value", server(2), false}, {"no such index", server(27), false}, {"closed by us", mongo.ErrClientDisconnected, false},
	} {
		if got := mongodb.IsTemporary(c.err); got != c.want {
			t.Errorf("%s (%v): temporary %v, want %v", c.name, c.err, got, c.want)
		}
	}
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	t.Parallel() // it mostly waits
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := listener.Addr().String()
	listener.Close()
	uri, _ := testenv.MongoDB(t)
	host := strings.TrimPrefix(strings.Split(uri, "/?")[0], "mongodb://")
	for _, c := range []struct{ name, uri, want string }{
		{"no server", fmt.Sprintf("mongodb://u:s3cret@%s/?replicaSet=rs0", closed), "check that mongod runs there"},
		{"another set", fmt.Sprintf("mongodb://%s/?replicaSet=another", host), "replicaSet name"},
		{"bad login", fmt.Sprintf("mongodb://u:s3cret@%s/?replicaSet=prejoin", host), "authSource"},
		{"no scheme", "u:s3cret@localhost", "mongodb://"},
		{"bad option", "mongodb://u:s3cret@h/?replicaSet=a&maxPoolSize=x", "maxPoolSize"},
		{"nothing", "", "MONGODB_URI"},
	} {
		start := time.Now()
		_, err := mongodb.Open(t.Context(), mongodb.Config{URI: c.uri})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v\nwant %q", c.name, err, c.want)
			continue
		}
		t.Logf("%s: %v", c.name, err)
		if took := time.Since(start); took > 6*time.Second {
			t.Errorf("%s took %v", c.name, took)
		}
	}
}
