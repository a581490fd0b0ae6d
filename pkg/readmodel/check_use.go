package readmodel

import (
	"fmt"
	"slices"
	"strings"
)

func (c *checker) routes() {
	if c.empty("routes", len(c.m.Routes)) {
		c.fault("routes", "no route; without one no change reaches a document")
	}
	seen := map[Route]bool{}
	for i, r := range c.m.Routes {
		path := item("routes", i)
		c.table(path+".table", r.Table)
		c.route(path, r)
		if seen[r] && r.Table != "" {
			c.fault(path, "this route of %s stands twice; remove one", r.Table)
		}
		seen[r] = true
	}
}

func (c *checker) table(path, table string) bool {
	return c.matches(path, table, tableName, "\"schema.table\", such as public.settlement")
}

func (c *checker) route(path string, r Route) {
	_, id := c.at[path+".id"]
	_, lookup := c.at[path+".lookup"]
	switch {
	case id && lookup:
		c.fault(path+".lookup", "route %s has both id and lookup; keep the one that names the documents", r.Table)
	case !id && !lookup:
		c.fault(path, "route %s has neither id nor lookup; write id: settlement_id (a column of the changed row), or lookup: and key:", r.Table)
	case id:
		c.direct(path, r)
	default:
		c.lookup(path, r)
	}
}

func (c *checker) direct(path string, r Route) {
	c.matches(path+".id", r.ID, column, "the name of one column")
	if r.Key != "" {
		c.fault(path+".key", "route %s has a key beside its id; a key belongs to a lookup, remove it", r.Table)
	}
	if r.Fanout {
		c.fault(path+".fanout", "route %s names one document a row; fanout belongs to a lookup, remove it", r.Table)
	}
}

func (c *checker) lookup(path string, r Route) {
	if _, written := c.at[path+".key"]; !written {
		c.fault(path, "route %s has a lookup without a key; write key: id, the changed row's column whose values are $1", r.Table)
	}
	c.matches(path+".key", r.Key, column, "the name of one column")
	st := c.statement(path+".lookup", r.Lookup)
	if st == nil {
		return
	}
	if !r.Fanout {
		st.placeholders(1, "the array of the key's values")
		return
	}
	st.placeholders(3, "$1 one value, $2 the last id, $3 the page size")
	st.paged()
}

func (c *checker) statics() {
	for i, t := range c.m.Static {
		path := item("static", i)
		if !c.table(path, t) {
			continue
		}
		if slices.ContainsFunc(c.m.Routes, func(r Route) bool { return r.Table == t }) {
			c.fault(path, "%s is declared static and has a route; remove one", t)
		}
	}
}

func (c *checker) access() {
	if c.empty("access", len(c.m.Access)) {
		c.fault("access", "no access pattern; without one nothing can be asked")
	}
	indexes := map[string]int{}
	for i, a := range c.m.Access {
		path := item("access", i)
		before := len(c.errs)
		c.pattern(path, a)
		if len(c.errs) > before || a.Sort.Field == "" || a.Scope == "" {
			continue
		}
		key := fmt.Sprint(c.m.Index(a))
		if first, twice := indexes[key]; twice {
			c.fault(path, "makes the same index as access pattern %d; remove one", first+1)
			continue
		}
		indexes[key] = i
	}
}

func (c *checker) pattern(path string, a Access) {
	scoped := c.scopeOf(path, a)
	if f := c.asked(path+".sort", a.Sort.Field); f != nil {
		c.sortable(path+".sort", f)
	}
	if a.Range != "" && a.Range != a.Sort.Field {
		if c.known(path+".range", a.Range) != nil {
			c.fault(path+".range", "the range %q is not the sort field %q; an index serves a range only on the field it sorts by", a.Range, a.Sort.Field)
		}
	}
	for j, name := range a.Equal {
		at := item(path+".equal", j)
		f := c.asked(at, name)
		if f != nil && (f.Name == scoped || f.Name == a.Sort.Field) {
			c.fault(at, "%q is already the scope or sort field of this pattern; remove it", name)
		}
	}
}

// scopeOf returns the scope's field, "" for none.
func (c *checker) scopeOf(path string, a Access) string {
	if a.Scope == "" || a.Scope == "none" {
		return ""
	}
	names := []string{"none"}
	for _, sc := range c.m.Scope {
		if sc.Name == a.Scope {
			return sc.Field
		}
		names = append(names, sc.Name)
	}
	c.fault(path+".scope", "no scope %q; %s", clip(a.Scope), instead(a.Scope, names))
	return ""
}

