package cdc

import (
	"strconv"
	"time"
)

// Form tells how a column's text becomes JSON.
type Form byte

// The forms of a column.
const (
	Text   Form = iota // a string
	Number             // digits as they are; the text must be a JSON number
	Bool               // t or f
	Null
	Unsent // an unchanged TOASTed value that was not sent
)

// Column is one column of a row image that is to be written.
type Column struct {
	Name string
	Text []byte // in PostgreSQL's text form, or as AppendTimestamp makes it
	Form Form
}

// Envelope is one change event as the built-in capture writes it.
type Envelope struct {
	Op            byte
	Shard         string // source.name
	Database      string
	Schema, Table string
	TxID          uint32
	LSN           uint64 // of the change
	CommitLSN     uint64
	Committed     time.Time
	Now           time.Time
	Before, After []Column // nil: null
}

// AppendEnvelope appends the envelope as JSON without a schema, in Debezium's shape.
func AppendEnvelope(dst []byte, e *Envelope) []byte {
	dst = append(dst, `{"before":`...)
	dst = appendImage(dst, e.Before)
	dst = append(dst, `,"after":`...)
	dst = appendImage(dst, e.After)
	dst = append(dst, `,"source":{"version":"prejoin","connector":"postgresql","name":`...)
	dst = appendSource(dst, e)
	dst = append(dst, `,"transaction":null,"op":"`...)
	dst = append(dst, e.Op)
	dst = append(dst, `","ts_ms":`...)
	dst = strconv.AppendInt(dst, e.Now.UnixMilli(), 10)
	return append(dst, '}')
}

func appendSource(dst []byte, e *Envelope) []byte {
	dst = appendString(dst, []byte(e.Shard))
	dst = append(dst, `,"ts_ms":`...)
	dst = strconv.AppendInt(dst, e.Committed.UnixMilli(), 10)
	dst = append(dst, `,"snapshot":"false","db":`...)
	dst = appendString(dst, []byte(e.Database))
	dst = append(dst, `,"sequence":"[\"`...)
	dst = strconv.AppendUint(dst, e.CommitLSN, 10)
	dst = append(dst, `\",\"`...)
	dst = strconv.AppendUint(dst, e.LSN, 10)
	dst = append(dst, `\"]","ts_us":`...)
	dst = strconv.AppendInt(dst, e.Committed.UnixMicro(), 10)
	dst = append(dst, `,"schema":`...)
	dst = appendString(dst, []byte(e.Schema))
	dst = append(dst, `,"table":`...)
	dst = appendString(dst, []byte(e.Table))
	dst = append(dst, `,"txId":`...)
	dst = strconv.AppendUint(dst, uint64(e.TxID), 10)
	dst = append(dst, `,"lsn":`...)
	dst = strconv.AppendUint(dst, e.LSN, 10)
	return append(dst, `,"xmin":null}`...)
}

// AppendKey appends the message key: the columns of the primary key as a JSON object.
func AppendKey(dst []byte, columns []Column) []byte {
	return appendImage(dst, columns)
}

// AppendHeartbeat appends the value of a heartbeat message.
func AppendHeartbeat(dst []byte, at time.Time) []byte {
	dst = append(dst, `{"ts_ms":`...)
	return append(strconv.AppendInt(dst, at.UnixMilli(), 10), '}')
}

// AppendHeartbeatKey appends the key of a heartbeat message of the shard.
func AppendHeartbeatKey(dst []byte, shard string) []byte {
	dst = append(dst, `{"serverName":`...)
	return append(appendString(dst, []byte(shard)), '}')
}

func appendImage(dst []byte, columns []Column) []byte {
	if columns == nil {
		return append(dst, `null`...)
	}
	dst = append(dst, '{')
	for i := range columns {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendString(dst, []byte(columns[i].Name))
		dst = append(dst, ':')
		dst = appendValue(dst, &columns[i])
	}
	return append(dst, '}')
}

func appendValue(dst []byte, c *Column) []byte {
	switch c.Form {
	case Null:
		return append(dst, `null`...)
	case Unsent:
		return append(dst, `"`+Unavailable+`"`...)
	case Number:
		return append(dst, c.Text...)
	case Bool:
		return strconv.AppendBool(dst, len(c.Text) > 0 && c.Text[0] == 't')
	}
	return appendString(dst, c.Text)
}

// appendString appends s as a JSON string. Bytes that are not UTF-8 pass as they are, so that Decode refuses them instead of
// reading another text.
func appendString(dst, s []byte) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	start := 0
	for i, c := range s {
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(append(dst, s[start:]...), '"')
}
