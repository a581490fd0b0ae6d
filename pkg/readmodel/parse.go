package readmodel

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
)

// MaxBytes is the largest model file that is read.
const MaxBytes = 1 << 20

// Limits of a model. They are far above what a model needs and keep an error
// in a generated file from becoming a thousand indexes.
const (
	maxFields   = 300
	maxChildren = 8
	maxValues   = 300
	maxRoutes   = 64
	maxStatic   = 64
	maxScopes   = 8
	maxAccess   = 20
	maxEqual    = 4
	maxReports  = 50
	maxColumns  = 1000
	maxRoles    = 32
	maxSQL      = 64 << 10
)

// Parse reads the text of a model file. name stands in messages only. The
// error, if any, is of type Errors and holds every fault of the text.
func Parse(name string, text []byte) (*Model, error) {
	s := &source{name: name, at: map[string]position{"": {1, 1}}}
	m := s.model(text)
	if len(s.errs) > 0 {
		s.errs.sort()
		return nil, s.errs
	}
	m.Text = string(text)
	m.Shape = m.shape()
	return m, nil
}

func (s *source) model(text []byte) *Model {
	if len(text) > MaxBytes {
		s.errorf(position{}, "the file has %d bytes; a model has at most %d, so this is another file", len(text), MaxBytes)
		return nil
	}
	if !utf8.Valid(text) {
		s.errorf(invalidAt(text), "not UTF-8 text; save the file as UTF-8")
		return nil
	}
	top := s.document(strings.TrimPrefix(string(text), "\ufeff"))
	if top == nil {
		return nil
	}
	m := s.read(top)
	(&checker{source: s, m: m}).run()
	return m
}

// invalidAt finds the first byte that is not UTF-8.
func invalidAt(text []byte) position {
	at := position{1, 1}
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && n == 1:
			return at
		case r == '\n':
			at = position{at.line + 1, 1}
		default:
			at.column++
		}
		text = text[n:]
	}
	return at
}

var modelKeys = []string{"model", "version", "id", "scope", "root", "ids", "children", "routes", "static", "fields", "access", "reports"}

func (s *source) read(top ast.Node) *Model {
	o := s.object(top, "", "the model", modelKeys)
	m := &Model{
		Name:    o.text("model", "model: settlement"),
		Version: o.integer("version", "version: 1", 1, 1_000_000),
		ID:      o.text("id", "id: settlementId"),
		Root:    o.text("root", "root: | and the SELECT below it"),
		IDs:     o.text("ids", `ids: "SELECT id FROM t WHERE ($1::bigint IS NULL OR id > $1) ORDER BY id LIMIT $2"`),
	}
	m.Scope = s.scopes(o)
	m.Children = s.children(o)
	m.Fields = s.fields(o, m)
	m.Routes = s.routes(o)
	m.Static = o.texts("static", maxStatic)
	m.Access = s.accesses(o)
	m.Reports = s.reports(o)
	return m
}

func (s *source) scopes(o object) []Scope {
	n := o.need("scope", "scope: {merchant: merchantId}")
	if n == nil {
		return nil
	}
	so := s.object(n, "scope", "scope", nil)
	var out []Scope
	for _, name := range so.order {
		if len(out) == maxScopes {
			s.fault("scope", "more than %d scopes; a principal is limited by few", maxScopes)
			break
		}
		out = append(out, Scope{Name: name, Field: so.text(name, "")})
	}
	return out
}

// entries reads a list of mappings and calls read for each.
func (s *source) entries(o object, key, what string, most int, known []string, read func(object)) {
	for i, n := range o.list(key, most) {
		path := item(join(o.path, key), i)
		e := s.object(n, path, fmt.Sprintf("%s %d", what, i+1), known)
		if name, ok := e.name(); ok {
			e.what = fmt.Sprintf("%s %q", what, name)
		}
		read(e)
	}
}

// name is what messages call an entry by: its name, field or table.
func (o object) name() (string, bool) {
	for _, key := range []string{"name", "field", "table", "child"} {
		if n := o.values[key]; n != nil {
			v, ok := plain(n)
			return v, ok && len(v) <= 80
		}
	}
	return "", false
}
