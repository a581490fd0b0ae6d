package refresh

import (
	"fmt"

	"prejoin/pkg/mongodb"
	"prejoin/pkg/postgres"
)

// IncarnationError is a shard that is no longer the one that the record knows:
// after a crash, a failover or a restore ranks fall, and documents may hold
// what the shard has lost.
type IncarnationError struct{ Shard, Why string }

func (e *IncarnationError) Error() string {
	return fmt.Sprintf("shard %s has a new incarnation (%s): its documents must be read again under a new epoch. "+
		"Make sure that this is the true primary, then run: projector backfill --accept-incarnation", e.Shard, e.Why)
}

// MovedError is a document that another shard wrote. The ranks of two shards
// do not compare.
type MovedError struct{ Shard, Collection, ID string }

func (e *MovedError) Error() string {
	return fmt.Sprintf("document %s of %s was written from another shard than %s: a merchant was moved, or an id is not unique over the shards. "+
		"Compare the row on both shards and delete it on the one that does not own it; if the document is stale, delete it too, then start again", e.ID, e.Collection, e.Shard)
}

// EpochError is a write that a document of a higher epoch refused: this process
// still works under an older one.
type EpochError struct{ Shard string }

func (e *EpochError) Error() string {
	return fmt.Sprintf("shard %s has a higher epoch than this process started under: another process accepted a new incarnation. Start this one again", e.Shard)
}

// Temporary tells whether err is an outage that waiting may end.
func Temporary(err error) bool { return postgres.Temporary(err) || mongodb.Temporary(err) }
