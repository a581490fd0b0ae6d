package readmodel

import (
	"fmt"
	"slices"

	"github.com/goccy/go-yaml/ast"
)

var (
	fieldKeys = []string{"name", "type", "scale", "format", "label", "total", "values", "pii", "roles", "child"}
	childKeys = []string{"field", "parent", "query", "label", "fields"}
	types     = []string{"int64", "decimal", "text", "bool", "enum", "date", "timestamp"}
	views     = []string{"full", "masked", "hidden"}
	masks     = []string{"tail", "name", "all"}
)

func (s *source) children(o object) []Child {
	var out []Child
	s.entries(o, "children", "child", maxChildren, childKeys, func(e object) {
		c := Child{
			Field:  e.text("field", "field: lines"),
			Parent: e.text("parent", "parent: settlementId, the query's column that holds the document id"),
			Query:  e.text("query", "query: | and the SELECT below it"),
			Label:  s.label(e),
		}
		e.need("fields", "fields: [{name: kind, type: text, label: {en: Kind, ko: 구분}}]")
		s.entries(e, "fields", "field", maxFields, fieldKeys[:len(fieldKeys)-1], func(f object) {
			c.Fields = append(c.Fields, s.field(f))
		})
		out = append(out, c)
	})
	return out
}

// fields reads the document's fields in order. {child: lines} gives the place
// of a child's array; children without a place come last.
func (s *source) fields(o object, m *Model) []Field {
	o.need("fields", "fields: and one line a field below it")
	var out []Field
	s.entries(o, "fields", "field", maxFields, fieldKeys, func(e object) {
		if e.has("child") {
			out = s.placeChild(e, m, out)
			return
		}
		out = append(out, s.field(e))
	})
	for i := range m.Children {
		c := &m.Children[i]
		placed := slices.ContainsFunc(out, func(f Field) bool { return f.Child == c })
		if !placed {
			s.at[item("fields", len(out))] = s.place(item("children", i) + ".field")
			out = append(out, array(c))
		}
	}
	return out
}

func (s *source) placeChild(e object, m *Model, out []Field) []Field {
	name := e.text("child", "")
	if len(e.order) > 1 {
		s.fault(e.path, "%s has other keys beside \"child\"; write only {child: %s}, its fields and label stand under \"children\"", e.what, name)
	}
	i := slices.IndexFunc(m.Children, func(c Child) bool { return c.Field == name })
	if i < 0 {
		s.fault(join(e.path, "child"), "no child %q; %s", clip(name), instead(name, childNames(m)))
		return out
	}
	return append(out, array(&m.Children[i]))
}

func array(c *Child) Field {
	return Field{Name: c.Field, Type: Array, Label: c.Label, Child: c}
}

func childNames(m *Model) []string {
	var out []string
	for _, c := range m.Children {
		out = append(out, c.Field)
	}
	return out
}

func (s *source) field(e object) Field {
	f := Field{
		Name:   e.text("name", "name: amount"),
		Type:   Type(s.oneOf(e, "type", "type: text", types)),
		Format: e.optional("format"),
		Label:  s.label(e),
		Values: s.values(e),
		PII:    s.pii(e),
		Roles:  s.roles(e),
	}
	if e.has("total") {
		f.Total = s.oneOf(e, "total", "total: sum", []string{"sum"})
	}
	s.scale(e, &f)
	return f
}

func (s *source) scale(e object, f *Field) {
	switch {
	case f.Type == Decimal:
		f.Scale = e.integer("scale", "scale: 2, the digits after the point", 0, 34)
	case e.has("scale"):
		s.fault(join(e.path, "scale"), "%s has a scale but is no decimal; remove the key or write type: decimal", e.what)
	}
}

// oneOf reads a required word of a closed list.
func (s *source) oneOf(e object, key, example string, known []string) string {
	v := e.text(key, example)
	if v != "" && !contains(known, v) {
		s.fault(join(e.path, key), "%s has the unknown %s %q; %s", e.what, key, clip(v), instead(v, known))
		return ""
	}
	return v
}

func (s *source) label(e object) Label {
	n := e.need("label", "label: {en: Amount, ko: 정산금액}")
	if n == nil {
		return Label{}
	}
	return s.labelAt(n, join(e.path, "label"), "the label of "+e.what)
}

func (s *source) labelAt(n ast.Node, path, what string) Label {
	o := s.object(n, path, what, []string{"en", "ko"})
	l := Label{EN: o.text("en", "en: Amount"), KO: o.text("ko", "ko: 정산금액")}
	s.printable(join(o.path, "en"), l.EN)
	s.printable(join(o.path, "ko"), l.KO)
	return l
}

func (s *source) values(e object) []EnumValue {
	n := e.values["values"]
	if n == nil {
		return nil
	}
	o := s.object(n, join(e.path, "values"), "the values of "+e.what, nil)
	if len(o.order) > maxValues {
		s.fault(o.path, "more than %d values; use type: text", maxValues)
		return nil
	}
	var out []EnumValue
	for _, v := range o.order {
		label := s.labelAt(o.values[v], join(o.path, v), fmt.Sprintf("the label of value %q", v))
		out = append(out, EnumValue{Value: v, Label: label})
	}
	return out
}

func (s *source) pii(e object) *PII {
	n := e.values["pii"]
	if n == nil {
		return nil
	}
	o := s.object(n, join(e.path, "pii"), "pii of "+e.what, []string{"kind", "mask"})
	return &PII{
		Kind: o.text("kind", "kind: account"),
		Mask: s.oneOf(o, "mask", "mask: tail", masks),
	}
}

func (s *source) roles(e object) map[string]string {
	n := e.values["roles"]
	if n == nil {
		return nil
	}
	o := s.object(n, join(e.path, "roles"), "roles of "+e.what, nil)
	out := map[string]string{}
	for _, role := range o.order {
		out[role] = s.oneOf(o, role, "", views)
	}
	return out
}
