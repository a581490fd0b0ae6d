package wal

import "time"

// Kind tells what an Event is.
type Kind byte

// The kinds of events.
const (
	Begin     Kind = iota // a transaction's first
	Described             // Table is described, before its first row and after each change of its shape
	Insert
	Update
	Delete
	Truncate
	Commit // LSN is the end of the transaction
	Idle   // between transactions: everything before LSN has been sent
)

// Event is one step of the stream. Its rows and texts are valid until the next call of Next.
type Event struct {
	Kind      Kind
	LSN       uint64 // of this change
	Tx        Tx
	Table     *Table
	Old       []Value // nil: not sent, the replica identity did not change
	OldIsKey  bool    // Old holds only the columns of the replica identity: its others are Null and mean unknown
	New       []Value
	Truncated []*Table
}

// Tx is the transaction that an event belongs to.
type Tx struct {
	ID        uint32
	LSN       uint64 // of its commit
	Committed time.Time
}

// Table is a published table as it was when the change was made.
type Table struct {
	ID           uint32
	Schema, Name string
	Columns      []Column
}

// Column is a column of a Table.
type Column struct {
	Name     string
	Type     uint32 // the OID of its type
	Identity bool   // part of the replica identity
}

// Value is a column's value.
type Value struct {
	State State
	Text  []byte // PostgreSQL's text form: DateStyle ISO, TimeZone UTC, UTF-8
}

// State tells whether a value was sent.
type State byte

// The states of a value, as the protocol writes them.
const (
	Null   State = 'n'
	Unsent State = 'u' // TOASTed and unchanged
	Text   State = 't'
)
