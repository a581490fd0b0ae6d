package xlsx

import (
	"strconv"

	"prejoin/pkg/export"
)

// The days that Excel counts as the calendar does, in days since 1970-01-01:
// 1900-03-01 to 9999-12-31. Serial 0 is 25,569 days before 1970.
const (
	firstDay = -25_508
	lastDay  = 2_932_896
	epoch    = 25_569
	dayMs    = 86_400_000
)

// appendCell appends a cell of the present line; null makes none.
func (e *Encoder) appendCell(c *column, row []byte, cell export.Cell) {
	switch cell.Kind {
	case export.Number:
		e.appendNumber(c, row, strconv.AppendInt(e.tmp[:0], cell.Int, 10))
	case export.Decimal:
		e.appendNumber(c, row, cell.AppendDecimal(e.tmp[:0]))
	case export.Boolean:
		x := e.open(c, row, c.style, ` t="b"><v>`)
		e.sheet.xml = append(append(x, byte('0'+cell.Int)), "</v></c>"...)
		e.widen(c, 5)
	case export.Day:
		if cell.Int < firstDay || cell.Int > lastDay {
			e.appendLost(c, row, export.AppendDay(e.tmp[:0], cell), export.LossDate)
			return
		}
		e.appendValue(c, row, strconv.AppendInt(e.tmp[:0], cell.Int+epoch, 10))
		e.widen(c, 10)
	case export.Timestamp:
		e.appendTimestamp(c, row, cell)
	case export.String:
		e.appendText(c, row, c.style, cell.Text)
	}
}

// appendNumber takes the digits of an integer or decimal.
func (e *Encoder) appendNumber(c *column, row, digits []byte) {
	if !holds(digits) {
		e.appendLost(c, row, digits, export.LossDigits)
		return
	}
	e.appendValue(c, row, digits)
	if !e.sheet.headed {
		e.widen(c, numberWidth(digits, c.grouped))
	}
}

// appendTimestamp writes the zone's clock as days since Excel's epoch. Eleven digits
// of a day are a microsecond.
func (e *Encoder) appendTimestamp(c *column, row []byte, cell export.Cell) {
	day, ms := cell.Int/dayMs, cell.Int%dayMs+cell.Offset*1000
	for ; ms < 0; ms += dayMs {
		day--
	}
	for ; ms >= dayMs; ms -= dayMs {
		day++
	}
	if day < firstDay || day > lastDay {
		e.appendLost(c, row, e.AppendTimestamp(e.tmp[:0], cell), export.LossDate)
		return
	}
	serial := strconv.AppendInt(e.tmp[:0], day+epoch, 10)
	if ms > 0 {
		serial = appendFraction(append(serial, '.'), (ms*1e11+dayMs/2)/dayMs)
	}
	e.appendValue(c, row, serial)
	e.widen(c, 19)
}

// appendFraction appends eleven digits.
func appendFraction(dst []byte, n int64) []byte {
	for p := int64(1e10); p > 0; p /= 10 {
		dst = append(dst, byte('0'+n/p%10))
	}
	return dst
}

// appendLost appends a value as text that Excel has no number for.
func (e *Encoder) appendLost(c *column, row, text []byte, kind string) {
	e.Lost(c.index, kind)
	e.appendText(c, row, c.textStyle, text)
}

func (e *Encoder) appendValue(c *column, row, number []byte) {
	x := append(e.open(c, row, c.style, `><v>`), number...)
	e.sheet.xml = append(x, "</v></c>"...)
}

// open appends the head of a cell up to rest.
func (e *Encoder) open(c *column, row []byte, style, rest string) []byte {
	return appendOpen(e.sheet.xml, c.letters, row, style, rest)
}

func appendOpen(x []byte, letters string, row []byte, style, rest string) []byte {
	x = append(append(append(x, `<c r="`...), letters...), row...)
	x = append(append(append(x, `" s="`...), style...), '"')
	return append(x, rest...)
}
