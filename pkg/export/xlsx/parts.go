package xlsx

import (
	"encoding/xml"
	"fmt"
	"strings"
)

// restyle sets what tealeg hard-codes: the workbook's default font (it sets the
// unit of column widths too) and the document's properties.
func (s *specimen) restyle(cfg Config) {
	styles := s.parts["xl/styles.xml"]
	font := fmt.Sprintf(`<font><sz val="11"/><name val="%s"/><family val="2"/><charset val="%d"/></font>`, escape(cfg.Font), hangul)
	if i, j := strings.Index(styles, "<font>"), strings.Index(styles, "</font>"); i >= 0 && j > i {
		styles = styles[:i] + font + styles[j+len("</font>"):]
	}
	if !strings.Contains(styles, "<cellStyles") { // readers complain of a workbook without a default style
		styles = strings.Replace(styles, "</cellXfs>",
			`</cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles>`, 1)
	}
	s.parts["xl/styles.xml"] = styles
	s.parts["docProps/app.xml"] = strings.Replace(s.parts["docProps/app.xml"], "Go XLSX", "Prejoin", 1)
	if cfg.Title != "" {
		s.parts["docProps/core.xml"] = strings.Replace(s.parts["docProps/core.xml"], "</cp:coreProperties>",
			"<dc:title>"+escape(cfg.Title)+"</dc:title></cp:coreProperties>", 1)
	}
	s.parts["xl/workbook.xml"] = strings.Replace(s.parts["xl/workbook.xml"], `appName="Go XLSX"`, `appName="Prejoin"`, 1)
}

// head is a sheet up to its rows.
func (s *specimen) head(widths []int, first bool) string {
	var b strings.Builder
	before := s.before
	if !first {
		before = strings.Replace(before, `tabSelected="true"`, `tabSelected="false"`, 1)
	}
	b.WriteString(before)
	b.WriteString("<cols>")
	for i, w := range widths {
		fmt.Fprintf(&b, `<col min="%d" max="%d" width="%d" customWidth="1"/>`, i+1, i+1, w)
	}
	b.WriteString("</cols><sheetData>")
	return b.String()
}

// tail is a sheet from its rows on. The filter covers the rows that are there;
// numbers that are text on purpose get no green triangle.
func (s *specimen) tail(area string) string {
	filter := `</sheetData><autoFilter ref="` + area + `"/>`
	page := `<pageSetup paperSize="9" orientation="landscape" fitToWidth="1" fitToHeight="0"/>` // A4, all columns on a page
	ignored := page + `<ignoredErrors><ignoredError sqref="` + area + `" numberStoredAsText="1"/></ignoredErrors></worksheet>`
	tail := strings.Replace(s.after, "</sheetData>", filter, 1)
	return strings.Replace(tail, "</worksheet>", ignored, 1)
}

// closing is a part that names all sheets: known only at the end.
func (s *specimen) closing(name string, sheets, areas []string) string {
	part := s.parts[name]
	switch name {
	case "xl/workbook.xml":
		return closeWorkbook(part, sheets, areas)
	case "xl/_rels/workbook.xml.rels":
		return closeRels(part, len(sheets))
	}
	return closeTypes(part, len(sheets))
}

func closeWorkbook(part string, sheets, areas []string) string {
	var list, names strings.Builder
	for i, name := range sheets {
		fmt.Fprintf(&list, `<sheet name="%s" sheetId="%d" r:id="sheet%d"/>`, escape(name), i+1, i+1)
		quoted := escape(strings.ReplaceAll(name, "'", "''"))
		fmt.Fprintf(&names, `<definedName name="_xlnm._FilterDatabase" localSheetId="%d" hidden="1">'%s'!%s</definedName>`,
			i, quoted, absolute(areas[i]))
		fmt.Fprintf(&names, `<definedName name="_xlnm.Print_Titles" localSheetId="%d">'%s'!$1:$1</definedName>`, i, quoted)
	}
	part = cut(part, "<workbookProtection>", "</workbookProtection>")
	before := cut(part, "<sheets>", "</sheets>")
	at := strings.Index(part, "<sheets>")
	return before[:at] + "<sheets>" + list.String() + "</sheets><definedNames>" + names.String() + "</definedNames>" + before[at:]
}

// absolute turns A1:Z9 into $A$1:$Z$9.
func absolute(area string) string {
	var b strings.Builder
	letter := false
	for _, c := range area {
		if isLetter := c >= 'A' && c <= 'Z'; c != ':' && isLetter != letter {
			b.WriteByte('$')
		}
		letter = c >= 'A' && c <= 'Z'
		b.WriteRune(c)
	}
	return b.String()
}

func closeRels(part string, sheets int) string {
	var b strings.Builder
	for i := range sheets {
		fmt.Fprintf(&b, `<Relationship Id="sheet%d" Target="worksheets/sheet%d.xml" `+
			`Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet"/>`, i+1, i+1)
	}
	part = cutElement(cutElement(part, "Relationship", "worksheets/sheet1.xml"), "Relationship", "sharedStrings.xml")
	return strings.Replace(part, "</Relationships>", b.String()+"</Relationships>", 1)
}

func closeTypes(part string, sheets int) string {
	var b strings.Builder
	for i := range sheets {
		fmt.Fprintf(&b, `<Override PartName="/xl/worksheets/sheet%d.xml" `+
			`ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>`, i+1)
	}
	part = cutElement(cutElement(part, "Override", "/xl/worksheets/sheet1.xml"), "Override", "/xl/sharedStrings.xml")
	return strings.Replace(part, "</Types>", b.String()+"</Types>", 1)
}

// cutElement removes the empty element of that name that mentions value.
func cutElement(part, name, value string) string {
	at := strings.Index(part, `"`+value+`"`)
	if at < 0 {
		return part
	}
	begin, closing := strings.LastIndex(part[:at], "<"+name), "</"+name+">"
	end := strings.Index(part[at:], closing)
	if begin < 0 || end < 0 {
		return part
	}
	return part[:begin] + part[at+end+len(closing):]
}

func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder's Write never fails
	return b.String()
}
