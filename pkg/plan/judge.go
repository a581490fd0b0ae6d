package plan

import (
	"fmt"
	"maps"
	"slices"

	"prejoin/pkg/postgres"
	"prejoin/pkg/readmodel"
)

// judgement turns the facts of one shard into a Shard.
type judgement struct {
	m     *readmodel.Model
	facts *postgres.Inspection
	out   *Shard
}

func judge(m *readmodel.Model, publication string, parts []part, facts *postgres.Inspection) Shard {
	j := &judgement{m: m, facts: facts, out: &Shard{Name: facts.Shard, Version: facts.Version, Findings: []Finding{}}}
	for _, t := range routed(m) {
		j.out.Topics = append(j.out.Topics, facts.Shard+"."+t)
	}
	j.publication(publication)
	for i, p := range parts {
		j.statement(p, &facts.Statements[i])
	}
	for _, name := range slices.Sorted(maps.Keys(j.used())) {
		j.table(name, publication)
	}
	return *j.out
}

func (j *judgement) refuse(where, problem, fix string) {
	j.find(Finding{Refused, where, problem, fix})
}

func (j *judgement) warn(where, problem, fix string) {
	j.find(Finding{Warning, where, problem, fix})
}

// find keeps a finding once: several statements may have the same fault.
func (j *judgement) find(f Finding) {
	if !slices.Contains(j.out.Findings, f) {
		j.out.Findings = append(j.out.Findings, f)
	}
}

// routed are the tables of the routes, each once, in the file's order.
func routed(m *readmodel.Model) []string {
	var list []string
	for _, r := range m.Routes {
		if !slices.Contains(list, r.Table) {
			list = append(list, r.Table)
		}
	}
	return list
}

// used are all relations that the SQL reads or that the file names.
func (j *judgement) used() map[string]bool {
	used := map[string]bool{}
	for _, t := range tablesOf(j.m) {
		used[t] = true
	}
	for _, st := range j.facts.Statements {
		for _, r := range st.Relations {
			used[r] = true
		}
	}
	return used
}

// covered returns the routed or static table that stands for a relation: itself
// or a partitioned table above it; "" where there is none.
func (j *judgement) covered(r *postgres.Relation) (table, use string) {
	for _, name := range append([]string{r.Name}, r.Ancestors...) {
		switch {
		case slices.Contains(routed(j.m), name):
			return name, "routed"
		case slices.Contains(j.m.Static, name):
			return name, "static"
		}
	}
	return "", ""
}

// needs are the columns of a table that its routes use.
func (j *judgement) needs(table string) []string {
	var list []string
	for _, r := range j.m.Routes {
		column := r.Key
		if r.ID != "" {
			column = r.ID
		}
		if r.Table == table && !slices.Contains(list, column) {
			list = append(list, column)
		}
	}
	return list
}

func (j *judgement) publication(name string) {
	p := j.facts.Publication
	if p == nil {
		j.refuse("publication "+name, "there is no publication of that name", fmt.Sprintf("run migrations/postgres/prejoin, or CREATE PUBLICATION %s FOR TABLE …; or name yours with --publication", quote(name)))
		return
	}
	if len(p.Actions) < 4 {
		j.refuse("publication "+name, fmt.Sprintf("it publishes only %v: other changes would be lost", p.Actions), fmt.Sprintf("ALTER PUBLICATION %s SET (publish = 'insert, update, delete, truncate');", quote(name)))
	}
}
