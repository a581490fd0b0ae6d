package cdc

import "strings"

// Wanted names the columns to decode of a table. None means that no route names the table: its rows are told, not read.
type Wanted func(schema, table string) []string

// Decode reads one message. Before and After hold the wanted columns that the message has: a column that it does not name,
// or whose TOASTed value did not change and was not sent, is absent. Every error wraps ErrUndecodable.
func Decode(msg Message, wanted func(schema, table string) []string) (Change, error) {
	switch {
	case msg.marker():
		return Change{Kind: Marker}, nil
	case msg.Value == nil:
		return Change{Kind: Tombstone}, nil
	}
	f, err := outline(msg.Value)
	if err != nil {
		return Change{}, err
	}
	switch {
	case f.schema != nil && f.payload != nil && isNull(f.payload):
		return Change{Kind: Tombstone}, nil
	case f.source != nil && f.op != nil:
		return f.envelope(wanted)
	case f.collections && f.status != nil && f.id != nil && f.members == 5:
		return f.transaction()
	case f.tsMs != nil && f.members == 1:
		return f.heartbeat(msg.Key)
	case f.flat:
		return Change{}, flattened()
	}
	return Change{}, unknownForm()
}

func unknownForm() error {
	return refuse("expected Debezium's envelope with op and source, a heartbeat or transaction metadata; " +
		"if the connector flattens events, remove its ExtractNewRecordState transform; an outbox event is not read yet: publish the tables themselves")
}

// flattened refuses the form: an update in it has one row image, so it does not name the document that a row has left, and by the
// transform's default nothing but a tombstone is left of a delete.
func flattened() error {
	return refuse("expected Debezium's envelope: a flattened event does not name the row as it was, so a moved or deleted row would be missed; " +
		"remove the ExtractNewRecordState transform from the connector")
}

func (f *frame) envelope(wanted Wanted) (Change, error) {
	c, err := readSource(f.source)
	if err != nil {
		return c, err
	}
	if c.Op, err = operation(f.op); err != nil {
		return c, err
	}
	c.Snapshot = c.Op == 'r'
	switch c.Op {
	case 'm':
		c.Kind = Logical
		return c, nil
	case 't':
		c.Kind = Truncate
	}
	if !c.HasTxID && !c.Snapshot {
		return c, refuse("expected a number in source.txId of table %s.%s: without it nobody can tell when the row is visible; "+
			"take events from a connector that sets it", c.Schema, c.Table)
	}
	if c.Kind == Truncate {
		return c, nil
	}
	return c, f.images(&c, wanted(c.Schema, c.Table))
}

// images decodes the wanted columns of both row images.
func (f *frame) images(c *Change, columns []string) (err error) {
	if len(columns) == 0 {
		return nil
	}
	if c.Op == 'd' && isNull(f.before) {
		return refuse("expected before in a delete of %s.%s: give the table a replica identity (ALTER TABLE … REPLICA IDENTITY)", c.Schema, c.Table)
	}
	if c.Op != 'd' && isNull(f.after) {
		return refuse("expected after in an event of %s.%s with op %c", c.Schema, c.Table, c.Op)
	}
	if c.Before, err = readColumns(f.before, f.schema, "before", columns); err != nil {
		return err
	}
	c.After, err = readColumns(f.after, f.schema, "after", columns)
	return err
}

func isNull(raw []byte) bool { return raw == nil || raw[0] == 'n' }

func operation(raw []byte) (byte, error) {
	if len(raw) == 3 && raw[0] == '"' && strings.IndexByte("cudrtm", raw[1]) >= 0 {
		return raw[1], nil
	}
	return 0, refuse("expected op to be one of c, u, d, r, t, m")
}
