package xlsx

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/bson"

	tealeg "github.com/tealeg/xlsx/v3"

	"prejoin/pkg/export"
	"prejoin/pkg/readmodel"
)

func TestHolds(t *testing.T) {
	for number, want := range map[string]bool{
		"0": true, "-0": false, "-0.00": false, "1": true, "123456789012345": true, "1234567890123456": false,
		"-9999999999999.99": true, "99999999999999.99": false, "0.000000123456789012345": true, "1000000000000000000": true,
		"123456789012345.00": true, "9007199254740993": false, "1E+3": true, "1E+300": false, "1E-300": false,
		"1.23456789012345E+20": true, "1.234567890123456E+20": false, "0E-6176": false,
	} {
		if holds([]byte(number)) != want {
			t.Errorf("%s: want %v", number, want)
		}
	}
}

func TestNames(t *testing.T) {
	for in, want := range map[string]string{
		"": "Sheet1", "정산": "정산", "a/b:c": "a b c", "'x'": "x", "history": "Sheet1", "[]": "Sheet1",
		strings.Repeat("가", 40): strings.Repeat("가", 31), strings.Repeat("😀", 20): strings.Repeat("😀", 15), "a\x01b": "a b",
	} {
		if got := sheetName(in); got != want {
			t.Errorf("%q: got %q", in, got)
		}
	}
	if got := numbered(strings.Repeat("x", 31), 12); got != strings.Repeat("x", 26)+" (12)" {
		t.Errorf("got %q", got)
	}
	for i, want := range map[int]string{0: "A", 25: "Z", 26: "AA", 701: "ZZ", 702: "AAA", 16383: "XFD"} {
		if got := letters(i); got != want {
			t.Errorf("%d: got %s", i, got)
		}
	}
}

func TestXMLText(t *testing.T) {
	for in, want := range map[string]string{
		"a<b>&\"'": "a&lt;b&gt;&amp;\"'", "\x00\x0b": "_x0000__x000B_", "_x0041_": "_x005F_x0041_", "_x00G1_ _x": "_x00G1_ _x",
		"a\r\nb\t": "a&#13;\nb\t", "\uffff\ufffe\ufffd\uefff": "_xFFFF__xFFFE_\ufffd\uefff", "__x0041_": "__x005F_x0041_", "한글😀": "한글😀",
	} {
		if got := string(appendXML(nil, []byte(in))); got != want {
			t.Errorf("%q: got %q", in, got)
		}
	}
}

func TestLongText(t *testing.T) {
	for _, unit := range []string{"a", "가", "😀"} {
		n := maxUnits / units([]byte(unit))
		full, long := strings.Repeat(unit, n), strings.Repeat(unit, n+1)
		cut := cutText([]byte(long))
		if units([]byte(full)) > maxUnits || units(cut) > maxUnits || !strings.HasSuffix(string(cut), fmt.Sprintf("…[cut here: %d characters; NDJSON and CSV have all]", n+1)) {
			t.Errorf("%s: %d units, ends %q", unit, units(cut), cut[len(cut)-80:])
		}
	}
}

// TestSheetsGoOn uses a small limit: 1,048,576 rows take long to read back.
func TestSheetsGoOn(t *testing.T) {
	m := &readmodel.Model{Name: "m", ID: "id", Fields: []readmodel.Field{{Name: "id", Type: readmodel.Int64}}}
	for _, rows := range []int{3, 4, 6, 7, 12} {
		l, err := export.NewLayout(m, export.Config{})
		if err != nil {
			t.Fatal(err)
		}
		e, err := New(l, Config{Sheet: "it's"})
		if err != nil {
			t.Fatal(err)
		}
		e.maxRows = 4
		book := fill(t, e, rows)
		f, err := tealeg.OpenBinary(book)
		if err != nil {
			t.Fatal(err)
		}
		if want := (rows + 2) / 3; len(f.Sheets) != want {
			t.Fatalf("%d rows: %d sheets, want %d", rows, len(f.Sheets), want)
		}
		checkSheets(t, f, rows)
	}
}

func fill(t *testing.T, e *Encoder, rows int) []byte {
	t.Helper()
	if err := e.Begin(); err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		doc, _ := bson.Marshal(bson.D{{Key: "_id", Value: int64(i)}})
		if err := e.Row(doc); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.End(export.Summary{}); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := e.Flush(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func checkSheets(t *testing.T, f *tealeg.File, rows int) {
	t.Helper()
	for i := range rows {
		sh := f.Sheets[i/3]
		if want := numbered("it's", i/3+1); sh.Name != want {
			t.Errorf("sheet %q, want %q", sh.Name, want)
		}
		head, _ := sh.Cell(0, 0)
		cell, err := sh.Cell(i%3+1, 0)
		if err != nil || cell.Value != itoa(i) || head.Value != "id" {
			t.Errorf("row %d: %q under %q, %v", i, cell.Value, head.Value, err)
		}
	}
}

// TestSpecimenCuts fails when another version of tealeg/xlsx makes other parts.
func TestSpecimenCuts(t *testing.T) {
	m := &readmodel.Model{Name: "m", ID: "id", Fields: []readmodel.Field{{Name: "id", Type: readmodel.Int64, Format: `#,##0"원 <&>"`}}}
	l, _ := export.NewLayout(m, export.Config{})
	e, err := New(l, Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`defaultRowHeight="16.5"`, `pane="bottomLeft" activeCell="A2"`, `fitToPage="true"`} {
		if !strings.Contains(e.spec.before, want) {
			t.Errorf("the sheet's head lacks %s: %s", want, e.spec.before)
		}
	}
	if !strings.Contains(e.spec.parts["docProps/app.xml"], "Prejoin") || strings.Contains(e.spec.parts["xl/styles.xml"], "Arial") {
		t.Error("the properties or the default font are tealeg's")
	}
	if !strings.Contains(e.spec.parts["xl/styles.xml"], "원 &lt;&amp;&gt;") {
		t.Error("the number format is not escaped")
	}
}
