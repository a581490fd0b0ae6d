package postgres

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// explain plans the text twice: once for its cost, once with sequential scans,
// sorts and joins of whole tables made expensive, which leaves only those that nothing can replace:
// on an empty table the first plan says nothing about indexes.
func (in *inspector) explain(sql string, out *Inspected) error {
	const name = "prejoin_plan"
	// A generic plan, for with a value at hand NULL and empty arrays would fold
	// the tables away.
	if err := in.exec("SET LOCAL plan_cache_mode = force_generic_plan", "SET LOCAL statement_timeout = '30s'", "PREPARE "+name+" AS "+sql); err != nil {
		return err
	}
	execute := "EXPLAIN (FORMAT JSON, VERBOSE) EXECUTE " + name
	if n := len(out.Params); n > 0 {
		execute += "(" + strings.TrimSuffix(strings.Repeat("NULL, ", n), ", ") + ")"
	}
	root, err := in.planOf(name, execute)
	if err != nil {
		return err
	}
	out.Cost, out.Rows = root.Cost, root.Rows
	if err := in.locked(root, out); err != nil {
		return err
	}
	if out.Functions, err = in.functions(calls(sql)); err != nil {
		return err
	}
	// On small tables a hash or merge join reads a whole table, indexed or not.
	if err := in.exec("SET LOCAL enable_seqscan = off", "SET LOCAL enable_sort = off", "SET LOCAL enable_bitmapscan = off",
		"SET LOCAL enable_hashjoin = off", "SET LOCAL enable_mergejoin = off", "PREPARE "+name+" AS "+sql); err != nil {
		return err
	}
	if root, err = in.planOf(name, execute); err != nil {
		return err
	}
	root.walk(func(n *planNode) { n.note(out) })
	return nil
}

func (in *inspector) exec(statements ...string) error {
	for _, sql := range statements {
		if _, err := in.conn.Exec(in.ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

// planOf explains a prepared statement and removes it, also where that failed:
// PREPARE outlives the transaction.
func (in *inspector) planOf(name, execute string) (*planNode, error) {
	if err := in.exec("SAVEPOINT prejoin_plan"); err != nil {
		return nil, err
	}
	var text []byte
	failed := in.conn.QueryRow(in.ctx, execute).Scan(&text)
	if failed != nil {
		if err := in.exec("ROLLBACK TO prejoin_plan"); err != nil {
			return nil, err
		}
	}
	if err := in.exec("DEALLOCATE " + name); err != nil || failed != nil {
		return nil, firstError(failed, err)
	}
	var plans []struct{ Plan *planNode }
	if err := json.Unmarshal(text, &plans); err != nil || len(plans) == 0 || plans[0].Plan == nil {
		return nil, fmt.Errorf("reading the server's plan: %w", firstError(err, fmt.Errorf("none in %.100s", text)))
	}
	return plans[0].Plan, nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// planNode is a node of EXPLAIN (FORMAT JSON, VERBOSE).
type planNode struct {
	Type     string      `json:"Node Type"`
	Schema   string      `json:"Schema"`
	Relation string      `json:"Relation Name"`
	Cond     string      `json:"Index Cond"`
	Filter   string      `json:"Filter"`
	Cost     float64     `json:"Total Cost"`
	Rows     float64     `json:"Plan Rows"`
	Plans    []*planNode `json:"Plans"`
}

func (n *planNode) walk(visit func(*planNode)) {
	visit(n)
	for _, p := range n.Plans {
		p.walk(visit)
	}
}

// note takes down a node that reads a whole relation: a sequential scan, or an
// index walked without a condition.
func (n *planNode) note(out *Inspected) {
	whole := n.Type == "Seq Scan" || strings.HasPrefix(n.Type, "Index") && n.Cond == ""
	if whole && n.Relation != "" {
		out.Scans = append(out.Scans, Scan{Relation: n.Schema + "." + n.Relation, Filter: n.Filter})
	}
	if n.Type == "Sort" {
		out.Sorts = true
	}
}

// locked reads which relations planning locked: all that the SQL reads, those
// within views and every partition too. The catalogs that this package asks are
// left out, unless the SQL itself reads them.
func (in *inspector) locked(root *planNode, out *Inspected) error {
	rows, err := in.conn.Query(in.ctx, `SELECT n.nspname || '.' || c.relname, bool_or(l.mode <> 'AccessShareLock')
  FROM pg_locks l JOIN pg_class c ON c.oid = l.relation JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE l.pid = pg_backend_pid() AND l.locktype = 'relation' AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
   AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT IN ('pg_catalog', 'pg_toast') GROUP BY 1`)
	if err != nil {
		return fmt.Errorf("reading locks: %w", err)
	}
	var name string
	var strong bool
	_, err = pgx.ForEachRow(rows, []any{&name, &strong}, func() error {
		out.Relations = append(out.Relations, name)
		out.Locks = out.Locks || strong
		return nil
	})
	root.walk(func(n *planNode) {
		if n.Schema == "pg_catalog" && n.Relation != "" {
			out.Relations = append(out.Relations, n.Schema+"."+n.Relation)
		}
	})
	slices.Sort(out.Relations)
	out.Relations = slices.Compact(out.Relations)
	return err
}
