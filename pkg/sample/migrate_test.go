package sample

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"golang.org/x/sync/errgroup"

	"prejoin/pkg/testenv"
)

// Every column that a bundled model's route uses must be told by an update and a
// delete: it must be in the table's replica identity.
func TestReplicaIdentities(t *testing.T) {
	t.Parallel()
	c := connect(t, testenv.Postgres(t).DSN)
	f := func(table, want string) {
		t.Helper()
		got := one[string](t, c, `
			SELECT string_agg(a.attname, ',' ORDER BY a.attname) FROM pg_class c
			JOIN pg_index i ON i.indrelid = c.oid AND CASE c.relreplident WHEN 'd' THEN i.indisprimary WHEN 'i' THEN i.indisreplident END
			JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY (i.indkey)
			WHERE c.oid = $1::text::regclass`, table)
		if got != want {
			t.Errorf("the replica identity of %s is (%s), want (%s)", table, got, want)
		}
	}
	f("merchant", "id")
	f("orders", "id")
	f("payment", "id,order_id")
	f("settlement", "id,merchant_id")
	f("settlement_line", "id,settlement_id")
	f("prejoin.heartbeat", "id")
	published := one[string](t, c, "SELECT string_agg(schemaname || '.' || tablename, ' ' ORDER BY 1) FROM pg_publication_tables WHERE pubname = 'prejoin'")
	for _, table := range []string{"public.merchant", "public.orders", "public.payment", "public.settlement", "public.settlement_line", "prejoin.heartbeat"} {
		if !strings.Contains(published, table) {
			t.Errorf("%s is not published: %s", table, published)
		}
	}
	if strings.Contains(published, "incarnation") {
		t.Error("the incarnation is published")
	}
	if !one[bool](t, c, "SELECT relpersistence = 'u' FROM pg_class WHERE oid = 'prejoin.incarnation'::regclass") {
		t.Error("prejoin.incarnation is not UNLOGGED, so it would survive a crash")
	}
}

func TestLeastPrivilege(t *testing.T) {
	t.Parallel()
	shard := testenv.Postgres(t)
	projector, capture := connect(t, shard.ProjectorDSN), connect(t, shard.CaptureDSN)
	may := func(c *pgx.Conn, sql string) {
		t.Helper()
		if _, err := c.Exec(t.Context(), sql); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
	mayNot := func(c *pgx.Conn, sql string) {
		t.Helper()
		_, err := c.Exec(t.Context(), sql)
		var pg *pgconn.PgError
		if !errors.As(err, &pg) || pg.Code != "42501" {
			t.Errorf("%s: %v, want insufficient privilege", sql, err)
		}
	}
	may(projector, `INSERT INTO prejoin.incarnation (id, system_identifier) SELECT gen_random_uuid(), system_identifier::text FROM pg_control_system() ON CONFLICT DO NOTHING`)
	for _, table := range []string{"partner", "merchant", "orders", "payment", "settlement", "settlement_line", "shard_map"} {
		for _, c := range []*pgx.Conn{projector, capture} {
			may(c, "SELECT count(*) FROM "+table)
			may(c, "BEGIN; LOCK TABLE "+table+" IN ACCESS SHARE MODE; COMMIT")
			mayNot(c, "DELETE FROM "+table)
			if one[bool](t, c, "SELECT has_table_privilege($1, 'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER') OR has_any_column_privilege($1, 'INSERT, UPDATE, REFERENCES')", table) {
				t.Errorf("%s may do more to %s than read it", one[string](t, c, "SELECT current_user"), table)
			}
		}
	}
	may(projector, "SELECT at FROM prejoin.heartbeat")
	may(capture, "UPDATE prejoin.heartbeat SET at = now() WHERE id = 1")
	may(capture, "INSERT INTO prejoin.heartbeat VALUES (1, now()) ON CONFLICT (id) DO UPDATE SET at = now()")
	mayNot(projector, "INSERT INTO settlement DEFAULT VALUES")
	mayNot(projector, "UPDATE prejoin.heartbeat SET at = now()")
	mayNot(projector, "UPDATE prejoin.incarnation SET id = gen_random_uuid()")
	mayNot(projector, "DELETE FROM prejoin.incarnation")
	mayNot(projector, "SELECT nextval('settlement_id_seq')")
	mayNot(projector, "CREATE TABLE mine ()")
	mayNot(projector, "CREATE TABLE prejoin.mine ()")
	mayNot(capture, "SELECT * FROM prejoin.incarnation")
	mayNot(capture, "CREATE TABLE prejoin.mine ()")
	for role, replicates := range map[string]bool{"prejoin_projector": false, "prejoin_capture": true} {
		if got := one[bool](t, projector, "SELECT rolreplication FROM pg_roles WHERE rolname = $1 AND rolcanlogin AND NOT (rolsuper OR rolcreaterole OR rolcreatedb OR rolbypassrls)", role); got != replicates {
			t.Errorf("%s may replicate: %v", role, got)
		}
	}
}

// Two shards in one cluster share the roles, and may be migrated at once and again.
func TestMigrateTwoShardsOfOneCluster(t *testing.T) {
	t.Parallel()
	shards := []testenv.Shard{testenv.EmptyPostgres(t), testenv.EmptyPostgres(t), testenv.EmptyPostgres(t)}
	var g errgroup.Group
	for range 2 {
		for i, s := range shards {
			g.Go(func() error { return Migrate(t.Context(), s.DSN, i, len(shards)) })
		}
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	for i, s := range shards {
		c := connect(t, s.DSN)
		for _, table := range []string{"orders", "payment", "settlement", "settlement_line"} {
			for n := range int64(3) {
				if got, want := one[int64](t, c, fmt.Sprintf("SELECT nextval('%s_id_seq')", table)), 1_000_000_000+int64(i)+64*n; got != want {
					t.Errorf("shard %d deals %d to %s, want %d", i, got, table, want)
				}
			}
		}
	}
}

func TestMigrateSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	f := func(dsn string, shard, shards int, want string) {
		t.Helper()
		if err := Migrate(t.Context(), dsn, shard, shards); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Migrate(%d, %d) = %v, want %q in it", shard, shards, err, want)
		}
	}
	f("", 2, 2, "shard 2 of 2")
	f("", 0, 65, "1 to 64")
	f("", -1, 1, "shard -1")
	f("postgres://127.0.0.1:1/x?connect_timeout=1", 0, 1, "is the server up")
	f("port=no", 0, 1, "reading the DSN")
}
