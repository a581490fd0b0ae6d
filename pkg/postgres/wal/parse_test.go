package wal

import (
	"encoding/hex"
	"strings"
	"testing"
)

// message lays out its parts as the protocol does.
func message(parts ...any) []byte {
	var b []byte
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			b = append(b, p...)
		case byte:
			b = append(b, p)
		case uint16:
			b = append(b, byte(p>>8), byte(p))
		case uint32:
			b = append(b, byte(p>>24), byte(p>>16), byte(p>>8), byte(p))
		case uint64:
			b = append(b, hexBytes(p)...)
		}
	}
	return b
}

func hexBytes(n uint64) []byte {
	b := make([]byte, 8)
	for i := range b {
		b[i] = byte(n >> (56 - 8*i))
	}
	return b
}

func described() []byte {
	return message("R", uint32(7), "public\x00", "a\x00", "d", uint16(2), byte(1), "id\x00", uint32(20), uint32(0), byte(0), "note\x00", uint32(25), uint32(0))
}

func row(values ...string) []byte {
	b := message(uint16(len(values)))
	for _, v := range values {
		if v == "n" || v == "u" {
			b = append(b, v...)
			continue
		}
		b = append(b, message("t", uint32(len(v)), v)...)
	}
	return b
}

func TestParsesAStream(t *testing.T) {
	p := parser{tables: map[uint32]*Table{}}
	var e Event
	f := func(m []byte, want Kind) {
		t.Helper()
		if ok, err := p.parse(100, m, &e); !ok || err != nil || e.Kind != want {
			t.Fatalf("%s: kind %d, %t, %v; want kind %d", hex.EncodeToString(m), e.Kind, ok, err, want)
		}
	}
	f(message("B", uint64(500), uint64(0), uint32(42)), Begin)
	f(described(), Described)
	f(append(message("I", uint32(7), "N"), row("1", "n")...), Insert)
	if e.Tx.ID != 42 || e.Tx.LSN != 500 || e.Table.Name != "a" || !e.Table.Columns[0].Identity || string(e.New[0].Text) != "1" || e.New[1].State != Null || e.Old != nil {
		t.Fatalf("insert %+v", e)
	}
	f(append(append(message("U", uint32(7), "K"), row("1", "n")...), append([]byte("N"), row("2", "u")...)...), Update)
	if !e.OldIsKey || string(e.Old[0].Text) != "1" || string(e.New[0].Text) != "2" || e.New[1].State != Unsent {
		t.Fatalf("update %+v", e)
	}
	f(append(message("D", uint32(7), "O"), row("2", "x")...), Delete)
	if e.OldIsKey || e.New != nil || string(e.Old[1].Text) != "x" {
		t.Fatalf("delete %+v", e)
	}
	f(message("T", uint32(1), byte(0), uint32(7)), Truncate)
	f(message("C", byte(0), uint64(500), uint64(560), uint64(0)), Commit)
	if e.LSN != 560 || p.open {
		t.Fatalf("commit at %d, open %t", e.LSN, p.open)
	}
}

func TestRefusesWhatItDoesNotKnow(t *testing.T) {
	f := func(says string, m []byte) {
		t.Helper()
		p := parser{tables: map[uint32]*Table{}}
		var e Event
		if _, err := p.parse(1, described(), &e); err != nil {
			t.Fatal(err)
		}
		if _, err := p.parse(1, m, &e); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", m, err, says)
		}
	}
	f("unknown message", []byte("Z"))
	f("cut short", append(message("I", uint32(7), "N"), row("1", "n")[:4]...))
	f("not described", append(message("I", uint32(8), "N"), row("1", "n")...))
	f("2 were described", append(message("I", uint32(7), "N"), row("1")...))
	f("unknown state", append(message("I", uint32(7), "N"), append(message(uint16(2)), "xx"...)...))
	f("cut short", append(message("I", uint32(7), "N", uint16(1), "t"), 0xff, 0xff, 0xff, 0xff))
}

func FuzzParse(f *testing.F) {
	f.Add(described())
	f.Add(append(message("I", uint32(7), "N"), row("1", "n")...))
	f.Add(append(append(message("U", uint32(7), "K"), row("1", "n")...), append([]byte("N"), row("2", "u")...)...))
	f.Add(message("T", uint32(1), byte(0), uint32(7)))
	f.Fuzz(func(t *testing.T, m []byte) {
		p := parser{tables: map[uint32]*Table{}}
		var e Event
		if _, err := p.parse(1, described(), &e); err != nil {
			t.Fatal(err)
		}
		ok, err := p.parse(1, m, &e)
		if ok && err != nil {
			return
		}
		if ok && (e.Kind == Insert || e.Kind == Update) && len(e.New) != len(e.Table.Columns) {
			t.Fatalf("row of %d columns for a table of %d", len(e.New), len(e.Table.Columns))
		}
	})
}

func BenchmarkParse(b *testing.B) {
	p := parser{tables: map[uint32]*Table{}}
	var e Event
	if _, err := p.parse(1, described(), &e); err != nil {
		b.Fatal(err)
	}
	m := append(message("I", uint32(7), "N"), row("123456789", "a note of some length")...)
	b.SetBytes(int64(len(m)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.parse(1, m, &e); err != nil {
			b.Fatal(err)
		}
	}
}
