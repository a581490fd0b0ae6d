package testenv_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/segmentio/kafka-go"
	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"

	"prejoin/pkg/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

func query[T any](t *testing.T, dsn, sql string) (v T) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	must(t, err)
	defer conn.Close(context.Background())
	must(t, conn.QueryRow(t.Context(), sql).Scan(&v))
	return v
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Many tests at once each get an empty shard that they may fill with the same keys.
func TestFreshShards(t *testing.T) {
	for range 4 {
		t.Run("parallel", func(t *testing.T) {
			t.Parallel()
			for _, s := range testenv.Shards(t) {
				n := query[int](t, s.DSN, "WITH x AS (INSERT INTO partner VALUES (1, '가') RETURNING 1) SELECT count(*) FROM x")
				if n != 1 {
					t.Errorf("%d rows", n)
				}
			}
		})
	}
}

func TestShardsDiffer(t *testing.T) {
	s := testenv.Shards(t)
	const id = "SELECT system_identifier::text FROM pg_control_system()"
	if query[string](t, s[0].DSN, id) == query[string](t, s[1].DSN, id) {
		t.Error("both shards are one cluster")
	}
	const next = "SELECT nextval('settlement_id_seq')"
	if query[int64](t, s[0].DSN, next) == query[int64](t, s[1].DSN, next) {
		t.Error("both shards give the same ids")
	}
}

// The daemons' roles log in, and may no more than they need.
func TestRoles(t *testing.T) {
	s := testenv.Postgres(t)
	if n := query[int](t, s.ProjectorDSN, "SELECT count(*) FROM settlement"); n != 0 {
		t.Errorf("%d settlements", n)
	}
	query[int](t, s.CaptureDSN, "SELECT count(*) FROM settlement")
	conn, err := pgx.Connect(t.Context(), s.ProjectorDSN)
	must(t, err)
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), "DELETE FROM settlement"); err == nil || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("the projector may delete settlements: %v", err)
	}
}

func TestEmptyPostgres(t *testing.T) {
	s := testenv.EmptyPostgres(t)
	if n := query[int](t, s.DSN, "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"); n != 0 {
		t.Errorf("%d tables", n)
	}
}

// A test that ends with an active slot still leaves nothing behind.
func TestActiveSlotIsDropped(t *testing.T) {
	var slot, survivor string
	t.Run("inner", func(t *testing.T) {
		s := testenv.Postgres(t)
		slot = s.Slot
		query[string](t, s.DSN, "SELECT slot_name FROM pg_create_logical_replication_slot('"+slot+"', 'pgoutput')")
		conn, err := pgx.Connect(context.Background(), s.CaptureDSN+"&replication=database")
		must(t, err)
		go func() {
			_, _ = conn.PgConn().Exec(context.Background(), "START_REPLICATION SLOT "+slot+" LOGICAL 0/0 (proto_version '1', publication_names 'prejoin')").ReadAll()
			conn.Close(context.Background())
		}()
		for query[int](t, s.DSN, "SELECT count(*) FROM pg_replication_slots WHERE active AND slot_name = '"+slot+"'") == 0 {
			time.Sleep(10 * time.Millisecond)
		}
		survivor = s.Database
	})
	other := testenv.EmptyPostgres(t)
	n := query[int](t, other.DSN, "SELECT (SELECT count(*) FROM pg_replication_slots WHERE slot_name = '"+slot+"') + (SELECT count(*) FROM pg_database WHERE datname = '"+survivor+"')")
	if n != 0 {
		t.Error("the slot or the database is still there")
	}
}

func TestMongoDB(t *testing.T) {
	uri, database := testenv.MongoDB(t)
	_, other := testenv.MongoDB(t)
	if database == other {
		t.Error("two tests share a database")
	}
	c, err := mongo.Connect(t.Context(), options.Client().ApplyURI(uri))
	must(t, err)
	defer c.Disconnect(context.Background())
	_, err = c.Database(database).Collection("c").InsertOne(t.Context(), bson.M{"_id": 1})
	must(t, err)
}

// kafka-go's group works on it, and topics appear by use.
func TestKafka(t *testing.T) {
	brokers := testenv.Kafka(t)
	transport := &kafka.Transport{} // the default one keeps its connections for ever
	defer transport.CloseIdleConnections()
	w := &kafka.Writer{Transport: transport, Addr: kafka.TCP(brokers...), AllowAutoTopicCreation: true, BatchTimeout: time.Millisecond}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for { // the first write finds no topic yet
		err := w.WriteMessages(ctx, kafka.Message{Topic: "shard0.public.t", Value: []byte("v")})
		if err == nil {
			break
		}
		if ctx.Err() != nil {
			t.Fatal(err)
		}
	}
	must(t, w.Close())
	r := kafka.NewReader(kafka.ReaderConfig{Brokers: brokers, GroupID: "g", Topic: "shard0.public.t", MaxWait: 50 * time.Millisecond})
	m, err := r.ReadMessage(ctx)
	must(t, err)
	if string(m.Value) != "v" {
		t.Errorf("read %q", m.Value)
	}
	must(t, r.Close())
}

func TestPrivate(t *testing.T) {
	p := testenv.PrivatePostgres(t)
	s := testenv.As(t, p)
	query[int](t, s.ProjectorDSN, "SELECT count(*) FROM settlement")
	p.Crash()
	must(t, p.Restart(t.Context()))
	query[int](t, s.ProjectorDSN, "SELECT count(*) FROM settlement")
	m := testenv.PrivateMongo(t)
	m.Kill()
	must(t, m.Restart(t.Context()))
}
