package sample

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"prejoin/pkg/testenv"
)

const some = 10_000

// TestSeed asks one pair of seeded shards many questions.
func TestSeed(t *testing.T) {
	t.Parallel()
	_, conns := seeded(t, some, 1)
	f := func(name string, ask func(*testing.T, []*pgx.Conn)) {
		t.Run(name, func(t *testing.T) { ask(t, conns) })
	}
	f("the skew is exact", skewIsExact)
	f("the laws are kept", seedKeepsTheLaws)
	f("oddities arrive as they are", odditiesArriveAsTheyAre)
	f("ids are unique over shards", idsAreUniqueOverShards)
	f("the shard map tells the truth", shardMap)
}

func skewIsExact(t *testing.T, conns []*pgx.Conn) {
	counts := map[int64]int64{}
	var onFirst int64
	for i, c := range conns {
		for _, m := range list[int64](t, c, "SELECT merchant_id FROM settlement") {
			counts[m]++
			onFirst += int64(1 - i)
		}
	}
	var ten, all int64
	for m, n := range counts {
		all += n
		if m <= 10 {
			ten += n
		} else if n >= counts[10] {
			t.Errorf("merchant %d has %d settlements, no fewer than merchant 10 with %d", m, n, counts[10])
		}
	}
	if all != some || len(counts) != Merchants || counts[1] != some*2/100 || ten != some*7/100 {
		t.Errorf("%d settlements of %d merchants: the largest %d, the ten largest %d", all, len(counts), counts[1], ten)
	}
	if onFirst < some*54/100 || onFirst > some*56/100 {
		t.Errorf("the first shard has %d of %d settlements, want 54 to 56 %%", onFirst, some)
	}
}

func seedKeepsTheLaws(t *testing.T, conns []*pgx.Conn) {
	lawful(t, conns)
	for i, c := range conns {
		none := func(what, sql string) {
			t.Helper()
			if n := one[int](t, c, "SELECT count(*) FROM settlement s JOIN orders o ON o.id = s.order_id JOIN payment p ON p.id = s.payment_id WHERE "+sql); n != 0 {
				t.Errorf("shard %d: %d settlements are %s", i, n, what)
			}
		}
		some := func(what, sql string) {
			t.Helper()
			if n := one[int](t, c, "SELECT count(*) FROM settlement s JOIN orders o ON o.id = s.order_id JOIN payment p ON p.id = s.payment_id WHERE "+sql); n == 0 {
				t.Errorf("shard %d: no settlement is %s", i, what)
			}
		}
		none("due on a weekend", "extract(isodow FROM pay_due) > 5")
		none("out of the 90 days", "settlement_base NOT BETWEEN '2026-09-01' AND '2026-11-29'")
		none("paid out in the future", "paid_out > '2026-11-30'")
		none("not paid though due", "status = 'SCHEDULED' AND pay_due <= '2026-11-30'")
		none("canceled twice", "type = 'CANCEL' AND EXISTS (SELECT FROM settlement x WHERE x.payment_id = s.payment_id AND x.type = 'CANCEL' AND x.id <> s.id)")
		none("charged another fee than base · rate", `EXISTS (SELECT FROM settlement_line l WHERE l.settlement_id = s.id
			AND (l.amount NOT IN (trunc(base * rate), trunc(base * rate, 2)) OR vat NOT IN (trunc(l.amount / 10), trunc(l.amount / 10, 2))))`)
		none("confirmed before the order", "confirmed_at < ordered_at")
		none("paid before the order", "paid_at < ordered_at")
		for _, status := range []string{"SCHEDULED", "HELD", "PAID", "CANCELED"} {
			some(status, "status = '"+status+"'")
		}
		some("of more than 15 digits", "abs(payment_amount) > 99999999999999")
		some("beyond 2^53", "s.id > 9007199254740992")
		some("with cents", "payment_amount <> trunc(payment_amount)")
		some("not confirmed", "confirmed_at IS NULL")
		some("with leading zeros", "order_no LIKE '0%'")
		some("with microseconds", "extract(microseconds FROM s.created_at)::bigint % 1000 <> 0")
		some("broken over lines", `product_name LIKE E'%\n%'`)
		some("a formula to a spreadsheet", `product_name ~ '^[=+@-]'`)
		some("a return", "type = 'CANCEL' AND s.amount < 0")
	}
	if n := one[int](t, conns[0], "SELECT count(*) FROM settlement WHERE payment_amount = 9999999999999999.99") +
		one[int](t, conns[1], "SELECT count(*) FROM settlement WHERE payment_amount = 9999999999999999.99"); n == 0 {
		t.Error("no settlement has the largest amount that numeric(18,2) holds")
	}
}

