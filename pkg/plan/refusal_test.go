package plan_test

import (
	"strings"
	"testing"

	"prejoin/pkg/plan"
	"prejoin/pkg/testenv"
)

// A refusal made true once: what is done to the shard or to the model, the
// finding that follows, and, where the finding's fix is SQL, that running the
// fix clears it.
type refusal struct {
	name     string
	model    string // settlement unless set
	sql      string
	edits    []string
	where    string
	problem  string
	fix      string
	runs     bool // run the fix, then nothing may be found
	severity plan.Severity
}

var refusals = []refusal{
	{name: "identity lost", sql: "ALTER TABLE settlement_line REPLICA IDENTITY DEFAULT", where: "public.settlement_line",
		problem: "lacks", fix: "ALTER TABLE public.settlement_line REPLICA IDENTITY USING INDEX settlement_line_identity;", runs: true},
	{name: "identity index dropped", sql: "ALTER TABLE settlement_line REPLICA IDENTITY DEFAULT; DROP INDEX settlement_line_identity; CREATE INDEX ON settlement_line (settlement_id)", where: "public.settlement_line",
		problem: "replica identity (primary key (id)) lacks", fix: "CREATE UNIQUE INDEX CONCURRENTLY settlement_line_identity ON public.settlement_line (settlement_id, id); ALTER TABLE", runs: true},
	{name: "identity on a nullable column", sql: "ALTER TABLE settlement_line REPLICA IDENTITY DEFAULT; ALTER TABLE settlement_line ALTER settlement_id DROP NOT NULL", where: "public.settlement_line",
		problem: "lacks", fix: "ALTER TABLE public.settlement_line REPLICA IDENTITY FULL;", runs: true},
	{name: "identity nothing", sql: "ALTER TABLE merchant REPLICA IDENTITY NOTHING", where: "public.merchant",
		problem: "replica identity (nothing) lacks", fix: "ALTER TABLE public.merchant REPLICA IDENTITY DEFAULT;", runs: true},
	{name: "unpublished table", sql: "ALTER PUBLICATION prejoin DROP TABLE payment", where: "public.payment",
		problem: "not in publication", fix: "ALTER PUBLICATION prejoin ADD TABLE public.payment;", runs: true},
	{name: "no publication", sql: "DROP PUBLICATION prejoin", where: "publication prejoin", problem: "no publication of that name", fix: "migrations/postgres/prejoin"},
	{name: "deletes unpublished", sql: "ALTER PUBLICATION prejoin SET (publish = 'insert, update')", where: "publication prejoin",
		problem: "publishes only [insert update]", fix: "SET (publish = 'insert, update, delete, truncate');", runs: true},
	{name: "row filter", sql: "ALTER PUBLICATION prejoin DROP TABLE merchant; ALTER PUBLICATION prejoin ADD TABLE merchant WHERE (id > 5)", where: "public.merchant", problem: "row filter on it, (id > 5)", fix: "DROP TABLE public.merchant"},
	{name: "column list", sql: "ALTER PUBLICATION prejoin DROP TABLE merchant; ALTER PUBLICATION prejoin ADD TABLE merchant (name)", where: "public.merchant", problem: "column list lacks id", fix: "add id"},
	{name: "foreign table", sql: "CREATE EXTENSION postgres_fdw; CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw; CREATE FOREIGN TABLE bank (code text) SERVER far; GRANT SELECT ON bank TO prejoin_projector",
		edits: []string{"WHERE s.id = ANY($1)", "AND EXISTS (SELECT FROM public.bank b WHERE b.code = m.bank_code) WHERE s.id = ANY($1)"}, where: "public.bank", problem: "foreign table", fix: "read the tables"},
	{name: "materialized view", sql: "CREATE MATERIALIZED VIEW bank AS SELECT '004' AS code; CREATE INDEX ON bank (code); GRANT SELECT ON bank TO prejoin_projector",
		edits: []string{"WHERE s.id = ANY($1)", "AND EXISTS (SELECT FROM public.bank b WHERE b.code = m.bank_code) WHERE s.id = ANY($1)"}, where: "public.bank", problem: "materialized view", fix: "read the tables"},
	{name: "unrouted table", edits: []string{"WHERE s.id = ANY($1)", "LEFT JOIN public.partner x ON x.id = m.partner_id WHERE s.id = ANY($1)", "static: [public.partner, public.shard_map]", "static: [public.shard_map]"},
		sql: "", where: "public.partner", problem: "no route and is not declared static", fix: "static: [public.partner]"},
	{name: "unrouted table in a view", sql: "CREATE VIEW named AS SELECT m.id, p.name FROM merchant m JOIN partner p ON p.id = m.partner_id; GRANT SELECT ON named TO prejoin_projector",
		edits: []string{"JOIN public.merchant m ON", "LEFT JOIN public.named v ON v.id = s.merchant_id\n  JOIN public.merchant m ON", `m.name                            AS "merchantName"`, `v.name AS "merchantName"`, "static: [public.partner, public.shard_map]", "static: [public.shard_map]"},
		where: "public.partner", problem: "no route", fix: "add a route"},
	{name: "table behind a function", sql: "CREATE FUNCTION named(bigint) RETURNS text STABLE LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT name FROM partner WHERE id = $1)_ END $$",
		edits: []string{"m.name                            AS", "public.named(m.partner_id) AS"}, where: "root", problem: "function public.named", fix: "ALTER FUNCTION public.named IMMUTABLE;"},
	{name: "function in a view", sql: "CREATE FUNCTION named(bigint) RETURNS text STABLE LANGUAGE plpgsql AS $$ BEGIN RETURN 'x'_ END $$; CREATE VIEW v AS SELECT id, named(partner_id) AS name FROM merchant; GRANT SELECT ON v TO prejoin_projector",
		edits: []string{"JOIN public.merchant m ON", "LEFT JOIN public.v ON v.id = s.merchant_id\n  JOIN public.merchant m ON", `m.name                            AS "merchantName"`, `v.name AS "merchantName"`}, where: "public.v", problem: "function public.named", fix: "IMMUTABLE"},
	{name: "routed view", sql: "ALTER PUBLICATION prejoin DROP TABLE merchant; ALTER TABLE merchant RENAME TO merchant_; CREATE VIEW merchant AS SELECT * FROM merchant_; GRANT SELECT ON merchant TO prejoin_projector",
		where: "public.merchant", problem: "it is a view", fix: "route the tables"},
	{name: "system catalog", edits: []string{"WHERE s.id = ANY($1)", "AND EXISTS (SELECT FROM pg_catalog.pg_class) WHERE s.id = ANY($1)"}, where: "pg_catalog.pg_class", problem: "no route", fix: "add a route"},
	{name: "table gone", sql: "DROP TABLE shard_map", where: "public.shard_map", problem: "does not exist", fix: "create the table"},
	{name: "microseconds", edits: []string{"p.paid_at::timestamptz(3) ", "p.paid_at "}, where: "root", problem: `column "paidAt" is timestamp with time zone, up to microseconds`, fix: "cast to timestamptz(3)"},
	{name: "no time zone", edits: []string{"p.paid_at::timestamptz(3) ", "p.paid_at::timestamp "}, where: "root", problem: "without time zone", fix: "AT TIME ZONE"},
	{name: "wrong type", edits: []string{"s.pay_due                         AS", "s.pay_due::text AS"}, where: "root", problem: `column "payDue" is text and the field date`, fix: `(…)::date AS "payDue"`},
	{name: "scale", edits: []string{"s.amount                          AS", "s.amount::numeric(18,4) AS"}, where: "root", problem: "is numeric(18,4) and the field has scale 2", fix: "scale: 4"},
	{name: "too many digits", edits: []string{"s.amount                          AS", "s.amount::numeric(40,2) AS"}, where: "root", problem: "34 digits", fix: "fewer digits"},
	{name: "no scale", edits: []string{"s.amount                          AS", "s.amount::numeric AS"}, where: "root", problem: "numeric without a scale", fix: "numeric(20,2)", severity: plan.Warning},
	{name: "padded text", edits: []string{"m.bank_code                       AS", "m.bank_code::char(5) AS"}, where: "root", problem: "padded with spaces", fix: "cast to text"},
	{name: "missing column", edits: []string{`AS "holdReason"`, `AS "reason"`}, where: "root", problem: `returns no column "holdReason"`, fix: `select it AS "holdReason"`},
	{name: "extra column", edits: []string{`AS "holdReason"`, `AS "holdReason", s.created_at AS "made"`}, where: "root", problem: `returns column "made", which is no field`, fix: "add the field"},
	{name: "doubled column", edits: []string{`AS "holdReason"`, `AS "holdReason", 1::bigint AS "settlementId"`}, where: "root", problem: `two columns "settlementId"`, fix: "another name"},
	{name: "missing column of a child", edits: []string{"l.amount, l.vat", "l.amount"}, where: "children[0].query", problem: `returns no column "vat"`, fix: `AS "vat"`},
	{name: "child without its parent", edits: []string{`l.settlement_id AS "settlementId", `, ""}, where: "children[0].query", problem: "which is its parent", fix: `AS "settlementId"`},
	{name: "unknown column", edits: []string{"s.hold_reason  ", "s.hold_raeson  "}, where: "root", problem: "PostgreSQL refuses the SQL: column s.hold_raeson does not exist", fix: "mend"},
	{name: "row locks", edits: []string{"WHERE s.id = ANY($1)\n", "WHERE s.id = ANY($1) FOR SHARE OF s\n"}, where: "root", problem: "PostgreSQL refuses the SQL: permission denied", fix: "GRANT SELECT"},
	{name: "row locks with the right", sql: "GRANT UPDATE ON settlement TO prejoin_projector", edits: []string{"WHERE s.id = ANY($1)\n", "WHERE s.id = ANY($1) FOR SHARE OF s\n"}, where: "root", problem: "locks or writes rows", fix: "remove FOR UPDATE"},
	{name: "row security", sql: "ALTER TABLE payment ENABLE ROW LEVEL SECURITY", where: "root", problem: "row-level security policy for table \"payment\"", fix: "BYPASSRLS"},
	{name: "no grant", sql: "REVOKE SELECT ON payment FROM prejoin_projector", where: "root", problem: "permission denied for table payment", fix: "GRANT SELECT"},
	{name: "no index", sql: "DROP INDEX settlement_payment", where: "routes[2].lookup", problem: "no index serves its search of public.settlement by (settlement.payment_id = ANY ($1))", fix: "CREATE INDEX CONCURRENTLY ON public.settlement"},
	{name: "narrow parameter", edits: []string{"WHERE payment_id = ANY($1)", "WHERE payment_id = ANY($1::int[])"}, where: "routes[2].lookup", problem: "$1 is integer[] and its values are bigint", fix: "$1::bigint[]"},
	{name: "no array", edits: []string{"WHERE payment_id = ANY($1)", "WHERE payment_id = $1"}, where: "routes[2].lookup", problem: "not an array", fix: "= ANY($1)"},
	{name: "array in a fanout", edits: []string{"WHERE merchant_id = $1 AND", "WHERE merchant_id = ANY($1) AND"}, where: "routes[4].lookup", problem: "one value", fix: "= $1"},
	{name: "lookup of another type", edits: []string{`"SELECT id FROM public.settlement WHERE payment_id`, `"SELECT status FROM public.settlement WHERE payment_id`}, where: "routes[2].lookup", problem: "returns text and the id", fix: "select the document id"},
	{name: "route by an unknown column", edits: []string{"{table: public.settlement_line, id: settlement_id}", "{table: public.settlement_line, id: settlment_id}"}, where: "public.settlement_line", problem: `"settlment_id", which does not exist`, fix: "columns: id, settlement_id"},
	{name: "lookup in the changed table", model: "order", edits: []string{"{table: public.payment, id: order_id}", `{table: public.payment, key: id, lookup: "SELECT order_id FROM public.payment WHERE id = ANY($1)"}`}, where: "routes[1].lookup", problem: "reads public.payment itself", fix: "use id:"},
}

