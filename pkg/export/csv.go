package export

import (
	"bytes"
	"fmt"
	"strconv"

	"go.mongodb.org/mongo-driver/bson"
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
	*Table
	cfg     CSVConfig
	columns int
	each    func() error // line, bound once
}

// NewCSV makes a CSV encoder.
func NewCSV(l *Layout, cfg CSVConfig) *CSV {
	c := &CSV{Table: NewTable(l), cfg: cfg, columns: len(l.columns)}
	c.each = c.line
	return c
}

// Begin writes the byte order mark and the header row.
func (c *CSV) Begin() error {
	if !c.cfg.NoBOM {
		c.buf = append(c.buf, "\xEF\xBB\xBF"...)
	}
	for i, col := range c.layout.columns {
		c.buf = appendQuoted(appendComma(c.buf, i), []byte(col.Header))
	}
	c.buf = append(c.buf, '\r', '\n')
	return nil
}

// Row appends the document's lines.
func (c *CSV) Row(doc bson.Raw) error { return c.Lines(doc, c.each) }

// End appends the end row where it was asked for.
func (c *CSV) End(s Summary) error {
	if !c.cfg.EndLine {
		return nil
	}
	c.buf = fmt.Appendf(c.buf, "#end rows=%d digest=%s", s.Rows, s.Digest)
	for range c.columns - 1 {
		c.buf = append(c.buf, ',')
	}
	c.buf = append(c.buf, '\r', '\n')
	return nil
}

// ContentType is CSV's.
func (c *CSV) ContentType() string { return "text/csv; charset=utf-8; header=present" }

// Extension is "csv".
func (c *CSV) Extension() string { return "csv" }

func (c *CSV) line() error {
	for i := range c.columns {
		cell, err := c.Cell(i)
		if err != nil {
			return err
		}
		c.buf = c.appendCell(appendComma(c.buf, i), i, cell)
	}
	c.buf = append(c.buf, '\r', '\n')
	return nil
}

// appendCell: only text can need quotes.
func (c *CSV) appendCell(dst []byte, column int, cell Cell) []byte {
	switch cell.Kind {
	case Number:
		return strconv.AppendInt(dst, cell.Int, 10)
	case Decimal:
		return cell.AppendDecimal(dst)
	case Boolean:
		return strconv.AppendBool(dst, cell.Int != 0)
	case Day:
		return AppendDay(dst, cell)
	case Timestamp:
		return c.AppendTimestamp(dst, cell)
	case String:
		return c.appendText(dst, column, cell.Text)
	}
	if c.columns == 1 { // readers skip a blank line
		return append(dst, '"', '"')
	}
	return dst
}

func (c *CSV) appendText(dst []byte, column int, s []byte) []byte {
	if c.cfg.Guard && len(s) > 0 && bytes.IndexByte([]byte("=+-@\t\r'"), s[0]) >= 0 {
		c.Lost(column, LossGuard)
		s = append([]byte{'\''}, s...)
	}
	return appendQuoted(dst, s)
}
