package mongodb

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
)

// Prejoin's own records, beside the documents.
const (
	modelsCollection     = "_prejoin.models"
	shardsCollection     = "_prejoin.shards"
	watermarksCollection = "_prejoin.watermarks"
	keysCollection       = "_prejoin.keys"
)

// recordTimeout bounds a request for a record.
const recordTimeout = 10 * time.Second

// record runs one request for a record and classifies its error; a missing
// document is ErrNotFound.
func record(ctx context.Context, doing string, request func(context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, recordTimeout)
	defer cancel()
	err := request(limited)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return &missing{doing}
	}
	return classify(ctx, doing, err)
}

type missing struct{ doing string }

func (e *missing) Error() string        { return e.doing + ": not found" }
func (e *missing) Is(target error) bool { return target == ErrNotFound }

// readOne decodes the record of that _id.
func (db *DB) readOne(ctx context.Context, doing, collection, id string, into any) error {
	return record(ctx, doing, func(ctx context.Context) error {
		return db.w.Collection(collection).FindOne(ctx, bson.D{{Key: "_id", Value: id}}).Decode(into)
	})
}

// readAll decodes the records that the filter finds, by _id. They are few.
func (db *DB) readAll(ctx context.Context, doing, collection string, filter bson.D, into any) error {
	return record(ctx, doing, func(ctx context.Context) error {
		cursor, err := db.w.Collection(collection).Find(ctx, filter, sortByID)
		if err != nil {
			return err
		}
		return cursor.All(ctx, into)
	})
}
