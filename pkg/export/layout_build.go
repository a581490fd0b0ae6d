package export

import (
	"fmt"
	"slices"

	"prejoin/pkg/readmodel"
)

// addFields fills fields (model order) and order (wanted order).
func (l *Layout) addFields(m *readmodel.Model, cfg Config, picks []chosen) {
	for i := range m.Fields {
		mf := &m.Fields[i]
		if !slices.ContainsFunc(picks, func(c chosen) bool { return c.field == mf }) {
			continue
		}
		f := newField(mf, mf.Name, cfg)
		if mf.Type == readmodel.Array {
			f.addParts(cfg, picks)
		}
		l.fields = append(l.fields, f)
	}
	for _, c := range picks {
		if s := l.slot(c.field); !slices.Contains(l.order, s) {
			l.order = append(l.order, s)
		}
	}
}

func (f *field) addParts(cfg Config, picks []chosen) {
	for i := range f.Child.Fields {
		mf := &f.Child.Fields[i]
		if slices.Contains(picks, chosen{f.Field, mf}) {
			f.parts = append(f.parts, newField(mf, f.Name+"."+mf.Name, cfg))
		}
	}
	for _, c := range picks {
		if c.field == f.Field {
			f.order = append(f.order, f.part(c.child))
		}
	}
	f.keys = childKeys(f)
}

func (l *Layout) slot(mf *readmodel.Field) int {
	return slices.IndexFunc(l.fields, func(f *field) bool { return f.Field == mf })
}

func (f *field) part(mf *readmodel.Field) int {
	return slices.IndexFunc(f.parts, func(p *field) bool { return p.Field == mf })
}

func newField(mf *readmodel.Field, path string, cfg Config) *field {
	f := &field{Field: mf, path: path}
	f.prefix, _ = appendString(nil, []byte(mf.Name))
	f.prefix = append(f.prefix, ':')
	if mf.Type == readmodel.Enum && cfg.Labels {
		f.labels = map[string]string{}
		for _, v := range mf.Values {
			f.labels[v.Value] = label(v.Label, cfg.Lang, v.Value)
		}
	}
	return f
}

// addColumns fills columns. With LinesRows each child's field is a column of its
// own; with LinesJSON an array is one column, where its first field stood.
func (l *Layout) addColumns(cfg Config, picks []chosen) error {
	for _, c := range picks {
		slot := l.slot(c.field)
		switch {
		case c.child == nil:
			l.columns = append(l.columns, l.column(cfg, c, slot, -1))
		case cfg.Lines == LinesRows:
			if l.spread >= 0 && l.spread != slot {
				return fmt.Errorf("columns of two children (%s, %s) cannot both make rows: name one of them, or write lines=json",
					l.fields[l.spread].Name, c.field.Name)
			}
			l.spread = slot
			l.columns = append(l.columns, l.column(cfg, c, slot, l.fields[slot].part(c.child)))
		case !slices.ContainsFunc(l.columns, func(t tableColumn) bool { return t.slot == slot }):
			l.columns = append(l.columns, l.column(cfg, chosen{field: c.field}, slot, -1))
		}
	}
	return nil
}

func (l *Layout) column(cfg Config, c chosen, slot, part int) tableColumn {
	t := tableColumn{slot: slot, part: part, field: l.fields[slot]}
	t.Column = Column{Field: c.field, Child: c.child, Name: c.name(), Header: c.name()}
	if part >= 0 {
		t.field = t.field.parts[part]
	}
	if cfg.Lang != "" {
		t.Header = header(cfg.Lang, c)
	}
	return t
}

// header is a column's label, for a child's field without the array's.
func header(lang string, c chosen) string {
	if c.child != nil {
		return label(c.child.Label, lang, c.child.Name)
	}
	return arrayLabel(lang, c.field)
}

func arrayLabel(lang string, f *readmodel.Field) string {
	name := label(f.Label, lang, f.Name)
	if f.Child != nil {
		name = label(f.Child.Label, lang, name)
	}
	return name
}

// tellApart puts the array's label before a child's where another column has the same.
func (l *Layout) tellApart(lang string) {
	count := map[string]int{}
	for _, c := range l.columns {
		count[c.Header]++
	}
	for i := range l.columns {
		if c := &l.columns[i]; lang != "" && c.Child != nil && count[c.Header] > 1 {
			c.Header = arrayLabel(lang, c.Field) + " " + c.Header
		}
	}
}

func label(l readmodel.Label, lang, otherwise string) string {
	switch {
	case lang == "ko" && l.KO != "":
		return l.KO
	case l.EN != "":
		return l.EN
	}
	return otherwise
}
