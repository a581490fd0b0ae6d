package devstack_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"
	"go.uber.org/goleak"

	"prejoin/pkg/devstack"
)

func TestMain(m *testing.M) {
	if os.Getenv(holderEnv) != "" {
		hold()
	}
	goleak.VerifyTestMain(m)
}

func start(t *testing.T, c devstack.Config) *devstack.Stack {
	t.Helper()
	c.Say = func(line string) { t.Log(line) }
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	s, err := devstack.Start(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, s) })
	return s
}

func stop(t *testing.T, s *devstack.Stack) {
	t.Helper()
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(s.Folder.Path); !os.IsNotExist(err) {
		t.Errorf("the folder %s is still there: %v", s.Folder.Path, err)
	}
}

// A shard that crashed comes back at its address with all that was committed,
// without what an unlogged table held, and can capture changes.
func TestPostgresCrashAndRestart(t *testing.T) {
	s := start(t, devstack.Config{Shards: 1})
	p, ctx := s.Shards[0], t.Context()
	must(t, p.Exec(ctx, p.Name, "CREATE TABLE kept(n int)", "INSERT INTO kept VALUES (7)",
		"CREATE UNLOGGED TABLE lost(n int)", "INSERT INTO lost VALUES (7)"))
	p.Crash()
	must(t, p.Restart(ctx))
	if n := count(t, p, "SELECT count(*) FROM kept"); n != 1 {
		t.Errorf("a committed row was lost in a crash: %d rows", n)
	}
	if n := count(t, p, "SELECT count(*) FROM lost"); n != 0 {
		t.Errorf("an unlogged table survived: that was no crash")
	}
	if n := count(t, p, "SELECT count(*) FROM pg_create_logical_replication_slot('s', 'pgoutput')"); n != 1 {
		t.Error("no logical slot")
	}
	must(t, p.Stop(ctx))
	must(t, p.Restart(ctx))
	if n := count(t, p, "SELECT count(*) FROM kept"); n != 1 {
		t.Errorf("%d rows after a clean restart", n)
	}
}

func count(t *testing.T, p *devstack.Postgres, sql string) (n int) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), p.DSN(p.Name))
	must(t, err)
	defer conn.Close(context.Background())
	must(t, conn.QueryRow(t.Context(), sql).Scan(&n))
	return n
}

// A write that a majority acknowledged survives kill -9 of mongod.
func TestMongoKillAndRestart(t *testing.T) {
	s := start(t, devstack.Config{Mongo: true})
	ctx := t.Context()
	c, err := mongo.Connect(ctx, options.Client().ApplyURI(s.Mongo.URI()+"&w=majority"))
	must(t, err)
	defer c.Disconnect(context.Background())
	things := c.Database("d").Collection("things")
	_, err = things.InsertOne(ctx, bson.M{"_id": 1})
	must(t, err)
	s.Mongo.Kill()
	if err := s.Mongo.Restart(ctx); err != nil {
		t.Fatal(err)
	}
	n, err := things.CountDocuments(ctx, bson.M{})
	must(t, err)
	if n != 1 {
		t.Errorf("%d documents after a crash, want 1", n)
	}
	must(t, s.Mongo.Stop(ctx))
	must(t, s.Mongo.Restart(ctx))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
