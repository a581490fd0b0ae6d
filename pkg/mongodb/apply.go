package mongodb

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"
)

// bulkTimeout bounds each command of a bulk. The driver sends it as maxTimeMS,
// so that no command takes effect later than that after its $$NOW.
const bulkTimeout = 30 * time.Second

// Apply writes each document of the bulk where it is newer than what is there,
// and says what became of each, in order (design §4, "The write"). What it
// calls Applied or Superfluous is held by a majority of the members.
//
// A *PoisonError comes with all the outcomes. On any other error nothing is
// known of any write, and there are no outcomes; if it is Temporary, read the
// ids again and write again: what had been applied is then superfluous.
func (db *DB) Apply(ctx context.Context, b Bulk) ([]Outcome, error) {
	if len(b.Writes) == 0 {
		return nil, nil
	}
	if err := b.check(); err != nil {
		return nil, err
	}
	outcomes := make([]Outcome, len(b.Writes))
	var refused []Poison
	poison, err := b.chunks(func(c chunk) error {
		more, err := db.applyChunk(ctx, b, c, outcomes)
		refused = append(refused, more...)
		return err
	})
	if err != nil {
		return nil, err
	}
	poison = append(poison, refused...)
	for _, p := range poison {
		outcomes[p.Index] = Poisoned
	}
	if len(poison) > 0 {
		return outcomes, &PoisonError{Collection: b.Collection, Writes: poison}
	}
	return outcomes, nil
}

func (db *DB) applyChunk(ctx context.Context, b Bulk, c chunk, outcomes []Outcome) ([]Poison, error) {
	limited, cancel := context.WithTimeout(ctx, db.bulkTimeout)
	defer cancel()
	result, err := db.w.Collection(b.Collection).BulkWrite(limited, c.models, options.BulkWrite().SetOrdered(false))
	poison, err := poisoned(ctx, b, c.places, err)
	if err != nil {
		return nil, err
	}
	return poison, db.judge(ctx, b, c, result, poison, outcomes)
}

// poisoned takes out of a bulk's error what concerns single documents for
// ever. Anything else in it is an error of the whole bulk.
func poisoned(ctx context.Context, b Bulk, places []int, err error) ([]Poison, error) {
	var bulk mongo.BulkWriteException
	if !errors.As(err, &bulk) || bulk.WriteConcernError != nil || len(bulk.WriteErrors) == 0 {
		return nil, classify(ctx, "writing to "+b.Collection, err)
	}
	var poison []Poison
	for _, we := range bulk.WriteErrors {
		if isTemporary(mongo.WriteException{WriteErrors: mongo.WriteErrors{we.WriteError}}) || raced(we.WriteError) {
			return nil, classify(ctx, "writing to "+b.Collection, &temporary{err})
		}
		place := places[we.Index]
		// The server's message may quote values of the document: only its code is kept.
		poison = append(poison, Poison{Index: place, ID: b.Writes[place].ID, Reason: reasonOf(we.Code), Err: refusal(we.WriteError)})
	}
	return poison, nil
}