// asked returns a field that a filter or sort may name. A field that some role
// sees masked is refused: a filter would give away what the mask hides.
func (c *checker) asked(path, name string) *Field {
	f := c.known(path, name)
	switch {
	case f == nil || f.Type == "":
		return nil
	case f.Type == Array:
		c.fault(path, "%q is an array; patterns name single values", name)
	case f.Name == c.m.ID:
		c.fault(path, "%q is the id, which ends every index already; name another field", name)
	case closed(f):
		c.fault(path, "%q has pii or roles; a filter or sort would give away what they hide", name)
	default:
		return f
	}
	return nil
}

func (c *checker) sortable(path string, f *Field) {
	if f.Type == Bool || f.Type == Enum {
		c.fault(path, "%q is %s; sort by a date, timestamp, number or text", f.Name, f.Type)
	}
}

func (c *checker) reports() {
	seen := map[string]bool{}
	for i, r := range c.m.Reports {
		path := item("reports", i)
		c.matches(path+".name", r.Name, wordName, "a lower-case word such as fee_lines")
		c.unique(path+".name", r.Name, "report", seen)
		c.columns(path, r)
		c.defaults(path, r)
		for j, role := range r.Roles {
			c.matches(item(path+".roles", j), role, wordName, "a role in lower case such as operator")
		}
	}
}

// columns checks a report's columns against its lines mode: "rows" needs the
// fields of exactly one child, "json" takes whole arrays, "none" neither.
func (c *checker) columns(path string, r Report) {
	if c.empty(path+".columns", len(r.Columns)) {
		c.fault(path+".columns", "report %q has no columns; list field names", r.Name)
	}
	children := map[string]bool{}
	for j, name := range r.Columns {
		at := item(path+".columns", j)
		parent, child, nested := strings.Cut(name, ".")
		f := c.known(at, parent)
		switch {
		case f == nil:
		case nested:
			children[parent] = true
			c.childColumn(at, f, child, r.Lines)
		case f.Type == Array && r.Lines != "json":
			c.fault(at, "%q is an array; write lines: json for one cell, or columns such as %q with lines: rows", name, name+"."+firstName(f))
		}
	}
	if r.Lines == "rows" && len(children) != 1 && len(r.Columns) > 0 {
		c.fault(path+".lines", "lines: rows needs the columns of exactly one child, such as lines.amount; this report has %d", len(children))
	}
}

func (c *checker) childColumn(path string, f *Field, name, lines string) {
	if f.Child == nil {
		c.fault(path, "%q has no parts; write %q", f.Name, f.Name)
		return
	}
	if lines != "rows" && lines != "" {
		c.fault(path, "%q is a column of a line; write lines: rows", f.Name+"."+name)
	}
	if i := slices.IndexFunc(f.Child.Fields, func(x Field) bool { return x.Name == name }); i < 0 {
		c.fault(path, "child %q has no field %q; %s", f.Name, clip(name), instead(name, childFields(f.Child)))
	}
}

func childFields(ch *Child) []string {
	var out []string
	for _, f := range ch.Fields {
		out = append(out, f.Name)
	}
	return out
}

func firstName(f *Field) string {
	if f.Child == nil || len(f.Child.Fields) == 0 {
		return "name"
	}
	return f.Child.Fields[0].Name
}

// defaults checks a report's own filters and sort.
func (c *checker) defaults(path string, r Report) {
	for name, value := range r.Filters {
		at := path + ".filters." + name
		if f := c.asked(at, name); f != nil && f.Type == Enum {
			c.enumFilter(at, f, value)
		}
	}
	if r.Sort == "" {
		return
	}
	want := sortKey(r.Sort)
	var served []string
	for _, a := range c.m.Access {
		if a.Sort == want {
			return
		}
		if text := a.Sort.String(); !contains(served, text) {
			served = append(served, text)
		}
	}
	c.fault(path+".sort", "no access pattern sorts by %q; %s", clip(r.Sort), instead(r.Sort, served))
}

func (c *checker) enumFilter(path string, f *Field, value string) {
	var known []string
	for _, v := range f.Values {
		known = append(known, v.Value)
	}
	value = strings.TrimPrefix(value, "in:")
	for _, v := range strings.Split(value, ",") {
		if !contains(known, v) {
			c.fault(path, "%q is no value of %q; %s", clip(v), f.Name, instead(v, known))
		}
	}
}