func TestRefusals(t *testing.T) {
	untouched := testenv.Postgres(t) // for those that only edit the model
	for _, r := range refusals {
		t.Run(strings.ReplaceAll(r.name, " ", "_"), func(t *testing.T) {
			shard := untouched
			if r.sql != "" {
				shard = testenv.Postgres(t)
				execute(t, shard, r.sql)
			}
			r.run(t, shard)
		})
	}
}

func (r refusal) run(t *testing.T, shard testenv.Shard) {
	if r.model == "" {
		r.model = "settlement"
	}
	if r.severity == "" {
		r.severity = plan.Refused
	}
	m := parse(t, text(t, r.model, r.edits...))
	report := check(t, shard.ProjectorDSN, m)
	found := r.find(report)
	if found == nil {
		t.Fatalf("not found; got %+v", report.Shards[0].Findings)
	}
	if report.Refused() != (r.severity == plan.Refused) {
		t.Errorf("refused = %v with a %s", report.Refused(), r.severity)
	}
	t.Logf("%s: %s ▶ %s", found.Where, found.Problem, found.Fix)
	if !r.runs {
		return
	}
	execute(t, shard, found.Fix)
	if left := check(t, shard.ProjectorDSN, m).Shards[0].Findings; len(left) > 0 {
		t.Errorf("after the fix: %+v", left)
	}
}

func (r refusal) find(report *plan.Report) *plan.Finding {
	for _, f := range report.Shards[0].Findings {
		if f.Severity == r.severity && f.Where == r.where && strings.Contains(f.Problem, r.problem) && strings.Contains(f.Fix, r.fix) {
			return &f
		}
	}
	return nil
}
