package xlsx

import (
	"strings"

	"prejoin/pkg/export"
	"prejoin/pkg/readmodel"
)

// column is a table column with what its cells need.
type column struct {
	export.Column
	index       int
	letters     string // "A", "AB"
	format      string // Excel's number format
	headerStyle string // style indexes of the specimen
	style       string // of a value of the model's type
	textStyle   string // of a value that had to become text
	grouped     bool   // numbers show thousands separators
}

func newColumn(index int, c export.Column) column {
	f := c.Field
	if c.Child != nil {
		f = c.Child
	}
	format := formatOf(f)
	return column{Column: c, index: index, letters: letters(index), format: format, grouped: strings.Contains(format, ",")}
}

// formatOf is the field's format, else the type's. Text has "@", so that a cell which is
// edited later stays text; whole numbers "0", since General shows ids as 1.2E+11.
func formatOf(f *readmodel.Field) string {
	if f.Format != "" {
		return f.Format
	}
	switch f.Type {
	case readmodel.Int64:
		return "0"
	case readmodel.Decimal:
		if f.Scale == 0 {
			return "#,##0"
		}
		return "#,##0." + strings.Repeat("0", f.Scale)
	case readmodel.Date:
		return "yyyy-mm-dd"
	case readmodel.Timestamp:
		return "yyyy-mm-dd hh:mm:ss"
	case readmodel.Bool:
		return "General"
	}
	return "@"
}

// letters is a column's name: 0 is A, 26 is AA.
func letters(i int) string {
	s := ""
	for i++; i > 0; i = (i - 1) / 26 {
		s = string(rune('A'+(i-1)%26)) + s
	}
	return s
}

// sheetName makes a name that Excel accepts: at most 31 UTF-16 units, none of []:*?/\,
// no apostrophe at an end.
func sheetName(s string) string {
	s = strings.Map(func(r rune) rune {
		if strings.ContainsRune(`[]:*?/\`, r) || r < 0x20 || r == 0x7F || r == 0xFFFD || r == 0xFFFE || r == 0xFFFF {
			return ' '
		}
		return r
	}, s)
	s = strings.Trim(cutUnits(s, 31), "' ")
	if s == "" || strings.EqualFold(s, "History") { // Excel keeps this name for itself
		return "Sheet1"
	}
	return s
}

// numbered is the name of the nth sheet.
func numbered(name string, n int) string {
	if n == 1 {
		return name
	}
	suffix := " (" + itoa(n) + ")"
	return cutUnits(name, 31-len(suffix)) + suffix
}

// cutUnits is the longest head of s of at most n UTF-16 units.
func cutUnits(s string, n int) string {
	for i, r := range s {
		if n--; r > 0xFFFF {
			n--
		}
		if n < 0 {
			return s[:i]
		}
	}
	return s
}
