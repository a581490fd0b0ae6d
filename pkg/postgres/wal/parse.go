package wal

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"time"
)

// parser reads pgoutput messages, protocol version 1 (PostgreSQL manual, "Logical Replication Message Formats").
type parser struct {
	tables   map[uint32]*Table
	tx       Tx
	open     bool    // inside a transaction
	old, new []Value // reused
	gone     []*Table
}

// parse reads one message. It reports false for one that means nothing here: origins and types.
func (p *parser) parse(lsn uint64, message []byte, e *Event) (bool, error) {
	r := reader{b: message}
	kind := r.byte()
	*e = Event{LSN: lsn, Tx: p.tx}
	switch kind {
	case 'B':
		p.begin(&r, e)
	case 'C':
		r.skip(1 + 8)
		e.Kind, e.LSN, p.open = Commit, r.uint64(), false
	case 'R':
		p.describe(&r, e)
	case 'I', 'U', 'D':
		p.row(kind, &r, e)
	case 'T':
		p.truncate(&r, e)
	case 'O', 'Y':
		return false, nil
	default:
		return false, fmt.Errorf("reading pgoutput: unknown message %q", kind)
	}
	if r.short {
		return false, fmt.Errorf("reading pgoutput: message %q of %d bytes is cut short", kind, len(message))
	}
	return true, r.err
}

var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func (p *parser) begin(r *reader, e *Event) {
	p.tx.LSN = r.uint64()
	p.tx.Committed = epoch.Add(time.Duration(r.uint64()) * time.Microsecond)
	p.tx.ID = r.uint32()
	p.open = true
	e.Kind, e.Tx = Begin, p.tx
}

func (p *parser) describe(r *reader, e *Event) {
	t := &Table{ID: r.uint32(), Schema: r.text(), Name: r.text()}
	r.skip(1) // the replica identity's kind: the columns' flags say it all
	for range r.uint16() {
		c := Column{Identity: r.byte()&1 != 0, Name: r.text(), Type: r.uint32()}
		r.skip(4)
		t.Columns = append(t.Columns, c)
	}
	if t.Schema == "" {
		t.Schema = "pg_catalog"
	}
	p.tables[t.ID] = t
	e.Kind, e.Table = Described, t
}

func (p *parser) row(kind byte, r *reader, e *Event) {
	switch kind {
	case 'I':
		e.Kind = Insert
	case 'U':
		e.Kind = Update
	case 'D':
		e.Kind = Delete
	}
	if e.Table = p.table(r); e.Table == nil {
		return
	}
	which := r.byte()
	if which == 'K' || which == 'O' {
		p.old = r.row(p.old[:0])
		e.Old, e.OldIsKey = p.old, which == 'K'
		if kind == 'D' {
			return
		}
		which = r.byte()
	}
	if which != 'N' {
		r.fail("expected a new row, got %q", which)
		return
	}
	p.new = r.row(p.new[:0])
	e.New = p.new
	if len(e.New) != len(e.Table.Columns) {
		r.fail("a row of %s.%s has %d columns, %d were described", e.Table.Schema, e.Table.Name, len(e.New), len(e.Table.Columns))
	}
}

func (p *parser) table(r *reader) *Table {
	id := r.uint32()
	t := p.tables[id]
	if t == nil {
		r.fail("a row of table %d, which was not described", id)
	}
	return t
}

func (p *parser) truncate(r *reader, e *Event) {
	n := r.uint32()
	r.skip(1)
	p.gone = p.gone[:0]
	for range n {
		t := p.table(r)
		if t == nil {
			return
		}
		p.gone = append(p.gone, t)
	}
	e.Kind, e.Truncated = Truncate, p.gone
}

// reader walks a message; reading behind its end makes it short.
type reader struct {
	b     []byte
	short bool
	err   error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil && !r.short {
		r.err = fmt.Errorf("reading pgoutput: "+format, args...)
	}
}

var zeros [8]byte

func (r *reader) take(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.short, r.b = true, nil
		return zeros[:min(max(n, 0), len(zeros))]
	}
	b := r.b[:n:n]
	r.b = r.b[n:]
	return b
}

func (r *reader) skip(n int)     { r.take(n) }
func (r *reader) byte() byte     { return r.take(1)[0] }
func (r *reader) uint16() uint16 { return binary.BigEndian.Uint16(r.take(2)) }
func (r *reader) uint32() uint32 { return binary.BigEndian.Uint32(r.take(4)) }
func (r *reader) uint64() uint64 { return binary.BigEndian.Uint64(r.take(8)) }

func (r *reader) text() string {
	i := bytes.IndexByte(r.b, 0)
	if i < 0 {
		r.short, r.b = true, nil
		return ""
	}
	return string(r.take(i + 1)[:i])
}

func (r *reader) row(dst []Value) []Value {
	n := int(r.uint16())
	for range n {
		v := Value{State: State(r.byte())}
		switch v.State {
		case Null, Unsent:
		case Text:
			v.Text = r.take(int(int32(r.uint32())))
		default:
			r.fail("a value in unknown state %q", byte(v.State))
		}
		if r.short || r.err != nil {
			return dst
		}
		dst = append(dst, v)
	}
	return dst
}
