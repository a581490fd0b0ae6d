package xlsx_test

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	tealeg "github.com/tealeg/xlsx/v3"
	"go.mongodb.org/mongo-driver/bson"

	"prejoin/pkg/export"
)

func cells(t testing.TB, book []byte) map[string][][]*tealeg.Cell {
	t.Helper()
	f, err := tealeg.OpenBinary(book)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][][]*tealeg.Cell{}
	for _, sh := range f.Sheets {
		var rows [][]*tealeg.Cell
		for r := range sh.MaxRow {
			var row []*tealeg.Cell
			for c := range sh.MaxCol {
				cell, err := sh.Cell(r, c)
				if err != nil {
					t.Fatal(err)
				}
				row = append(row, cell)
			}
			rows = append(rows, row)
		}
		all[sh.Name] = rows
	}
	return all
}

func TestReadBackByTealeg(t *testing.T) {
	e := encoder(t, export.Config{Lang: "ko", Labels: true, Location: seoul()})
	rows := cells(t, write(t, e, sale(7), with(sale(8), "amount", dec("12345678901234567.89"))))["정산 내역"]
	if len(rows) != 3 {
		t.Fatalf("%d rows", len(rows))
	}
	want := [][]string{
		{"정산번호", "주문번호", "상품명", "주문일시", "지급예정일", "지급완료라벨", "open", "정산금액", "요율", "수수료"},
		{"7", "0000000000000007", "여름 한정 무료배송 린넨 셔츠 화이트", "46357.00284349537", "46358", "지급완료", "1", "1234567.50", "0.02200", "[]"},
		{"8", "0000000000000008", "여름 한정 무료배송 린넨 셔츠 화이트", "46357.00284349537", "46358", "지급완료", "1", "12345678901234567.89", "0.02200", "[]"},
	}
	want[0][5] = "status"
	for r := range want {
		for c := range want[r] {
			if got := rows[r][c].Value; got != want[r][c] {
				t.Errorf("row %d column %d: got %q, want %q", r, c, got, want[r][c])
			}
		}
	}
	for c, format := range []string{"0", "@", "@", "yyyy-mm-dd hh:mm:ss", "yyyy-mm-dd", "@", "general", "#,##0.##", "#,##0.00000", "@"} {
		if got := rows[1][c].NumFmt; got != format {
			t.Errorf("column %d: format %q, want %q", c, got, format)
		}
	}
	if rows[1][7].Type() != tealeg.CellTypeNumeric || rows[2][7].Type() == tealeg.CellTypeNumeric {
		t.Errorf("types %v and %v, want a number and a text", rows[1][7].Type(), rows[2][7].Type())
	}
	if r := e.Reported(); len(r) != 1 || r[0] != (export.Loss{Column: "amount", Kind: export.LossDigits, Count: 1}) {
		t.Errorf("reported %v", r)
	}
}

// parts unzips and checks that each part is well-formed XML.
func parts(t testing.TB, book []byte) map[string]string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(book), int64(len(book)))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(f.Name, err)
		}
		for d := xml.NewDecoder(bytes.NewReader(b)); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", f.Name, err)
			}
		}
		if _, twice := all[f.Name]; twice {
			t.Fatalf("%s is there twice", f.Name)
		}
		all[f.Name] = string(b)
	}
	return all
}

