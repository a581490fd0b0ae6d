package route

import (
	"fmt"

	"prejoin/pkg/cdc"
	"prejoin/pkg/readmodel"
)

// Touch is what one change means for one model.
type Touch struct {
	IDs     []string // documents named by the change, as PostgreSQL's text
	Lookups []Lookup
	Walk    bool // the table was truncated: every document of the shard
}

// Empty tells that the change touches no document of the model.
func (t Touch) Empty() bool { return len(t.IDs) == 0 && len(t.Lookups) == 0 && !t.Walk }

// Lookup is a question to the shard: which documents belong to this value?
type Lookup struct {
	Route int // index into the model's routes
	Value string
}

// MissingColumnError is a change without a column that a route needs: the
// table's replica identity does not hold it. Law 3 forbids to go on.
type MissingColumnError struct{ Table, Column string }

func (e *MissingColumnError) Error() string {
	return fmt.Sprintf("a change of %s names no old value of column %s, so the document that it belonged to is unknown: "+
		"run ALTER TABLE %s REPLICA IDENTITY FULL (or USING INDEX with that column), then backfill", e.Table, e.Column, e.Table)
}

// Router routes the changes of one model.
type Router struct {
	model  *readmodel.Model
	tables map[string][]int // "schema.table" → indexes of its routes
}

// New makes a router of the model's routes.
func New(m *readmodel.Model) *Router {
	r := &Router{model: m, tables: map[string][]int{}}
	for i, rt := range m.Routes {
		r.tables[rt.Table] = append(r.tables[rt.Table], i)
	}
	return r
}

// Wanted are the columns of a table that the routes use; nil for a table that
// no route names.
func (r *Router) Wanted(schema, table string) []string {
	var columns []string
	for _, i := range r.tables[schema+"."+table] {
		columns = append(columns, column(&r.model.Routes[i]))
	}
	return columns
}

// Routes tells whether a route names the table.
func (r *Router) Routes(schema, table string) bool { return r.tables[schema+"."+table] != nil }

func column(rt *readmodel.Route) string {
	if rt.ID != "" {
		return rt.ID
	}
	return rt.Key
}

// Route says what the change touches. Kinds other than rows and truncates touch
// nothing. The error is a MissingColumnError.
func (r *Router) Route(c *cdc.Change) (Touch, error) {
	routes := r.tables[c.Schema+"."+c.Table]
	var t Touch
	switch {
	case len(routes) == 0:
	case c.Kind == cdc.Truncate:
		t.Walk = true
	case c.Kind == cdc.Row:
		for _, i := range routes {
			if err := r.row(&t, i, c); err != nil {
				return Touch{}, err
			}
		}
	}
	return t, nil
}

func (r *Router) row(t *Touch, i int, c *cdc.Change) error {
	rt := &r.model.Routes[i]
	name := column(rt)
	values, err := images(c, name)
	if err != nil {
		return err
	}
	for _, v := range values {
		if rt.ID != "" {
			t.IDs = append(t.IDs, v)
		} else {
			t.Lookups = append(t.Lookups, Lookup{Route: i, Value: v})
		}
	}
	return nil
}

// images are the column's distinct values in the old and the new row. An update
// whose old image is absent did not change the replica identity, so its new
// image names the document; a delete must name it in the old one.
func images(c *cdc.Change, name string) ([]string, error) {
	before, hasBefore := c.Before[name]
	after, hasAfter := c.After[name]
	if !hasBefore && !hasAfter || (c.After == nil && !hasBefore) {
		return nil, &MissingColumnError{c.Schema + "." + c.Table, name}
	}
	var values []string
	if hasBefore && !before.Null {
		values = append(values, before.Text)
	}
	if hasAfter && !after.Null && (len(values) == 0 || values[0] != after.Text) {
		values = append(values, after.Text)
	}
	return values, nil
}
