package cdc_test

import (
	"encoding/json"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"prejoin/pkg/cdc"
)

func columnsGen() *rapid.Generator[[]cdc.Column] {
	names := wantAll("", "")
	return rapid.Custom(func(t *rapid.T) []cdc.Column {
		columns := []cdc.Column{}
		for _, name := range names[:rapid.IntRange(1, len(names)).Draw(t, "columns")] {
			c := cdc.Column{Name: name, Form: cdc.Form(rapid.IntRange(0, 4).Draw(t, "form"))}
			switch c.Form {
			case cdc.Number:
				c.Text = strconv.AppendInt(nil, rapid.Int64().Draw(t, "number"), 10)
			case cdc.Bool:
				c.Text = []byte(rapid.SampledFrom([]string{"t", "f"}).Draw(t, "bool"))
			case cdc.Text:
				c.Text = []byte(rapid.String().Draw(t, "text"))
			}
			columns = append(columns, c)
		}
		return columns
	})
}

// TestReadsWhatItWrites: decode(encode(x)) is x, and what is written is JSON to others too.
func TestReadsWhatItWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := cdc.Envelope{
			Op: rapid.SampledFrom([]byte("cud")).Draw(t, "op"), Shard: "shard0", Database: "d\"b", Schema: "public", Table: rapid.StringN(1, 20, -1).Draw(t, "table"),
			TxID: rapid.Uint32().Draw(t, "tx"), LSN: rapid.Uint64().Draw(t, "lsn"), Committed: time.UnixMilli(rapid.Int64Range(-1e12, 1e13).Draw(t, "at")).UTC(),
			Before: columnsGen().Draw(t, "before"), After: columnsGen().Draw(t, "after"),
		}
		value := cdc.AppendEnvelope(nil, &e)
		if !json.Valid(value) {
			t.Fatalf("not JSON: %s", value)
		}
		c, err := cdc.Decode(cdc.Message{Value: value}, wantAll)
		if err != nil {
			t.Fatal(err)
		}
		if c.Kind != cdc.Row || c.Op != e.Op || c.Connector != e.Shard || c.Table != e.Table || c.TxID != e.TxID || !c.HasTxID || c.LSN != e.LSN || !c.Committed.Equal(e.Committed) {
			t.Fatalf("wrote %+v, read %+v", e, c)
		}
		same(t, e.Before, c.Before)
		same(t, e.After, c.After)
	})
}

func same(t *rapid.T, wrote []cdc.Column, read cdc.Columns) {
	for _, w := range wrote {
		got, ok := read[w.Name]
		if ok != (w.Form != cdc.Unsent) || got.Null != (w.Form == cdc.Null) || !got.Null && ok && got.Text != string(w.Text) {
			if string(w.Text) != cdc.Unavailable {
				t.Fatalf("column %s: wrote %d %q, read %+v (present %t)", w.Name, w.Form, w.Text, got, ok)
			}
		}
	}
}

func TestWritesTimestampsAsDebeziumDoes(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		if got := string(cdc.AppendTimestamp(nil, []byte(text))); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
	f("2026-11-30 10:11:12.345678+00", "2026-11-30T10:11:12.345678Z")
	f("2026-11-30 10:11:12.5+00", "2026-11-30T10:11:12.500000Z")
	f("2026-11-30 10:11:12+00", "2026-11-30T10:11:12.000000Z")
	f("0044-03-15 00:00:00+00 BC", "-0043-03-15T00:00:00.000000Z")
	f("0001-03-15 00:00:00+00 BC", "0000-03-15T00:00:00.000000Z")
	f("12345-01-01 00:00:00+00", "+12345-01-01T00:00:00.000000Z")
	f("infinity", "infinity")
	f("-infinity", "-infinity")
}

func BenchmarkAppendEnvelope(b *testing.B) {
	columns := []cdc.Column{{Name: "id", Text: []byte("123456789"), Form: cdc.Number}, {Name: "merchant_id", Text: []byte("17"), Form: cdc.Number},
		{Name: "amount", Text: []byte("12345.67")}, {Name: "status", Text: []byte("PAID")}, {Name: "note", Text: []byte("a longer text with 한글 in it")}}
	e := cdc.Envelope{Op: 'u', Shard: "shard0", Database: "shard0", Schema: "public", Table: "settlement", Before: columns, After: columns}
	dst := cdc.AppendEnvelope(nil, &e)
	b.SetBytes(int64(len(dst)))
	b.ReportAllocs()
	for b.Loop() {
		dst = cdc.AppendEnvelope(dst[:0], &e)
	}
}
