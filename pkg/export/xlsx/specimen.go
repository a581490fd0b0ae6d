package xlsx

import (
	"fmt"
	"strings"

	"github.com/tealeg/xlsx/v3"
)

// specimen is a workbook's parts as tealeg/xlsx makes them for one sheet of the
// columns' styles, cut where rows and sheet names belong.
type specimen struct {
	parts  map[string]string
	before string // the sheet up to <cols>
	after  string // the sheet from </sheetData> on, without autoFilter
}

// makeSpecimen also sets the columns' style indexes, read from the specimen's cells:
// tealeg's <col style> stays 0, so each cell carries its style.
func makeSpecimen(cfg Config, columns []column) (specimen, error) {
	f := xlsx.NewFile()
	sh, err := f.AddSheet("Specimen")
	if err != nil {
		return specimen{}, fmt.Errorf("making the workbook's specimen: %w", err)
	}
	sh.SheetViews = []xlsx.SheetView{{Pane: &xlsx.Pane{YSplit: 1, TopLeftCell: "A2", ActivePane: "bottomLeft", State: "frozen"}}}
	header, values, texts := sh.AddRow(), sh.AddRow(), sh.AddRow()
	for _, c := range columns {
		styled(header, headerStyle(cfg), "General").SetString("h")
		styled(values, columnStyle(cfg, c), c.format)
		styled(texts, textStyle(cfg), "@")
	}
	parts, err := f.MakeStreamParts()
	if err != nil {
		return specimen{}, fmt.Errorf("making the workbook's specimen: %w", err)
	}
	return cutSpecimen(cfg, parts, columns)
}

func styled(r *xlsx.Row, s *xlsx.Style, format string) *xlsx.Cell {
	c := r.AddCell()
	c.SetStyle(s)
	if format == "General" {
		return c
	}
	c.SetFloatWithFormat(1, format)
	return c
}

func valueStyle(cfg Config) *xlsx.Style {
	s := xlsx.NewStyle()
	s.Font = xlsx.Font{Size: 11, Name: cfg.Font, Family: 2, Charset: hangul}
	s.ApplyFont = true
	s.Alignment.Vertical = "top" // a second line must not rise over the row above
	s.ApplyAlignment = true
	return s
}

// columnStyle keeps text a little off the numbers at its left, and days in the middle.
func columnStyle(cfg Config, c column) *xlsx.Style {
	s := valueStyle(cfg)
	switch {
	case c.format == "@":
		s.Alignment.Horizontal, s.Alignment.Indent = "left", 1
	case strings.Contains(c.format, "yy"):
		s.Alignment.Horizontal = "center"
	}
	return s
}

// textStyle marks a number or date that had to become text: right-aligned among the
// numbers of its column, in dark red.
func textStyle(cfg Config) *xlsx.Style {
	s := valueStyle(cfg)
	s.Font.Color = "FF9C0006"
	s.Alignment.Horizontal = "right"
	return s
}

func headerStyle(cfg Config) *xlsx.Style {
	s := valueStyle(cfg)
	s.Font.Bold = true
	s.Fill = *xlsx.NewFill("solid", "FFE7EBF3", "FFE7EBF3")
	s.ApplyFill = true
	s.Border = *xlsx.NewBorder("none", "none", "none", "thin")
	s.ApplyBorder = true
	s.Alignment.Horizontal = "center"
	return s
}

// hangul is the character set that helps a reader without the font to another one.
const hangul = 129

func cutSpecimen(cfg Config, parts map[string]string, columns []column) (specimen, error) {
	const name = "xl/worksheets/sheet1.xml"
	s := specimen{parts: parts}
	xml := parts[name]
	if err := readStyles(xml, columns); err != nil {
		return s, err
	}
	begin, end := strings.Index(xml, "<cols>"), strings.Index(xml, "</sheetData>")
	if begin < 0 {
		begin = strings.Index(xml, "<sheetData>")
	}
	if begin < 0 || end < begin {
		return s, fmt.Errorf("cutting the workbook's specimen: its sheet has no rows: look for a change in tealeg/xlsx")
	}
	s.before, s.after = cut(xml[:begin], "<dimension ", "</dimension>"), xml[end:]
	s.before = strings.Replace(s.before, `defaultRowHeight="12.85"`, `defaultRowHeight="16.5"`, 1)
	s.before = strings.Replace(s.before, `fitToPage="false"`, `fitToPage="true"`, 1)
	s.before = strings.Replace(s.before, `<selection pane="topLeft" activeCell="A1" activeCellId="0" sqref="A1">`,
		`<selection pane="bottomLeft" activeCell="A2" activeCellId="0" sqref="A2">`, 1)
	delete(parts, name)
	delete(parts, "xl/sharedStrings.xml")
	s.restyle(cfg)
	return s, nil
}

// cut removes the first stretch of s from begin to the end of end.
func cut(s, begin, end string) string {
	i := strings.Index(s, begin)
	if i < 0 {
		return s
	}
	j := strings.Index(s[i:], end)
	if j < 0 {
		return s
	}
	return s[:i] + s[i+j+len(end):]
}

// readStyles reads s="…" of the specimen's cells: row 1 header, 2 values, 3 texts.
func readStyles(xml string, columns []column) error {
	for i := range columns {
		c := &columns[i]
		for row, to := range []*string{&c.headerStyle, &c.style, &c.textStyle} {
			ref := fmt.Sprintf(`<c r="%s%d" s="`, c.letters, row+1)
			_, rest, found := strings.Cut(xml, ref)
			style, _, closed := strings.Cut(rest, `"`)
			if !found || !closed {
				return fmt.Errorf("reading the specimen's styles: no cell %s%d: look for a change in tealeg/xlsx", c.letters, row+1)
			}
			*to = style
		}
	}
	return nil
}
