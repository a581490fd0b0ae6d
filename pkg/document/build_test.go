package document

import (
	"errors"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/bson"

	"prejoin/pkg/readmodel"
)

func sampleModel() *readmodel.Model {
	lines := readmodel.Child{Field: "lines", Parent: "id", Query: "children", Fields: []readmodel.Field{
		{Name: "kind", Type: readmodel.Text}, {Name: "amount", Type: readmodel.Decimal, Scale: 2}}}
	m := &readmodel.Model{Name: "m", Version: 1, ID: "id", Root: "root", Children: []readmodel.Child{lines}}
	m.Fields = []readmodel.Field{{Name: "id", Type: readmodel.Int64}, {Name: "name", Type: readmodel.Text},
		{Name: "lines", Type: readmodel.Array, Child: &m.Children[0]}, {Name: "due", Type: readmodel.Date}}
	return m
}

var (
	rootColumns  = []Column{{"due", oidDate, -1}, {"id", oidInt8, -1}, {"name", 25, -1}}
	childColumns = []Column{{"id", oidInt8, -1}, {"kind", 25, -1}, {"amount", oidNumeric, -1}}
)

func row(values ...string) [][]byte {
	list := make([][]byte, len(values))
	for i, v := range values {
		if v != "NULL" {
			list[i] = []byte(v)
		}
	}
	return list
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestDocumentsInModelOrder(t *testing.T) {
	b := NewShape(sampleModel()).NewBatch()
	b.Begin(Stamp{Epoch: 2, Rank: 77, Shard: "shard0", At: time.UnixMilli(1000)})
	must(t, b.Columns(0, childColumns), b.Columns(1, rootColumns),
		b.Row(0, row("8", "a", "1.00")), b.Row(0, row("7", "b", "2.50")), b.Row(0, row("8", "NULL", "-3.00")),
		b.Row(1, row("2026-11-30", "7", "seven")), b.Row(1, row("NULL", "8", "NULL")), b.Row(1, row("NULL", "9", "none")))
	f := func(id, want string) {
		t.Helper()
		got, err := bson.MarshalExtJSON(b.Document(id), false, false)
		must(t, err)
		if string(got) != want {
			t.Errorf("document %s:\n got %s\nwant %s", id, got, want)
		}
	}
	const stamp = `"_p":{"v":{"e":2,"r":77},"s":"shard0","t":{"$date":"1970-01-01T00:00:01Z"}}}`
	f("7", `{"_id":7,"name":"seven","lines":[{"kind":"b","amount":{"$numberDecimal":"2.50"}}],"due":{"$date":"2026-11-30T00:00:00Z"},`+stamp)
	f("8", `{"_id":8,"name":null,"lines":[{"kind":"a","amount":{"$numberDecimal":"1.00"}},{"kind":null,"amount":{"$numberDecimal":"-3.00"}}],"due":null,`+stamp)
	f("9", `{"_id":9,"name":"none","lines":[],"due":null,`+stamp)
	if b.Document("10") != nil {
		t.Error("an id without a row has a document")
	}
}

func TestColumnsThatDoNotFit(t *testing.T) {
	f := func(query int, columns []Column, want string) {
		t.Helper()
		err := NewShape(sampleModel()).NewBatch().Columns(query, columns)
		var columnErr *ColumnError
		if !errors.As(err, &columnErr) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want a ColumnError with %q", err, want)
		}
	}
	f(1, rootColumns[:2], `returns no column "name"`)
	f(1, append(rootColumns[:3:3], Column{"more", 25, -1}), `returns column "more", which is no field`)
	f(1, []Column{{"due", 1114, -1}, {"id", oidInt8, -1}, {"name", 25, -1}}, `cannot hold`)
	f(0, []Column{{"id", oidInt8, -1}, {"kind", 25, -1}, {"amount", 701, -1}}, "cannot hold") // float8 is never exact
}

func TestTimestampsNeedDeclaredMilliseconds(t *testing.T) {
	field := &readmodel.Field{Name: "at", Type: readmodel.Timestamp}
	for typmod, ok := range map[int32]bool{-1: false, 6: false, 4: false, 3: true, 0: true} {
		if got := fits(field, Column{"at", oidTimestamptz, typmod}) == ""; got != ok {
			t.Errorf("timestamptz(%d): fits %v, want %v", typmod, got, ok)
		}
	}
}

func TestTwoRowsForOneDocumentAreRefused(t *testing.T) {
	b := NewShape(sampleModel()).NewBatch()
	must(t, b.Columns(0, childColumns), b.Columns(1, rootColumns), b.Row(1, row("NULL", "7", "x")))
	if err := b.Row(1, row("NULL", "7", "y")); err == nil || !strings.Contains(err.Error(), "more than one row for id 7") {
		t.Errorf("got %v", err)
	}
}
