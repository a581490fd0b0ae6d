package cdc

import (
	"bytes"
	"strconv"
	"strings"
	"time"
)

// readSource reads the source block of an envelope.
func readSource(raw []byte) (Change, error) {
	var c Change
	var err error
	s := scanner{b: raw}
	s.open('{')
	for first := true; err == nil && s.more('}', first); first = false {
		name := s.name()
		err = c.setSource(string(name), s.raw())
	}
	if s.err != nil {
		err = s.err
	}
	return c, err
}

func (c *Change) setSource(name string, raw []byte) (err error) {
	if isNull(raw) {
		return nil
	}
	switch name {
	case "name":
		c.Connector, err = readText(raw, "source.name")
	case "schema":
		c.Schema, err = readText(raw, "source.schema")
	case "table":
		c.Table, err = readText(raw, "source.table")
	case "ts_ms":
		c.Committed, err = readMillis(raw, "source.ts_ms")
	case "lsn":
		c.LSN, err = readUint(raw, "source.lsn")
	case "txId":
		err = c.setTxID(raw, "source.txId")
	}
	return err
}

// setTxID keeps the low 32 bits: Debezium sends the 32 bits of the WAL, pg_current_xact_id() has 64.
func (c *Change) setTxID(raw []byte, what string) error {
	id, err := readUint(raw, what)
	c.TxID, c.HasTxID = uint32(id), err == nil
	return err
}

func (f *frame) transaction() (Change, error) {
	c := Change{Kind: Transaction}
	id, err := readText(f.id, "id")
	if err != nil {
		return c, err
	}
	digits, _, _ := strings.Cut(id, ":")
	if err := c.setTxID([]byte(digits), "id of transaction metadata"); err != nil {
		return c, err
	}
	c.Committed, err = readMillis(f.tsMs, "ts_ms")
	return c, err
}

// heartbeat reads {"ts_ms": …}; its key is {"serverName": …}, with a schema or without.
func (f *frame) heartbeat(key []byte) (Change, error) {
	c := Change{Kind: Heartbeat}
	var err error
	if c.Committed, err = readMillis(f.tsMs, "ts_ms"); err != nil {
		return c, err
	}
	if i := bytes.LastIndex(key, []byte(`"serverName":`)); i >= 0 {
		s := scanner{b: key, i: i + len(`"serverName":`)}
		if raw := s.str(); s.err == nil {
			c.Connector, err = unquote(raw)
		}
	}
	return c, err
}

func readText(raw []byte, what string) (string, error) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", refuse("expected text in %s", what)
	}
	return unquote(raw)
}

// readUint accepts a number and a number written as text, which converters for JavaScript produce.
func readUint(raw []byte, what string) (uint64, error) {
	n, err := strconv.ParseUint(string(bytes.Trim(raw, `"`)), 10, 64)
	if err != nil {
		return 0, refuse("expected a whole number in %s", what)
	}
	return n, nil
}

func readMillis(raw []byte, what string) (time.Time, error) {
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		return time.Time{}, refuse("expected milliseconds in %s", what)
	}
	return time.UnixMilli(n).UTC(), nil
}
