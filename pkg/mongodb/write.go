package mongodb

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/bsontype"
)

// Version orders the states of a document: Epoch first, then the Rank of the
// snapshot that it was read from (design §4).
type Version struct{ Epoch, Rank int64 }

// Less reports whether v is older than other.
func (v Version) Less(other Version) bool {
	return v.Epoch < other.Epoch || v.Epoch == other.Epoch && v.Rank < other.Rank
}

// Write is one document to be written, or an id whose row is gone.
type Write struct {
	ID bson.RawValue // int32, int64 or string
	// Doc begins with _id and holds _p as the bulk says. nil: the row is gone,
	// and a tombstone is written.
	Doc bson.Raw
}

// Bulk is what one snapshot of one shard says about some ids, each named once.
type Bulk struct {
	Collection string
	Shard      string
	Version    Version
	At         time.Time // the snapshot's time, kept in tombstones as in documents (_p.t); zero: left out
	Clock      Clock     // sampled before the snapshot began
	Writes     []Write
}

// Outcome is what became of one write.
type Outcome int

// The outcomes. Applied and Superfluous are done; the others are to be looked
// at again by the caller.
const (
	Applied     Outcome = iota + 1 // the document is as it was read
	Superfluous                    // the same or a newer state of this shard was there
	Late                           // the deadline had passed: sample the clock, read and write again
	OtherEpoch                     // a higher epoch of this shard wrote it: read under the current epoch
	OtherShard                     // another shard wrote it: arbitrate
	Poisoned                       // it can never be written: see PoisonError
)

var outcomeNames = [...]string{"unknown", "applied", "superfluous", "late", "other_epoch", "other_shard", "poisoned"}

func (o Outcome) String() string {
	if o < 0 || int(o) >= len(outcomeNames) {
		o = 0
	}
	return outcomeNames[o]
}

// check finds what would break a law: a document under another id, version or
// shard than the condition is made of. Each is a mistake of the calling code.
func (b Bulk) check() error {
	if b.Collection == "" || b.Shard == "" || b.Clock.server.IsZero() {
		return errors.New("a bulk needs a collection, a shard and a clock sample")
	}
	if b.Version.Epoch < 1 || b.Version.Rank < 1 {
		return fmt.Errorf("a bulk's version must be positive, not %+v", b.Version)
	}
	for i, w := range b.Writes {
		if err := b.checkWrite(w); err != nil {
			return fmt.Errorf("checking write %d of a bulk for %s: %w", i, b.Collection, err)
		}
	}
	return nil
}

func (b Bulk) checkWrite(w Write) error {
	switch w.ID.Type {
	case bsontype.Int32, bsontype.Int64, bsontype.String:
	default:
		return fmt.Errorf("the id's type is %s; only int32, int64 and string can be ids", w.ID.Type)
	}
	if w.Doc == nil {
		return nil
	}
	first, err := w.Doc.IndexErr(0)
	if err != nil || first.Key() != "_id" {
		return errors.New("the document does not begin with _id")
	}
	if id := first.Value(); id.Type != w.ID.Type || !bytes.Equal(id.Value, w.ID.Value) {
		return errors.New("the document's _id is not the write's id")
	}
	stamp, err := stampOf(w.Doc)
	if err != nil {
		return err
	}
	if stamp.shard != b.Shard || stamp.version != b.Version || stamp.gone {
		return errors.New("the document's _p is not of the bulk's shard and version")
	}
	return nil
}