func odditiesArriveAsTheyAre(t *testing.T, conns []*pgx.Conn) {
	names := append(list[string](t, conns[0], "SELECT DISTINCT product_name FROM orders"), list[string](t, conns[1], "SELECT DISTINCT product_name FROM orders")...)
	for _, odd := range oddities {
		if !slices.Contains(names, odd) {
			t.Errorf("the product name %q was not stored as it is", odd)
		}
	}
}

func TestSameSeedSameRows(t *testing.T) {
	t.Parallel()
	sums := func(seed uint64) (sums []string) {
		_, conns := seeded(t, 3_000, seed)
		for _, c := range conns {
			for _, table := range []string{"partner", "shard_map", "merchant", "orders", "payment", "settlement", "settlement_line"} {
				sums = append(sums, one[string](t, c, "SELECT md5(string_agg(t::text, E'\n' ORDER BY t::text)) FROM "+table+" t"))
			}
		}
		return sums
	}
	first, second, other := sums(42), sums(42), sums(43)
	if !slices.Equal(first, second) {
		t.Errorf("the same seed gave other rows:\n%v\n%v", first, second)
	}
	if slices.Equal(first[2:], other[2:]) {
		t.Error("another seed gave the same rows")
	}
}

func idsAreUniqueOverShards(t *testing.T, conns []*pgx.Conn) {
	for _, table := range []string{"merchant", "orders", "payment", "settlement", "settlement_line"} {
		ids := append(list[int64](t, conns[0], "SELECT id FROM "+table), list[int64](t, conns[1], "SELECT id FROM "+table)...)
		slices.Sort(ids)
		if len(slices.Compact(slices.Clone(ids))) != len(ids) {
			t.Errorf("two rows of %s have the same id", table)
		}
		for _, id := range ids {
			if id >= 1_000_000_000 && id < giantIDs {
				t.Errorf("%s has the seeded id %d, where the sequences deal", table, id)
				break
			}
		}
	}
	// A join over the wrong column must find nothing.
	for _, wrong := range []string{"settlement x JOIN orders y USING (id)", "settlement x JOIN payment y USING (id)", "orders x JOIN payment y USING (id)", "settlement x JOIN orders y ON y.id = x.payment_id"} {
		if n := one[int](t, conns[0], "SELECT count(*) FROM "+wrong); n != 0 {
			t.Errorf("%s finds %d rows", wrong, n)
		}
	}
}

func TestSeedRefusesWhatIsFull(t *testing.T) {
	t.Parallel()
	dsns, conns := seeded(t, 100, 1)
	empty := testenv.Postgres(t)
	for _, shards := range [][]string{dsns, {empty.DSN, dsns[1]}} {
		if _, err := Seed(t.Context(), SeedConfig{Shards: shards, Settlements: 100, Seed: 2}); !errors.Is(err, ErrNotEmpty) {
			t.Errorf("seeding a full shard gave %v", err)
		}
	}
	if n := one[int](t, connect(t, empty.DSN), "SELECT count(*) FROM shard_map"); n != 0 {
		t.Errorf("a failed seed left %d rows on its empty shard", n)
	}
	if n := one[int](t, conns[0], "SELECT count(*) FROM settlement") + one[int](t, conns[1], "SELECT count(*) FROM settlement"); n != 100 {
		t.Errorf("a refused seed left %d settlements of 100", n)
	}
}

