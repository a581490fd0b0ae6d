package export

import (
	"fmt"
	"strconv"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/bsontype"

	"prejoin/pkg/readmodel"
)

// CSVConfig are the choices that only CSV has; the zero value is the default.
type CSVConfig struct {
	NoBOM   bool // leave the byte order mark out
	Guard   bool // put an apostrophe before formula-like text; see the package's text
	EndLine bool // a last row "#end rows=N digest=…" in the first column
}

// CSV writes a table by RFC 4180.
type CSV struct {
	buffer
	jsonWriter
	cfg     CSVConfig
	scratch []byte
}

// NewCSV makes a CSV encoder.
func NewCSV(l *Layout, cfg CSVConfig) *CSV { return &CSV{jsonWriter: newJSONWriter(l), cfg: cfg} }

// Begin writes the byte order mark and the header row.
func (c *CSV) Begin() error {
	if !c.cfg.NoBOM {
		c.buf = append(c.buf, "\xEF\xBB\xBF"...)
	}
	for i, col := range c.layout.columns {
		c.buf = c.quote(appendComma(c.buf, i), []byte(col.Header))
	}
	c.buf = append(c.buf, '\r', '\n')
	return nil
}

// Row appends the document: one line, or one a child with LinesRows (one with
// empty child columns where it has none).
func (c *CSV) Row(doc bson.Raw) error {
	if err := c.walk.walk(doc); err != nil {
		return err
	}
	if c.layout.spread < 0 {
		return c.line()
	}
	return c.layout.eachLine(c.walk, c.parts[c.layout.spread], &c.losses, c.line)
}

// End appends the end row where it was asked for.
func (c *CSV) End(s Summary) error {
	if !c.cfg.EndLine {
		return nil
	}
	c.buf = fmt.Appendf(c.buf, "#end rows=%d digest=%s", s.Rows, s.Digest)
	for range c.layout.columns[1:] {
		c.buf = append(c.buf, ',')
	}
	c.buf = append(c.buf, '\r', '\n')
	return nil
}

// ContentType is CSV's.
func (c *CSV) ContentType() string { return "text/csv; charset=utf-8; header=present" }

// Extension is "csv".
func (c *CSV) Extension() string { return "csv" }

func (c *CSV) line() (err error) {
	for i := range c.layout.columns {
		col := &c.layout.columns[i]
		c.buf = appendComma(c.buf, i)
		if c.buf, err = c.cell(c.buf, col); err != nil {
			return err
		}
	}
	c.buf = append(c.buf, '\r', '\n')
	return nil
}

func (c *CSV) cell(dst []byte, col *tableColumn) (_ []byte, err error) {
	v, f := col.value(c.walk, c.parts), col.field
	switch {
	case v.kind == bsontype.Null || v.kind == 0:
		if v.kind == 0 {
			c.losses.add(f, LossMissing)
		}
		return c.null(dst), nil
	case f.parts != nil && v.kind == bsontype.Array:
		c.scratch, err = c.array(c.scratch[:0], f, col.slot)
		return c.quote(dst, c.scratch), err
	case !fits(f.Type, v):
		c.losses.add(f, LossType)
		c.scratch = appendPlain(c.scratch[:0], v)
		return c.text(dst, f, c.scratch), nil
	}
	return c.typed(dst, f, v), nil
}

// typed appends a value of the model's type. Only text can need quotes.
func (c *CSV) typed(dst []byte, f *field, v value) []byte {
	switch f.Type {
	case readmodel.Int64:
		return strconv.AppendInt(dst, v.int(), 10)
	case readmodel.Decimal:
		dst, finite := appendDecimal(dst, v.data)
		if !finite {
			c.losses.add(f, LossFinite)
		}
		return dst
	case readmodel.Bool:
		return strconv.AppendBool(dst, v.data[0] != 0)
	case readmodel.Date:
		return appendDate(dst, v.int()/dayMillis)
	case readmodel.Timestamp:
		return c.clock.appendTimestamp(dst, v.int())
	}
	return c.text(dst, f, c.losses.text(f, v))
}

// null is an empty field; alone in its line it is quoted, or readers would skip
// the line as blank.
func (c *CSV) null(dst []byte) []byte {
	if len(c.layout.columns) == 1 {
		return append(dst, '"', '"')
	}
	return dst
}
