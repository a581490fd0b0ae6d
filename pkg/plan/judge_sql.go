package plan

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"prejoin/pkg/postgres"
	"prejoin/pkg/readmodel"
)

func (j *judgement) statement(p part, st *postgres.Inspected) {
	if st.Error != "" {
		j.refuse(p.name, "PostgreSQL refuses the SQL: "+st.Error, mending(st.Code))
		return
	}
	j.out.Statements = append(j.out.Statements, Statement{Name: p.name, Reads: nonNil(st.Relations), Cost: st.Cost, Rows: st.Rows, Params: nonNil(st.Params)})
	if st.Locks {
		j.refuse(p.name, "the SQL locks or writes rows", "remove FOR UPDATE, FOR SHARE and what writes: it runs in a read-only snapshot")
	}
	for _, f := range st.Functions {
		j.hidden(p.name, f)
	}
	j.scans(p, st)
	switch {
	case p.name == "root":
		j.columns(p.name, st.Columns, stored(j.m.Fields), nil)
		j.param(p.name, st, "[]", j.idColumn(st))
	case p.name == "ids":
		j.single(p, st)
	case p.child >= 0:
		c := j.m.Children[p.child]
		j.columns(p.name, st.Columns, c.Fields, &c)
	default:
		j.lookup(p, st)
	}
}

// mending says what to do about a SQLSTATE (PostgreSQL manual, appendix A).
func mending(code string) string {
	switch code {
	case "42501":
		return "GRANT SELECT ON that table TO the role of the shard's DSN; where row security is on it, ALTER ROLE … BYPASSRLS"
	case "57014":
		return "planning took over 30 s; make the SQL simpler"
	}
	return "mend the SQL in the model file"
}

func nonNil(list []string) []string { return append([]string{}, list...) }

func (j *judgement) hidden(where, function string) {
	j.refuse(where, fmt.Sprintf("it calls the function %s, which may read tables that no route names", function),
		"write its SELECT out, or, if it reads no table, declare it: ALTER FUNCTION "+function+" IMMUTABLE;")
}

// scans refuses what reads a changing table from end to end for every batch.
func (j *judgement) scans(p part, st *postgres.Inspected) {
	for _, s := range st.Scans {
		r := j.facts.Relations[s.Relation]
		if p.name == "ids" || r == nil || indifferent(r, s) {
			continue
		}
		problem := fmt.Sprintf("no index serves its search of %s", s.Relation)
		if s.Filter != "" {
			problem += " by " + s.Filter
		}
		fix := fmt.Sprintf("CREATE INDEX CONCURRENTLY ON %s (the column that $1 or the join is compared with);", quoteTable(s.Relation))
		if _, use := j.covered(r); use == "static" {
			j.warn(p.name, problem, fix)
			continue
		}
		j.refuse(p.name, problem, fix)
	}
	if st.Sorts && (p.name == "ids" || p.route >= 0 && j.m.Routes[p.route].Fanout) {
		j.warn(p.name, "each page sorts all that is left of the walk", "make an index that has the order: the compared column, then the id")
	}
}

// small is a table on which all plans cost the same, bytes.
const small = 1 << 20

// indifferent tells that the planner had an index to take and did not care: on a
// small table, an analysed empty one above all, each plan is as cheap as another.
func indifferent(r *postgres.Relation, s postgres.Scan) bool {
	if r.Bytes >= small {
		return false
	}
	return s.Filter == "" || slices.ContainsFunc(r.Leading, func(column string) bool { return mentions(s.Filter, column) })
}

// mentions tells whether an expression names the column, as a whole word.
func mentions(expression, column string) bool {
	return slices.Contains(strings.FieldsFunc(expression, func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '_' && c != '$'
	}), column)
}

// stored are the fields that the root query returns.
func stored(fields []readmodel.Field) []readmodel.Field {
	var out []readmodel.Field
	for _, f := range fields {
		if f.Child == nil {
			out = append(out, f)
		}
	}
	return out
}

