package xlsx

import (
	"fmt"
	"io"
	"strconv"
)

const (
	sampleRows = 200      // lines that set the columns' widths
	chunk      = 64 << 10 // XML handed to the compressor at once
)

// sheet is the worksheet being written. Its first lines wait in xml until they have
// set the widths, which stand before them; after that xml is a chunk.
type sheet struct {
	w      io.Writer
	xml    []byte
	lines  int   // with the header
	size   int64 // bytes of XML handed to w
	headed bool
	widths []int    // a column's display width in characters
	ranges []string // for each sheet ended: "A1:Z100", the header and its lines
	digits [20]byte
}

func (e *Encoder) beginSheet() error {
	e.sheets = append(e.sheets, numbered(e.cfg.Sheet, len(e.sheets)+1))
	w, err := e.entry(fmt.Sprintf("xl/worksheets/sheet%d.xml", len(e.sheets)))
	if err != nil {
		return err
	}
	s := &e.sheet
	s.w, s.xml, s.lines, s.size, s.headed = w, s.xml[:0], 1, 0, false
	s.widths = s.widths[:0]
	s.xml = append(s.xml, `<row r="1">`...)
	for i := range e.columns {
		c := &e.columns[i]
		s.widths = append(s.widths, min(max(textWidth([]byte(c.Header))+3, 8), maxWidth)) // 3: the filter's button
		s.xml = appendInline(s.xml, c.letters, []byte("1"), c.headerStyle, []byte(c.Header))
	}
	s.xml = append(s.xml, "</row>"...)
	return nil
}

// line appends the table's present line.
func (e *Encoder) line() error {
	s := &e.sheet
	if s.lines >= e.maxRows || s.size >= maxSheet {
		if err := e.nextSheet(); err != nil {
			return err
		}
	}
	s.lines++
	row := strconv.AppendInt(s.digits[:0], int64(s.lines), 10)
	s.xml = append(append(append(s.xml, `<row r="`...), row...), '"', '>')
	for i := range e.columns {
		cell, err := e.Cell(i)
		if err != nil {
			return err
		}
		e.appendCell(&e.columns[i], row, cell)
	}
	s.xml = append(s.xml, "</row>"...)
	if len(s.xml) < chunk || (!s.headed && s.lines <= sampleRows && len(s.xml) < 16*chunk) {
		return nil
	}
	return e.drain()
}

func (e *Encoder) nextSheet() error {
	if err := e.endSheet(); err != nil {
		return err
	}
	return e.beginSheet()
}

// drain hands the XML to the compressor, the sheet's head first.
func (e *Encoder) drain() error {
	s := &e.sheet
	if !s.headed {
		s.headed = true
		if err := s.write([]byte(e.spec.head(s.widths, len(e.sheets) == 1))); err != nil {
			return err
		}
	}
	err := s.write(s.xml)
	s.xml = s.xml[:0]
	return err
}

func (s *sheet) write(xml []byte) error {
	n, err := s.w.Write(xml)
	s.size += int64(n)
	return wrap(err)
}

func (e *Encoder) endSheet() error {
	if err := e.drain(); err != nil {
		return err
	}
	s := &e.sheet
	s.ranges = append(s.ranges, "A1:"+e.columns[len(e.columns)-1].letters+strconv.Itoa(s.lines))
	return s.write([]byte(e.spec.tail(s.ranges[len(s.ranges)-1])))
}
