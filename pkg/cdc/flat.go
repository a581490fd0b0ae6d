package cdc

import "strings"

// flat reads an event that ExtractNewRecordState flattened. It has one row image: the old one of a rewritten delete, the new one otherwise.
// An update therefore does not name the row's old parent; a route by a column that can change needs the envelope.
func (f *frame) flat(msg Message, wanted Wanted) (Change, error) {
	if f.flatOp == nil || isNull(f.flatTx) && !isSnapshotOp(f.flatOp) {
		return Change{}, refuse("expected __op and __source_txId in a flattened event: set add.fields=op,lsn,source.txId on " +
			"ExtractNewRecordState, or remove that transform")
	}
	c, err := f.flatSource(msg.Topic)
	if err != nil {
		return c, err
	}
	return c, f.flatImage(&c, msg.Value, wanted(c.Schema, c.Table))
}

func isSnapshotOp(raw []byte) bool { return string(raw) == `"r"` }

func (f *frame) flatSource(topic string) (c Change, err error) {
	if c.Op, err = operation(f.flatOp); err != nil {
		return c, err
	}
	c.Snapshot = c.Op == 'r'
	if c.Connector, c.Schema, c.Table = splitTopic(topic); c.Table == "" && f.flatTable == nil {
		return c, refuse("expected a topic named prefix.schema.table or __source_table in a flattened event: add source.table to add.fields")
	}
	for _, m := range []struct {
		name string
		raw  []byte
	}{{"name", f.flatName}, {"schema", f.flatSchema}, {"table", f.flatTable}, {"ts_ms", f.flatTs}, {"lsn", f.flatLSN}, {"txId", f.flatTx}} {
		if m.raw == nil {
			continue
		}
		if err := c.setSource(m.name, m.raw); err != nil {
			return c, err
		}
	}
	return c, nil
}

func (f *frame) flatImage(c *Change, value []byte, columns []string) error {
	if len(columns) == 0 {
		return nil
	}
	row := value
	if f.schema != nil {
		row = memberOf(value, "payload")
	}
	image, err := readColumns(row, f.schema, "", columns)
	if c.Op == 'd' {
		c.Before = image
	} else {
		c.After = image
	}
	return err
}

// splitTopic splits prefix.schema.table; a prefix may hold dots itself.
func splitTopic(topic string) (prefix, schema, table string) {
	i := strings.LastIndexByte(topic, '.')
	if i < 0 {
		return topic, "", ""
	}
	rest, table := topic[:i], topic[i+1:]
	if j := strings.LastIndexByte(rest, '.'); j >= 0 {
		return rest[:j], rest[j+1:], table
	}
	return topic, "", ""
}