// columns compares a result with the fields it must fill; a child's has its
// parent column too.
func (j *judgement) columns(where string, columns []postgres.ResultColumn, fields []readmodel.Field, child *readmodel.Child) {
	seen := map[string]bool{}
	for _, c := range columns {
		if seen[c.Name] {
			j.refuse(where, fmt.Sprintf("the SQL returns two columns %q", c.Name), "give one another name with AS, or remove it")
		}
		seen[c.Name] = true
		i := slices.IndexFunc(fields, func(f readmodel.Field) bool { return f.Name == c.Name })
		switch {
		case child != nil && c.Name == child.Parent:
			j.parent(where, c)
		case i < 0:
			j.refuse(where, fmt.Sprintf("the SQL returns column %q, which is no field", c.Name), "add the field to the model, or remove the column")
		default:
			j.fits(where, c, &fields[i])
		}
	}
	for _, f := range fields {
		if !seen[f.Name] {
			j.refuse(where, fmt.Sprintf("the SQL returns no column %q", f.Name), fmt.Sprintf("select it AS %q, or remove the field", f.Name))
		}
	}
	if child != nil && !seen[child.Parent] {
		j.refuse(where, fmt.Sprintf("the SQL returns no column %q, which is its parent", child.Parent), fmt.Sprintf("select the document id AS %q", child.Parent))
	}
}

func (j *judgement) parent(where string, c postgres.ResultColumn) {
	if !same(c.Type, j.m.Field(j.m.ID).Type) {
		j.refuse(where, fmt.Sprintf("the parent column %q is %s and the id %s", c.Name, c.Type, j.m.Field(j.m.ID).Type), "cast it in the SQL")
	}
}

// same tells whether a column of that type can hold ids of the field's type.
func same(sqlType string, t readmodel.Type) bool {
	whole := sqlType == "bigint" || sqlType == "integer" || sqlType == "smallint"
	return whole == (t == readmodel.Int64)
}

// single checks a result that is one column of ids.
func (j *judgement) single(p part, st *postgres.Inspected) {
	if len(st.Columns) != 1 {
		j.refuse(p.name, fmt.Sprintf("the SQL returns %d columns", len(st.Columns)), "select the document id alone")
		return
	}
	if id := j.m.Field(j.m.ID); !same(st.Columns[0].Type, id.Type) {
		j.refuse(p.name, fmt.Sprintf("the SQL returns %s and the id %q is %s", st.Columns[0].Type, id.Name, id.Type), "select the document id")
	}
}

func (j *judgement) lookup(p part, st *postgres.Inspected) {
	j.single(p, st)
	route := j.m.Routes[p.route]
	for _, name := range st.Relations {
		if name == route.Table || slices.Contains(ancestors(j.facts, name), route.Table) {
			j.refuse(p.name, fmt.Sprintf("the lookup reads %s itself: a deleted row is gone when it runs, so its documents would stay as they were", route.Table),
				"use id: with a column of the replica identity, or look the ids up in the table that refers to this one")
			break
		}
	}
	r := j.facts.Relations[route.Table]
	if r == nil || r.Column(route.Key) == nil {
		return // reported with the table
	}
	suffix := "[]"
	if route.Fanout {
		suffix = ""
	}
	j.param(p.name, st, suffix, r.Column(route.Key).Type)
}

func ancestors(facts *postgres.Inspection, name string) []string {
	if r := facts.Relations[name]; r != nil {
		return r.Ancestors
	}
	return nil
}

// param compares the type that the server gave to $1 with the column whose
// values it will get.
func (j *judgement) param(where string, st *postgres.Inspected, suffix, column string) {
	if column == "" || len(st.Params) == 0 {
		return
	}
	got, ok := strings.CutSuffix(st.Params[0], suffix)
	switch {
	case !ok:
		j.refuse(where, fmt.Sprintf("$1 is %s, not an array", st.Params[0]), "compare with = ANY($1)")
	case suffix == "" && strings.HasSuffix(got, "[]"):
		j.refuse(where, fmt.Sprintf("$1 is the array %s; in a fanout lookup it is one value", st.Params[0]), "compare with = $1")
	case !holds(got, column):
		j.refuse(where, fmt.Sprintf("$1 is %s and its values are %s", st.Params[0], column), fmt.Sprintf("write $1::%s%s", column, suffix))
	}
}

// holds tells whether a parameter's type holds every value of a column's.
func holds(param, column string) bool {
	rank := map[string]int{"smallint": 1, "integer": 2, "bigint": 3, "numeric": 4}
	if rank[param] > 0 && rank[column] > 0 {
		return rank[param] >= rank[column]
	}
	text := func(t string) bool { return t == "text" || t == "character varying" }
	return param == column || text(param) && text(column)
}

// idColumn is the SQL type of the root's id column, "" where it is absent.
func (j *judgement) idColumn(st *postgres.Inspected) string {
	for _, c := range st.Columns {
		if c.Name == j.m.ID {
			base, _, _ := strings.Cut(c.Type, "(")
			return base
		}
	}
	return ""
}
