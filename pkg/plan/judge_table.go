package plan

import (
	"fmt"
	"slices"
	"strings"

	"prejoin/pkg/postgres"
)

var kinds = map[string]string{"r": "table", "p": "partitioned table", "v": "view", "m": "materialized view", "f": "foreign table"}

// table judges one relation that the model reads or names.
func (j *judgement) table(name, publication string) {
	r := j.facts.Relations[name]
	if r == nil {
		j.refuse(name, "the table does not exist on this shard, or not under this name", "mend the model, or create the table")
		return
	}
	root, use := j.covered(r)
	t := Table{Name: name, Kind: kinds[r.Kind], Use: use, Bytes: r.Bytes}
	switch {
	case r.Kind == "f" || r.Kind == "m":
		j.refuse(name, fmt.Sprintf("it is a %s: its changes are in no replication stream of this shard", kinds[r.Kind]), "read the tables it is made of")
	case r.Kind == "v":
		t.Use = "view"
		j.view(r)
	case use == "":
		t.Use = "unknown"
		j.refuse(name, "the SQL reads it, and it has no route and is not declared static: its changes would be missed",
			fmt.Sprintf("add a route for %s, or static: [%s] if its rows never change", name, name))
	case use == "routed":
		t.Needs = j.needs(root)
		t.Identity = identity(r)
		j.routedTable(r, root, publication)
		if root != name {
			t.Use = "partition"
		}
	}
	j.out.Tables = append(j.out.Tables, t)
}

// view: what it reads was found by the locks of planning; only what it calls
// could hide more.
func (j *judgement) view(r *postgres.Relation) {
	for _, f := range r.Functions {
		j.hidden(r.Name, f)
	}
	if slices.Contains(tablesOf(j.m), r.Name) {
		j.refuse(r.Name, "it is a view: a view has no rows that change", "route the tables that it reads")
	}
}

func (j *judgement) routedTable(r *postgres.Relation, root, publication string) {
	if root == r.Name {
		j.published(r, publication)
	}
	rows := []*postgres.Relation{r}
	for _, leaf := range r.Leaves {
		rows = append(rows, j.facts.Relations[leaf])
	}
	for _, row := range rows {
		if row != nil && row.Kind == "r" {
			j.replicaIdentity(row, j.needs(root))
		}
		if row != nil && row != r && row.Kind == "f" {
			j.refuse(row.Name, "it is a foreign table and a partition of "+r.Name+": its changes are in no replication stream of this shard", "detach it, or leave it out of the SQL")
		}
	}
}

// published checks that the changes of a routed table reach the slot, whole.
func (j *judgement) published(r *postgres.Relation, publication string) {
	p := j.facts.Publication
	if p == nil {
		return // reported once
	}
	name := quote(publication)
	switch {
	case len(r.Ancestors) > 0 && p.ViaRoot:
		top := r.Ancestors[len(r.Ancestors)-1]
		j.refuse(r.Name, "it is a partition, whose changes are published as those of "+top, "route "+top+" in its place")
	case r.Kind == "p" && !p.ViaRoot:
		j.refuse(r.Name, "its partitions are published under their own names, which no route has", fmt.Sprintf("ALTER PUBLICATION %s SET (publish_via_partition_root = true);", name))
	case !r.Published:
		j.refuse(r.Name, fmt.Sprintf("it is not in publication %s: its changes would be missed", publication), fmt.Sprintf("ALTER PUBLICATION %s ADD TABLE %s;", name, quoteTable(r.Name)))
	}
	if r.Kind == "p" {
		j.warn(r.Name, "a partition that is dropped, detached or truncated by itself gives no change events", "run projector backfill after such a statement")
	}
	if r.RowFilter != "" {
		j.refuse(r.Name, "the publication has a row filter on it, "+r.RowFilter+": changes of other rows would be missed", fmt.Sprintf("ALTER PUBLICATION %s DROP TABLE %s; then ADD TABLE without WHERE", name, quoteTable(r.Name)))
	}
	for _, c := range j.needs(r.Name) {
		if r.PublishedAs != nil && r.Column(c) != nil && !slices.Contains(r.PublishedAs, c) {
			j.refuse(r.Name, fmt.Sprintf("the publication's column list lacks %s, which a route uses", c), fmt.Sprintf("add %s to the list: ALTER PUBLICATION %s SET TABLE …", c, name))
		}
	}
}

// replicaIdentity checks that the old row of an update or a delete names what
// the routes use.
func (j *judgement) replicaIdentity(r *postgres.Relation, needs []string) {
	var absent, without []string
	for _, c := range needs {
		switch {
		case r.Column(c) == nil:
			absent = append(absent, c)
		case !slices.Contains(r.Identities, c):
			without = append(without, c)
		}
	}
	for _, c := range absent {
		j.refuse(r.Name, fmt.Sprintf("a route uses its column %q, which does not exist", c), "columns: "+strings.Join(names(r), ", "))
	}
	if len(without) == 0 || len(absent) > 0 {
		return
	}
	problem := fmt.Sprintf("a route uses %s, which its replica identity (%s) lacks: a delete or a move would not name the old document", strings.Join(without, ", "), identity(r))
	j.refuse(r.Name, problem, remedy(r, needs))
}

func names(r *postgres.Relation) []string {
	var out []string
	for _, c := range r.Columns {
		out = append(out, c.Name)
	}
	return out
}

func identity(r *postgres.Relation) string {
	columns := strings.Join(r.Identities, ", ")
	switch {
	case r.Identity == "f":
		return "full"
	case r.Identity == "n":
		return "nothing"
	case len(r.Identities) == 0:
		return "none: it has no primary key"
	case r.Identity == "i":
		return "index (" + columns + ")"
	}
	return "primary key (" + columns + ")"
}

// remedy is the statement that gives a table a replica identity with these
// columns: by the primary key, by an index that is there, by a new one on the
// columns and the key, or, where a column may be null, by the whole row.
func remedy(r *postgres.Relation, needs []string) string {
	table := quoteTable(r.Name)
	var key []string
	for _, u := range r.Unique {
		if u.Primary {
			key = u.Columns
		}
		if u.Primary && holdsAll(u.Columns, needs) {
			return fmt.Sprintf("ALTER TABLE %s REPLICA IDENTITY DEFAULT;", table)
		}
	}
	for _, u := range r.Unique {
		if holdsAll(u.Columns, needs) && required(r, u.Columns) {
			return fmt.Sprintf("ALTER TABLE %s REPLICA IDENTITY USING INDEX %s;", table, quote(u.Name))
		}
	}
	columns := slices.Clone(needs)
	for _, c := range key {
		if !slices.Contains(columns, c) {
			columns = append(columns, c)
		}
	}
	if len(key) == 0 || !required(r, columns) {
		return fmt.Sprintf("ALTER TABLE %s REPLICA IDENTITY FULL;", table)
	}
	_, short, _ := strings.Cut(r.Name, ".")
	index := quote(short + "_identity")
	return fmt.Sprintf("CREATE UNIQUE INDEX CONCURRENTLY %s ON %s (%s); ALTER TABLE %s REPLICA IDENTITY USING INDEX %s;", index, table, quoteAll(columns), table, index)
}

func holdsAll(columns, needs []string) bool {
	return !slices.ContainsFunc(needs, func(c string) bool { return !slices.Contains(columns, c) })
}

// required tells whether all columns are NOT NULL, as a replica identity asks.
func required(r *postgres.Relation, columns []string) bool {
	return !slices.ContainsFunc(columns, func(c string) bool { return r.Column(c) == nil || !r.Column(c).NotNull })
}
