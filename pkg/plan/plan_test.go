package plan_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"prejoin/pkg/plan"
	"prejoin/pkg/postgres"
	"prejoin/pkg/readmodel"
	"prejoin/pkg/testenv"
)

// text is a bundled model with edits: old, new, old, new, …
func text(t *testing.T, name string, edits ...string) string {
	t.Helper()
	data, err := os.ReadFile("../../readmodels/" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	s := string(data)
	for i := 0; i < len(edits); i += 2 {
		if !strings.Contains(s, edits[i]) {
			t.Fatalf("the model %s does not hold %q", name, edits[i])
		}
		s = strings.ReplaceAll(s, edits[i], edits[i+1])
	}
	return s
}

func parse(t *testing.T, text string) *readmodel.Model {
	t.Helper()
	m, err := readmodel.Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func check(t *testing.T, dsn string, m *readmodel.Model) *plan.Report {
	t.Helper()
	shard, err := postgres.Open(t.Context(), postgres.Config{Name: "shard0", DSN: dsn})
	if err != nil {
		t.Fatal(err)
	}
	defer shard.Close()
	report, err := plan.Check(t.Context(), m, "prejoin", []plan.Inspector{shard})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// execute runs statements as the owner, one by one. Within a function's body _
// stands for a semicolon.
func execute(t *testing.T, shard testenv.Shard, statements string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), shard.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	for _, sql := range strings.Split(statements, ";") {
		if strings.TrimSpace(sql) == "" {
			continue
		}
		if strings.Contains(sql, "$$") {
			sql = strings.ReplaceAll(sql, "_ END", "; END")
		}
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
}

// The bundled models stand on the sample schema without a finding, asked as the
// role that the projector has.
func TestBundledModelsPlanCleanly(t *testing.T) {
	shard := testenv.Postgres(t)
	for _, name := range []string{"settlement", "order"} {
		report := check(t, shard.ProjectorDSN, parse(t, text(t, name)))
		if s := report.Shards[0]; len(s.Findings) > 0 || len(s.Statements) < 3 {
			t.Errorf("%s: %+v", name, s)
		}
		if err := report.Print(t.Output()); err != nil {
			t.Error(err)
		}
	}
}

// On a shard that holds nothing and knows it, every plan costs the same: what
// the planner takes there says nothing about indexes. A new shard must start.
func TestAnEmptyShardPlansCleanly(t *testing.T) {
	shard := testenv.Postgres(t)
	execute(t, shard, "ANALYZE partner; ANALYZE merchant; ANALYZE orders; ANALYZE payment; ANALYZE settlement; ANALYZE settlement_line; ANALYZE shard_map")
	for _, name := range []string{"settlement", "order"} {
		if s := check(t, shard.ProjectorDSN, parse(t, text(t, name))).Shards[0]; len(s.Findings) > 0 {
			t.Errorf("%s: %+v", name, s.Findings)
		}
	}
}

// A plan leaves nothing behind: no prepared statement, no open transaction.
func TestCheckLeavesNothingBehind(t *testing.T) {
	shard := testenv.Postgres(t)
	s, err := postgres.Open(t.Context(), postgres.Config{Name: "shard0", DSN: shard.ProjectorDSN, MaxConns: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, root := range []string{"WHERE s.id = ANY($1)", "WHERE s.idd = ANY($1)"} {
		m := parse(t, text(t, "settlement", "WHERE s.id = ANY($1)", root))
		for range 2 { // the second finds what the first left
			if _, err := plan.Check(t.Context(), m, "prejoin", []plan.Inspector{s}); err != nil {
				t.Fatal(err)
			}
		}
	}
}
