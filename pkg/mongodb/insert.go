package mongodb

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"
)

// Insert adds documents without any condition. It is about five times as fast
// as Apply and only for a collection that is not yet served: it cannot tell an
// older state from a newer one where a document is absent. The places of those
// whose _id is already there are returned, for Apply to take. Documents that
// can never be written come as a *PoisonError, beside the duplicates.
func (db *DB) Insert(ctx context.Context, collection string, docs []bson.Raw) (duplicates []int, err error) {
	var poison []Poison
	for first := 0; first < len(docs); {
		var part []any
		var places []int
		part, places, poison, first = insertPart(docs, first, poison)
		if len(part) == 0 {
			continue
		}
		more, bad, err := db.insertPart(ctx, collection, docs, part, places)
		if err != nil {
			return nil, err
		}
		duplicates, poison = append(duplicates, more...), append(poison, bad...)
	}
	if len(poison) > 0 {
		return duplicates, &PoisonError{Collection: collection, Writes: poison}
	}
	return duplicates, nil
}

// insertPart takes what fits in one command.
func insertPart(docs []bson.Raw, first int, poison []Poison) (part []any, places []int, _ []Poison, next int) {
	size := 0
	for next = first; next < len(docs) && len(part) < maxChunkWrites; next++ {
		doc := docs[next]
		if len(doc) > maxStatement {
			w := Write{ID: doc.Lookup("_id"), Doc: doc}
			poison = append(poison, tooLarge(next, w))
			continue
		}
		if size += len(doc); size > maxChunkBytes && len(part) > 0 {
			break
		}
		part, places = append(part, doc), append(places, next)
	}
	return part, places, poison, next
}

func (db *DB) insertPart(ctx context.Context, collection string, docs []bson.Raw, part []any, places []int) (duplicates []int, poison []Poison, err error) {
	limited, cancel := context.WithTimeout(ctx, db.bulkTimeout)
	defer cancel()
	_, err = db.w.Collection(collection).InsertMany(limited, part, options.InsertMany().SetOrdered(false))
	var bulk mongo.BulkWriteException
	if err == nil || !errors.As(err, &bulk) || bulk.WriteConcernError != nil {
		return nil, nil, classify(ctx, "inserting into "+collection, err)
	}
	for _, we := range bulk.WriteErrors {
		place := places[we.Index]
		switch {
		case raced(we.WriteError):
			duplicates = append(duplicates, place)
		case isTemporary(mongo.WriteException{WriteErrors: mongo.WriteErrors{we.WriteError}}):
			return nil, nil, fmt.Errorf("inserting into %s: %w", collection, &temporary{err})
		default:
			poison = append(poison, Poison{Index: place, ID: docs[place].Lookup("_id"), Reason: reasonOf(we.Code), Err: refusal(we.WriteError)})
		}
	}
	return duplicates, poison, nil
}