func TestParts(t *testing.T) {
	book := write(t, encoder(t, export.Config{Columns: []string{"saleId", "amount"}}), sale(1), sale(2))
	all := parts(t, book)
	sheet := all["xl/worksheets/sheet1.xml"]
	has := func(part, want string) {
		t.Helper()
		if !strings.Contains(all[part], want) {
			t.Errorf("%s lacks %s: %s", part, want, all[part])
		}
	}
	has("xl/worksheets/sheet1.xml", `</sheetData><autoFilter ref="A1:B3"/>`)
	has("xl/worksheets/sheet1.xml", `state="frozen"`)
	has("xl/worksheets/sheet1.xml", `<c r="B3" s="`)
	has("xl/workbook.xml", `<sheet name="정산 내역" sheetId="1" r:id="sheet1"/>`)
	has("xl/workbook.xml", `'정산 내역'!$A$1:$B$3<`)
	has("xl/_rels/workbook.xml.rels", `Id="sheet1"`)
	has("[Content_Types].xml", `/xl/worksheets/sheet1.xml`)
	has("docProps/core.xml", `정산 &lt;내역&gt;`)
	has("xl/styles.xml", `맑은 고딕`)
	for name, part := range all {
		if strings.Contains(part, "sharedStrings") || strings.Contains(part, "Verdana") || strings.Contains(part, "<f>") {
			t.Errorf("%s holds what it should not: %s", name, part)
		}
	}
	order := []string{"<sheetPr", "<sheetViews", "<sheetFormatPr", "<cols", "<sheetData", "<autoFilter", "<pageSetup", "<ignoredErrors"}
	for i, last := 0, -1; i < len(order); i++ {
		at := strings.Index(sheet, order[i])
		if at <= last {
			t.Errorf("%s stands at %d, before the element that it must follow", order[i], at)
		}
		last = at
	}
	if strings.Contains(sheet, "<dimension") {
		t.Error("the specimen's dimension is still there")
	}
}

func TestRelationsPointToParts(t *testing.T) {
	all := parts(t, write(t, encoder(t, export.Config{}), sale(1)))
	for _, piece := range strings.Split(all["[Content_Types].xml"], `PartName="/`)[1:] {
		if name, _, _ := strings.Cut(piece, `"`); all[name] == "" {
			t.Errorf("content type of %s, which is not there", name)
		}
	}
	for _, piece := range strings.Split(all["xl/_rels/workbook.xml.rels"], `Target="`)[1:] {
		if name, _, _ := strings.Cut(piece, `"`); all["xl/"+name] == "" {
			t.Errorf("relation to %s, which is not there", name)
		}
	}
}

// TestSameRowsSameBytes: no clock in the file.
func TestSameRowsSameBytes(t *testing.T) {
	a, b := write(t, encoder(t, export.Config{}), sale(1)), write(t, encoder(t, export.Config{}), sale(1))
	if !bytes.Equal(a, b) {
		t.Error("two exports of the same rows differ")
	}
	z, err := zip.NewReader(bytes.NewReader(a), int64(len(a)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range z.File {
		if f.Modified.Year() != 1980 {
			t.Errorf("%s was modified at %v", f.Name, f.Modified)
		}
	}
}

// TestCutFileDoesNotOpen: the directory comes last.
func TestCutFileDoesNotOpen(t *testing.T) {
	book := write(t, encoder(t, export.Config{}), sale(1))
	for n := len(book) - 1; n >= 0; n -= 3 {
		if _, err := zip.NewReader(bytes.NewReader(book[:n]), int64(n)); err == nil {
			t.Fatalf("the first %d of %d bytes open", n, len(book))
		}
	}
}

func TestNoRows(t *testing.T) {
	book := write(t, encoder(t, export.Config{}))
	if rows := cells(t, book)["정산 내역"]; len(rows) != 1 {
		t.Errorf("%d rows, want the header", len(rows))
	}
	if filter := `<autoFilter ref="A1:J1"/>`; !strings.Contains(parts(t, book)["xl/worksheets/sheet1.xml"], filter) {
		t.Errorf("no %s", filter)
	}
}

func TestLinesAsRows(t *testing.T) {
	fee := func(kind, amount string) bson.D {
		return bson.D{{Key: "kind", Value: kind}, {Key: "amount", Value: dec(amount)}}
	}
	e := encoder(t, export.Config{Columns: []string{"saleId", "lines"}, Lines: export.LinesRows, Lang: "ko"})
	rows := cells(t, write(t, e, with(sale(1), "lines", bson.A{fee("PG", "1.10"), fee("=1+1", "-2.20")}), sale(2)))["정산 내역"]
	want := [][]string{{"정산번호", "종류", "금액"}, {"1", "PG", "1.10"}, {"1", "=1+1", "-2.20"}, {"2", "", ""}}
	for r := range want {
		for c := range want[r] {
			if got := rows[r][c]; got.Value != want[r][c] || got.Formula() != "" {
				t.Errorf("row %d column %d: got %q formula %q, want %q", r, c, got.Value, got.Formula(), want[r][c])
			}
		}
	}
}