// One shard fails when the other has long been loaded: neither keeps a row.
func TestSeedIsAllOrNothing(t *testing.T) {
	t.Parallel()
	shards := testenv.Shards(t)
	conns := []*pgx.Conn{connect(t, shards[0].DSN), connect(t, shards[1].DSN)}
	_, err := conns[1].Exec(t.Context(), `
		CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(1); RAISE 'too late'; END $$;
		CREATE TRIGGER fail BEFORE INSERT ON settlement_line EXECUTE FUNCTION fail()`)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Seed(t.Context(), SeedConfig{Shards: []string{shards[0].DSN, shards[1].DSN}, Settlements: 100, Seed: 1})
	if err == nil || !strings.Contains(err.Error(), "too late") {
		t.Errorf("the seed ended with %v", err)
	}
	for i, c := range conns {
		if n := one[int](t, c, "SELECT count(*) FROM merchant"); n != 0 {
			t.Errorf("the failed seed left %d merchants on shard %d", n, i)
		}
	}
}

// Seeds of other databases in the same clusters hold nothing up: the locks that
// a seed keeps until its commit are on its own tables only.
func TestSeedLocksNothingShared(t *testing.T) {
	t.Parallel()
	shards := testenv.Shards(t)
	c := connect(t, shards[0].DSN)
	// Shard 1 waits for this lock, so shard 0 waits with its transaction open.
	held := connect(t, shards[1].DSN)
	if _, err := held.Exec(t.Context(), "BEGIN; LOCK TABLE settlement_line IN SHARE MODE"); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := Seed(t.Context(), SeedConfig{Shards: []string{shards[0].DSN, shards[1].DSN}, Settlements: 100, Seed: 1})
		ended <- err
	}()
	const idle = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction' AND query LIKE 'ALTER TABLE%'"
	for end := time.Now().Add(30 * time.Second); one[int](t, c, idle) == 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("shard 0 was never loaded")
		}
	}
	time.Sleep(200 * time.Millisecond) // the last of several ALTER TABLE, on a slow day
	shared := list[string](t, c, `SELECT DISTINCT c.relname || ' ' || mode FROM pg_locks l JOIN pg_class c ON c.oid = l.relation AND c.relisshared
		JOIN pg_stat_activity a USING (pid) WHERE a.datname = current_database() AND a.pid <> pg_backend_pid() AND mode <> 'AccessShareLock'`)
	if len(shared) > 0 {
		t.Errorf("a seed keeps locks on what all databases share: %v", shared)
	}
	if _, err := held.Exec(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

func TestSeedRefusesBadNumbers(t *testing.T) {
	for _, cfg := range []SeedConfig{{}, {Shards: []string{"x"}}, {Shards: []string{"x"}, Settlements: -1}, {Shards: []string{"x"}, Settlements: maxSettlements + 1}, {Shards: make([]string, 65), Settlements: 1}} {
		if _, err := Seed(t.Context(), cfg); err == nil {
			t.Errorf("Seed took %d shards, %d settlements", len(cfg.Shards), cfg.Settlements)
		}
	}
}

// The reference tables are the same on every shard, and the map tells the truth.
func shardMap(t *testing.T, conns []*pgx.Conn) {
	all := func(c *pgx.Conn) string {
		return one[string](t, c, "SELECT string_agg(merchant_id || shard, ',' ORDER BY merchant_id) FROM shard_map")
	}
	if all(conns[0]) != all(conns[1]) {
		t.Error("the shards have different shard maps")
	}
	for i, name := range []string{"shard0", "shard1"} {
		if n := one[int](t, conns[i], "SELECT count(*) FROM (SELECT id FROM merchant EXCEPT SELECT merchant_id FROM shard_map WHERE shard = $1) x", name); n != 0 {
			t.Errorf("%d merchants of %s are mapped elsewhere", n, name)
		}
	}
}
