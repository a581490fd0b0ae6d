package livepath

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo/options"

	"prejoin/pkg/devstack"
)

func (w *world) databaseName() string { return devstack.DefaultDatabase }

// spoil makes every document wrong, so that a variant that writes nothing
// cannot pass for a fast one.
func (w *world) spoil(ctx context.Context) error {
	field := w.model.Fields[len(w.model.Fields)-1].Name
	update := bson.D{{Key: "$set", Value: bson.D{{Key: field, Value: "spoiled"}}}}
	if _, err := w.documents().UpdateMany(ctx, bson.D{}, update); err != nil {
		return fmt.Errorf("spoiling the documents: %w", err)
	}
	return nil
}

// digest hashes all documents in order, without the stamp, which differs by run.
func (w *world) digest(ctx context.Context) (string, error) {
	cursor, err := w.documents().Find(ctx, bson.D{}, options.Find().
		SetSort(bson.D{{Key: "_id", Value: 1}}).SetProjection(bson.D{{Key: "_p", Value: 0}}))
	if err != nil {
		return "", fmt.Errorf("reading the documents: %w", err)
	}
	sum, n := sha256.New(), 0
	for ; cursor.Next(ctx); n++ {
		sum.Write(cursor.Current)
	}
	if err := cursor.Err(); err != nil {
		return "", fmt.Errorf("reading the documents: %w", err)
	}
	return fmt.Sprintf("%d documents %s", n, hex.EncodeToString(sum.Sum(nil))), nil
}
