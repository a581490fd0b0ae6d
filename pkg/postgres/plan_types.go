package postgres

// Inspection is what a shard says about the SQL and the tables of a model. It
// holds facts alone; package plan judges them.
type Inspection struct {
	Shard       string
	Version     string // server_version
	Statements  []Inspected
	Relations   map[string]*Relation // by "schema.name"; a table that does not exist is absent
	Publication *Publication         // nil where there is none of that name
}

// Inspected is one statement of the model as the server understands it.
type Inspected struct {
	Error     string   // the server's, with its hint; the rest is empty then
	Code      string   // the error's SQLSTATE
	Params    []string // the types of $1, $2, …, as format_type writes them
	Columns   []ResultColumn
	Cost      float64  // the planner's, of a plan that knows no parameter values
	Rows      float64  // the planner's guess
	Relations []string // tables, views and leaves that planning locked, "schema.name", sorted
	Scans     []Scan   // what would be read from end to end even if that were very expensive
	Sorts     bool     // the plan sorts all it reads, even if that were very expensive
	Locks     bool     // it locks or writes rows, which a read-only snapshot refuses
	Functions []string // functions called that may read tables unseen, "schema.name"
}

// ResultColumn is a column of a statement's result.
type ResultColumn struct {
	Name      string
	Type      string // as format_type writes it, with its modifier
	OID       uint32
	Typmod    int32
	Precision int // numeric's digits, timestamptz's fraction digits; -1 unlimited
	Scale     int // numeric's digits after the point; -1 unlimited
}

// Scan is a relation that no index helps to read.
type Scan struct{ Relation, Filter string }

// Relation is a table or what stands in its place.
type Relation struct {
	Name        string // "schema.name"
	Kind        string // pg_class.relkind: r table, p partitioned, v view, m materialized view, f foreign table
	Bytes       int64
	Columns     []TableColumn
	Identity    string   // pg_class.relreplident: d default, n nothing, f full, i index
	Identities  []string // the columns of that identity; all of them where it is full
	Unique      []UniqueIndex
	Leading     []string // first columns of its indexes
	Ancestors   []string // partitioned tables above it, nearest first
	Leaves      []string // partitions that hold rows
	Published   bool
	PublishedAs []string // the columns that are published; nil: all
	RowFilter   string
	Functions   []string // of a view: functions that may read tables unseen
}

// TableColumn is a column of a table.
type TableColumn struct {
	Name    string
	Type    string // as format_type writes it, without a modifier
	NotNull bool
}

// UniqueIndex could be a replica identity: unique, immediate, over whole rows
// and plain columns.
type UniqueIndex struct {
	Name    string // without its schema, which is the table's
	Columns []string
	Primary bool
}

// Publication is the one that the change events come from.
type Publication struct {
	Name    string
	Actions []string // of insert, update, delete, truncate
	ViaRoot bool     // partitions are published as their root
	Tables  int
}

// Column returns the column of that name, or nil.
func (r *Relation) Column(name string) *TableColumn {
	for i := range r.Columns {
		if r.Columns[i].Name == name {
			return &r.Columns[i]
		}
	}
	return nil
}
