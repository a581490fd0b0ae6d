package mongodb

import (
	"errors"
	"fmt"
	"strconv"

	"go.mongodb.org/mongo-driver/bson"
)

var (
	// ErrNotFound is returned where a record of that name or id does not exist.
	ErrNotFound = errors.New("not found")
	// ErrSnapshotTooOld is returned by a cursor whose instant the server no
	// longer keeps (minSnapshotHistoryWindowInSeconds, 300 by default).
	ErrSnapshotTooOld = errors.New("the instant that is read is no longer kept by MongoDB; start the read again, or raise minSnapshotHistoryWindowInSeconds")
	// ErrSnapshotUnavailable is returned where the server cannot read at an
	// instant just now, such as after an index was made; try again.
	ErrSnapshotUnavailable = errors.New("MongoDB cannot read at one instant just now; try again")
	// ErrShapeChanged is returned by Prepare for another shape under a version that is in use.
	ErrShapeChanged = errors.New("another shape under the same version")
	// ErrRebuildNeeded is returned by Prepare for a version that is not the served one.
	ErrRebuildNeeded = errors.New("not the served version")
)

// temporary marks an error that time can cure.
type temporary struct{ err error }

func (e *temporary) Error() string { return e.err.Error() }
func (e *temporary) Unwrap() error { return e.err }

// lasting is an error of this package's own that time cannot cure.
type lasting string

func (e lasting) Error() string { return string(e) }

// Temporary reports whether err is an outage or a conflict that time cures. A
// write is then to be read again and written again, never just repeated late.
// The end of the caller's own context is not temporary.
func Temporary(err error) bool {
	var t *temporary
	return errors.As(err, &t)
}

// Reason says why a document can never be written as it is.
type Reason string

// The reasons of a Poison.
const (
	TooLarge Reason = "too_large" // over 16 MiB
	Invalid  Reason = "invalid"   // the collection's validator refuses it
	Refused  Reason = "refused"   // any other refusal of this document alone
)

// Poison is one write that trying again cannot help.
type Poison struct {
	Index  int           // its place in the bulk
	ID     bson.RawValue // the document's _id
	Reason Reason
	Err    error
}

// PoisonError lists the writes of a bulk that can never succeed; all others of
// the bulk were done and have their outcomes.
type PoisonError struct {
	Collection string
	Writes     []Poison
}

func (e *PoisonError) Error() string {
	first := e.Writes[0]
	return fmt.Sprintf("writing to %s: MongoDB can never take %d of the documents; the first, with _id %s, is %s: %v; %s",
		e.Collection, len(e.Writes), idText(first.ID), first.Reason, first.Err, first.Reason.cure())
}

// cure is what lets such a document be written.
func (r Reason) cure() string {
	switch r {
	case TooLarge:
		return "shorten that document's rows on the shard, or leave a field out of the model"
	case Invalid:
		return "change or remove the collection's validator (collMod)"
	}
	return "mend that, then start again: nothing is skipped"
}

// idText is an id as the shard writes it, where it is a number or a text.
func idText(id bson.RawValue) string {
	if n, ok := id.AsInt64OK(); ok {
		return strconv.FormatInt(n, 10)
	}
	if s, ok := id.StringValueOK(); ok {
		return s
	}
	return id.String()
}

// Unwrap gives the reasons of all of them.
func (e *PoisonError) Unwrap() []error {
	errs := make([]error, len(e.Writes))
	for i, p := range e.Writes {
		errs[i] = p.Err
	}
	return errs
}
