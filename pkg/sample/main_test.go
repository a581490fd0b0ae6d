package sample

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"prejoin/pkg/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// connect opens a connection that ends with the test.
func connect(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// one reads a single value.
func one[T any](t *testing.T, conn *pgx.Conn, sql string, args ...any) (v T) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), sql, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return v
}

// list reads a column.
func list[T any](t *testing.T, conn *pgx.Conn, sql string, args ...any) []T {
	t.Helper()
	rows, _ := conn.Query(t.Context(), sql, args...)
	v, err := pgx.CollectRows(rows, pgx.RowTo[T])
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return v
}

// seeded returns the DSNs and connections of two freshly seeded shards.
func seeded(t *testing.T, settlements int, seed uint64) ([]string, []*pgx.Conn) {
	t.Helper()
	var dsns []string
	var conns []*pgx.Conn
	for _, s := range testenv.Shards(t) {
		dsns = append(dsns, s.DSN)
		conns = append(conns, connect(t, s.DSN))
	}
	report, err := Seed(t.Context(), SeedConfig{Shards: dsns, Settlements: settlements, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range conns {
		if got := one[int64](t, c, "SELECT count(*) FROM settlement_line"); got != report.Shards[i].Lines {
			t.Fatalf("shard %d: %d lines reported, %d there", i, report.Shards[i].Lines, got)
		}
	}
	return dsns, conns
}

// lawful fails where a settlement's net amount is not what its lines leave of it,
// or where a foreign key is gone or broken.
func lawful(t *testing.T, conns []*pgx.Conn) {
	t.Helper()
	for i, c := range conns {
		wrong := list[int64](t, c, `SELECT id FROM settlement s WHERE amount IS DISTINCT FROM
			payment_amount - coalesce((SELECT sum(amount + vat) FROM settlement_line l WHERE l.settlement_id = s.id), 0)`)
		if len(wrong) > 0 {
			t.Errorf("shard %d: the net amount of %d settlements is wrong, such as %d", i, len(wrong), wrong[0])
		}
		if n := one[int](t, c, "SELECT count(*) FROM pg_constraint WHERE contype = 'f' AND convalidated"); n != 8 {
			t.Errorf("shard %d has %d valid foreign keys, want 8", i, n)
		}
		if n := one[int](t, c, `SELECT count(*) FROM settlement s JOIN payment p ON p.id = payment_id JOIN orders o ON o.id = s.order_id
			WHERE p.order_id <> o.id OR p.merchant_id <> s.merchant_id OR o.merchant_id <> s.merchant_id OR abs(s.payment_amount) <> p.amount`); n != 0 {
			t.Errorf("shard %d: %d settlements do not agree with their order and payment", i, n)
		}
	}
}
