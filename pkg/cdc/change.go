package cdc

import "time"

// Kind tells what a message is.
type Kind int

// The kinds of messages that change topics carry.
const (
	Row         Kind = iota // a created, updated, deleted or snapshot row
	Truncate                // a truncated table
	Heartbeat               // the source is alive
	Transaction             // begin or end of a source transaction
	Logical                 // pg_logical_emit_message
	Tombstone               // a null value that follows a delete, for compaction
	Marker                  // a Kafka transaction marker that kafka-go delivers as a message
)

// Change is one decoded message. Only the columns that were asked for are decoded.
type Change struct {
	Kind      Kind
	Op        byte   // Debezium's: 'c', 'u', 'd', 'r', 't', 'm'
	Connector string // source.name: the topic prefix, which names the shard
	Schema    string
	Table     string
	TxID      uint32 // the low 32 bits of the transaction id
	HasTxID   bool
	LSN       uint64
	Committed time.Time // source.ts_ms
	Snapshot  bool      // a snapshot read it: committed and visible by definition
	Before    Columns   // nil where the message had none
	After     Columns
}

// Columns holds the decoded columns of one row image by name.
type Columns map[string]Value

// Value is a column's value as PostgreSQL's text form.
type Value struct {
	Text string
	Null bool
}
