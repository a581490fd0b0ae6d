package capture

import (
	"bytes"
	"context"
	"slices"

	"prejoin/pkg/cdc"
	"prejoin/pkg/postgres/wal"
)

// table is what is worked out once for each description of a table.
type table struct {
	schema, name, topic string
	heartbeat           bool
	forms               []form
	identity            []bool // by column: part of the replica identity
	primary             []int  // the columns of the message key

	old, new, keyRow []cdc.Column // reused
}

// form is how a type's text becomes JSON.
type form byte

const (
	asText form = iota
	asNumber
	asFloat // a number, or NaN and Infinity as text
	asBool
	asTimestamp
)

// forms by the OID of the type (pg_type.dat).
var forms = map[uint32]form{16: asBool, 20: asNumber, 21: asNumber, 23: asNumber, 26: asNumber, 700: asFloat, 701: asFloat, 1184: asTimestamp}

func newTable(ctx context.Context, s *shard, described *wal.Table) (*table, error) {
	t := &table{schema: described.Schema, name: described.Name, topic: s.topic(described.Schema, described.Name),
		heartbeat: isHeartbeat(described.Schema, described.Name)}
	for _, c := range described.Columns {
		t.forms, t.identity = append(t.forms, forms[c.Type]), append(t.identity, c.Identity)
		column := cdc.Column{Name: c.Name}
		t.old, t.new = append(t.old, column), append(t.new, column)
	}
	names, err := s.source.PrimaryKey(ctx, described.ID)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if i := slices.IndexFunc(described.Columns, func(c wal.Column) bool { return c.Name == name }); i >= 0 {
			t.primary = append(t.primary, i)
		}
	}
	return t, nil
}

// columns fills dst with a row's values; what the new row does not hold, because it is TOASTed and did not change, is taken from the
// old one if that has it.
func (w *writer) columns(dst *[]cdc.Column, t *table, row, old []wal.Value) []cdc.Column {
	if row == nil {
		return nil
	}
	for i := range row {
		v := row[i]
		if v.State == wal.Unsent && i < len(old) && old[i].State == wal.Text {
			v = old[i]
		}
		w.column(&(*dst)[i], t.forms[i], v)
	}
	return (*dst)[:len(row)]
}

// old is the row as it was. Of a row that holds only the replica identity the other columns are unknown, though the protocol sends
// them as null: written as null they would name no parent, and nobody would notice that one is missing.
func (w *writer) old(t *table, e *wal.Event) []cdc.Column {
	row := w.columns(&t.old, t, e.Old, nil)
	if !e.OldIsKey {
		return row
	}
	for i := range row {
		if !t.identity[i] {
			row[i].Text, row[i].Form = nil, cdc.Unsent
		}
	}
	return row
}

func (w *writer) column(c *cdc.Column, f form, v wal.Value) {
	c.Text, c.Form = v.Text, cdc.Text
	switch {
	case v.State == wal.Null:
		c.Form = cdc.Null
	case v.State == wal.Unsent:
		c.Form = cdc.Unsent
	case f == asNumber, f == asFloat && isFinite(v.Text):
		c.Form = cdc.Number
	case f == asBool:
		c.Form = cdc.Bool
	case f == asTimestamp:
		start := len(w.scratch)
		w.scratch = cdc.AppendTimestamp(w.scratch, v.Text)
		c.Text = w.scratch[start:len(w.scratch):len(w.scratch)]
	}
}

func isFinite(text []byte) bool { return !bytes.ContainsAny(text, "NI") }

// key appends the columns of the primary key to dst; one that is unknown is null there.
func (t *table) key(dst, row []cdc.Column) []cdc.Column {
	for _, i := range t.primary {
		c := row[i]
		if c.Form == cdc.Unsent {
			c.Form = cdc.Null
		}
		dst = append(dst, c)
	}
	return dst
}

// keyChanged tells whether an update moved the row to another primary key. A replica identity without the primary key
// cannot tell: its columns are unsent there.
func (t *table) keyChanged(old, row []cdc.Column) bool {
	if old == nil {
		return false
	}
	for _, i := range t.primary {
		if known(&old[i]) && row[i].Form != cdc.Unsent && !bytes.Equal(old[i].Text, row[i].Text) {
			return true
		}
	}
	return false
}

func known(c *cdc.Column) bool { return c.Form != cdc.Null && c.Form != cdc.Unsent }
