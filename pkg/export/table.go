package export

import (
	"bytes"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/bsontype"

	"prejoin/pkg/readmodel"
)

// CellKind says what a Cell holds.
type CellKind byte

// The kinds of cells.
const (
	Empty     CellKind = iota // null
	Number                    // Int
	Decimal                   // see AppendDecimal; always finite
	String                    // Text, valid UTF-8
	Boolean                   // Int is 1 for true
	Day                       // Int: days since 1970-01-01
	Timestamp                 // Int: milliseconds since 1970 in UTC; Offset
)

// Cell is one value of a table, by the model's type. A value that is not of the
// model's type is a String and has been counted as a Loss.
type Cell struct {
	Kind   CellKind
	Int    int64
	Offset int64  // Timestamp: seconds east of UTC at that time in the layout's zone
	Text   []byte // valid until the next Cell
	data   []byte
}

// AppendDecimal appends a Decimal with all its digits: plain ("120.50"), or scientific
// ("1E+3") where its exponent is positive or very small.
func (c Cell) AppendDecimal(dst []byte) []byte {
	dst, _ = appendDecimal(dst, c.data)
	return dst
}

// Table gives the lines of a table, for encoders whose rows are not JSON. Not for use by two
// goroutines.
type Table struct {
	jsonWriter
	scratch []byte
}

// NewTable makes a Table for the layout.
func NewTable(l *Layout) *Table { return &Table{jsonWriter: newJSONWriter(l)} }

// Lines calls line for each line that the document makes: one, or one a child with
// LinesRows (one with empty child columns where it has none). line asks for cells.
func (t *Table) Lines(doc bson.Raw, line func() error) error {
	t.err = nil
	if err := t.walk.walk(doc); err != nil {
		return err
	}
	if t.layout.spread < 0 {
		return line()
	}
	return t.layout.eachLine(t.walk, t.parts[t.layout.spread], t.losses, line)
}

// Lost counts a value of the column that the format could not hold.
func (t *Table) Lost(column int, kind string) { t.losses.add(t.layout.columns[column].field, kind) }

// Cell is the value of the column in the present line; the error is ErrDocument.
func (t *Table) Cell(column int) (Cell, error) {
	c := &t.layout.columns[column]
	v, f := c.value(t.walk, t.parts), c.field
	switch {
	case v.kind == bsontype.Null:
		return Cell{}, nil
	case v.kind == 0:
		t.losses.add(f, LossMissing)
		return Cell{}, nil
	case fits(f.Type, v):
		return t.typed(f, v), nil
	case f.parts != nil && v.kind == bsontype.Array:
		return t.list(f, c.slot)
	}
	t.losses.add(f, LossType)
	return t.text(f, t.plain(v)), t.err
}

func (t *Table) typed(f *field, v value) Cell {
	switch f.Type {
	case readmodel.Int64:
		return Cell{Kind: Number, Int: v.int()}
	case readmodel.Decimal:
		if v.data[15]&0x78 == 0x78 { // NaN or an infinity
			t.losses.add(f, LossFinite)
			return Cell{Kind: String, Text: t.plain(v)}
		}
		return Cell{Kind: Decimal, data: v.data}
	case readmodel.Bool:
		return Cell{Kind: Boolean, Int: int64(v.data[0])}
	case readmodel.Date:
		return Cell{Kind: Day, Int: v.int() / dayMillis}
	case readmodel.Timestamp:
		return Cell{Kind: Timestamp, Int: v.int(), Offset: t.clock.at(v.int())}
	}
	return t.text(f, t.losses.text(f, v))
}

func (t *Table) text(f *field, s []byte) Cell {
	if !utf8.Valid(s) {
		t.losses.add(f, LossUTF8)
		s = bytes.ToValidUTF8(s, []byte("\uFFFD"))
	}
	return Cell{Kind: String, Text: s}
}

// list is an array as JSON.
func (t *Table) list(f *field, slot int) (_ Cell, err error) {
	if t.scratch, err = t.array(t.scratch[:0], f, slot); err == nil {
		err = t.err
	}
	return Cell{Kind: String, Text: t.scratch}, err
}

// AppendTimestamp appends a Timestamp cell as ISO 8601 in the layout's zone.
func (t *Table) AppendTimestamp(dst []byte, c Cell) []byte {
	return t.clock.appendTimestamp(dst, c.Int)
}

// AppendDay appends a Day cell as YYYY-MM-DD.
func AppendDay(dst []byte, c Cell) []byte { return appendDate(dst, c.Int) }
