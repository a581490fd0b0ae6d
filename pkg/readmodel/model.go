package readmodel

import "fmt"

// Model is one read model: what a document holds, which SQL builds it, which
// changes touch it, and how it may be asked for. A Model that Parse returned is
// valid; it is never changed afterwards, so it may be shared by goroutines.
type Model struct {
	Name    string  // URL segment and collection stem: [a-z][a-z0-9_]*
	Version int     // raised on a change of shape; 1 or more
	ID      string  // the field that is the document's _id; int64 or text
	Scope   []Scope // what a principal can be limited to
	Root    string  // SQL, one row a document; $1 is the array of ids
	// IDs is the SQL that walks all ids of a shard in pages: $1 is the last id
	// seen (NULL for the first page), $2 the page size; one column, ascending.
	IDs      string
	Children []Child
	Routes   []Route
	Static   []string // tables the SQL reads that never change: "schema.table"
	Fields   []Field  // in document order
	Access   []Access
	Reports  []Report
	Text     string // the file as it was read
	Shape    string // SHA-256 (hex) of the SQL, ids and field types
}

// Scope names a stored field that a principal can be limited to.
type Scope struct{ Name, Field string }

// Child is a one-to-many part, embedded as an array of typed documents. Its
// query returns the Parent column first, then one column a field.
type Child struct {
	Field  string // the document's field that holds the array
	Parent string // the query's column that holds the document id
	Query  string // SQL; $1 is the array of ids; must be ordered
	Label  Label
	Fields []Field
}

// Route says which documents a changed row touches. Exactly one of ID and
// Lookup is set.
type Route struct {
	Table  string // "schema.table"
	ID     string // the changed row's column that is the document id
	Lookup string // SQL from the values of Key to ids
	Key    string // with Lookup: the changed row's column
	Fanout bool   // many documents a row: Lookup pages by ($1 value, $2 last id, $3 page size)
}

// Type is how a value is stored in a document.
type Type string

// The types and their BSON forms. Every field may be null.
const (
	Int64     Type = "int64"     // BSON int64
	Decimal   Type = "decimal"   // Decimal128 with exactly Scale fraction digits
	Text      Type = "text"      // UTF-8 string
	Bool      Type = "bool"      // boolean
	Enum      Type = "enum"      // string, one of Values
	Date      Type = "date"      // BSON datetime at 00:00 UTC of that day
	Timestamp Type = "timestamp" // BSON datetime, milliseconds, UTC
	Array     Type = "array"     // a Child's rows; set by the parser, never written in a file
)

// Field is one stored field.
type Field struct {
	Name   string
	Type   Type
	Scale  int    // decimal: digits after the point
	Format string // a number format for spreadsheets, such as #,##0
	Label  Label
	Total  string // "", "sum"
	Values []EnumValue
	PII    *PII
	Roles  map[string]string // role → "full", "masked" or "hidden"
	Child  *Child            // Array: the part it holds
}

// Label is a name for people, in English and Korean.
type Label struct{ EN, KO string }

// EnumValue is one value of an enum and its label.
type EnumValue struct {
	Value string
	Label Label
}

// PII marks a personal field: its kind (account, name, phone, …) and mask.
type PII struct{ Kind, Mask string }

// Access is one index and the question it may be asked: the scope field, then
// fields compared for equality, then one that ranges and sorts, then _id.
type Access struct {
	Scope string   // a Scope's name, or "none": operators only
	Equal []string // fields compared by equality, all required
	Range string   // the field that may be limited to a range; "" or Sort's field
	Sort  SortKey
}

// SortKey is a field and its direction; ties are broken by _id in the same direction.
type SortKey struct {
	Field string
	Desc  bool
}

// Report is an export layout that analysts know by name.
type Report struct {
	Name    string
	Label   Label
	Columns []string // field names, in order; "lines.amount" names a child's field
	Lines   string   // "none", "rows" (a row a child), "json" (one cell)
	Filters map[string]string
	Sort    string
	Roles   []string // who may use it; empty: all
}

// Collection is the MongoDB collection of this model and version.
func (m *Model) Collection() string { return fmt.Sprintf("%s_v%d", m.Name, m.Version) }

// Field returns the field of that name, or nil.
func (m *Model) Field(name string) *Field {
	for i := range m.Fields {
		if m.Fields[i].Name == name {
			return &m.Fields[i]
		}
	}
	return nil
}

// Key is the BSON key that a field is stored under: "_id" for the id field,
// else the field's name.
func (m *Model) Key(field string) string {
	if field == m.ID {
		return "_id"
	}
	return field
}
