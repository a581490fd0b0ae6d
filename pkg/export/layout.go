package export

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"prejoin/pkg/readmodel"
)

// Line modes: what a table does with children. The JSON formats embed them in
// LinesJSON and in LinesRows.
const (
	LinesJSON = "json" // one cell holds the array as JSON
	LinesRows = "rows" // one row a child, the document's own fields repeated
	LinesNone = "none" // children do not leave
)

// Config says what a Layout holds.
type Config struct {
	// Columns are field names in the order wanted; "lines.amount" names a
	// child's field. Empty: all fields in model order.
	Columns  []string
	Lines    string         // a line mode; "": LinesJSON
	Lang     string         // "en" or "ko": headers are labels; "": headers are names
	Labels   bool           // enum values leave as labels (of Lang, else English), not codes
	Location *time.Location // the zone of timestamps; nil: UTC
}

// Column is one column of a table.
type Column struct {
	Field  *readmodel.Field // the document's field
	Child  *readmodel.Field // for a column of children: the child's field; else nil
	Name   string           // "amount", "lines.amount"
	Header string           // what the header row shows
}

// Layout is the compiled shape of an export. It is never changed after NewLayout,
// so the encoder and the digest of one export share it.
type Layout struct {
	fields  []*field // the fields that leave, in model order: a field's index is its slot
	order   []int    // slots in the order in which JSON writes them
	columns []tableColumn
	spread  int // LinesRows: the slot of the array that makes the rows; else -1
	keys    keyTable
	loc     *time.Location
}

// field is one field that leaves.
type field struct {
	*readmodel.Field
	path   string            // the name in reports of losses: "lines.amount"
	prefix []byte            // `"name":`
	labels map[string]string // enum: value → label; nil: codes leave
	parts  []*field          // array: the child's fields that leave, in model order
	order  []int             // array: parts in the order in which JSON writes them
	keys   keyTable          // array: the keys of a child
}

type tableColumn struct {
	Column
	slot, part int // part: the index in fields[slot].parts, or -1
	field      *field
}

// NewLayout compiles cfg for the model. The error names the column that is
// unknown or given twice and ends with what to write.
func NewLayout(m *readmodel.Model, cfg Config) (*Layout, error) {
	if err := checkConfig(&cfg); err != nil {
		return nil, err
	}
	picks, err := pick(m, cfg)
	if err != nil {
		return nil, err
	}
	l := &Layout{spread: -1, loc: cfg.Location}
	l.addFields(m, cfg, picks)
	if err := l.addColumns(cfg, picks); err != nil {
		return nil, err
	}
	l.tellApart(cfg.Lang)
	l.keys = rootKeys(m, l.fields)
	return l, nil
}

// Columns are the table's columns in order.
func (l *Layout) Columns() []Column {
	cs := make([]Column, len(l.columns))
	for i, c := range l.columns {
		cs[i] = c.Column
	}
	return cs
}

// Fields are the names of the document's fields that leave, in model order: what
// a projection must hold.
func (l *Layout) Fields() []string {
	names := make([]string, len(l.fields))
	for i, f := range l.fields {
		names[i] = f.Name
	}
	return names
}

// Location is the zone of timestamps.
func (l *Layout) Location() *time.Location { return l.loc }

func checkConfig(cfg *Config) error {
	if cfg.Location == nil {
		cfg.Location = time.UTC
	}
	if cfg.Lines == "" {
		cfg.Lines = LinesJSON
	}
	if !slices.Contains([]string{LinesJSON, LinesRows, LinesNone}, cfg.Lines) {
		return fmt.Errorf("line mode %q is unknown: write rows, json or none", cfg.Lines)
	}
	if !slices.Contains([]string{"", "en", "ko"}, cfg.Lang) {
		return fmt.Errorf("language %q is unknown: write en or ko", cfg.Lang)
	}
	return nil
}

// chosen is one wanted column: a field, or one field of an array's child.
type chosen struct{ field, child *readmodel.Field }

func (c chosen) name() string {
	if c.child == nil {
		return c.field.Name
	}
	return c.field.Name + "." + c.child.Name
}

// pick resolves the column names. An array wanted whole becomes its child's fields
// one by one, so that later steps know one form only.
func pick(m *readmodel.Model, cfg Config) ([]chosen, error) {
	names := cfg.Columns
	if len(names) == 0 {
		for i := range m.Fields {
			names = append(names, m.Fields[i].Name)
		}
	}
	var picks []chosen
	seen := map[string]bool{}
	for _, name := range names {
		found, err := find(m, name)
		if err != nil {
			return nil, err
		}
		for _, c := range found {
			if seen[c.name()] {
				return nil, fmt.Errorf("column %q is given twice: name each column once", c.name())
			}
			seen[c.name()] = true
			if c.child == nil || cfg.Lines != LinesNone {
				picks = append(picks, c)
			}
		}
	}
	if len(picks) == 0 {
		return nil, fmt.Errorf("no column is left with lines=none: name a field of the document")
	}
	return picks, nil
}

func find(m *readmodel.Model, name string) ([]chosen, error) {
	head, tail, dotted := strings.Cut(name, ".")
	f := m.Field(head)
	switch {
	case f == nil:
		return nil, unknownColumn(m, name)
	case f.Type != readmodel.Array && !dotted:
		return []chosen{{field: f}}, nil
	case f.Type != readmodel.Array:
		return nil, unknownColumn(m, name)
	}
	var found []chosen
	for i := range f.Child.Fields {
		if c := &f.Child.Fields[i]; !dotted || c.Name == tail {
			found = append(found, chosen{field: f, child: c})
		}
	}
	if len(found) == 0 {
		return nil, unknownColumn(m, name)
	}
	return found, nil
}

func unknownColumn(m *readmodel.Model, name string) error {
	var names []string
	for i := range m.Fields {
		f := &m.Fields[i]
		names = append(names, f.Name)
		if f.Type != readmodel.Array {
			continue
		}
		for j := range f.Child.Fields {
			names = append(names, f.Name+"."+f.Child.Fields[j].Name)
		}
	}
	return fmt.Errorf("column %q is unknown: write one of %s", name, strings.Join(names, ", "))
}
