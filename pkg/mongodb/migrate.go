package mongodb

import (
	"context"
	"fmt"
	"sync"

	"go.mongodb.org/mongo-driver/bson"

	migrations "prejoin/migrations/mongodb"
)

// plan is what a file of migrations/mongodb says: collections and the indexes
// of each, as createIndexes takes them, in extended JSON.
type plan struct {
	Collections []struct {
		Name    string `bson:"name"`
		Indexes []any  `bson:"indexes"`
	} `bson:"collections"`
}

// parsed is done once: the files are part of the program.
var parsed = sync.OnceValues(func() (own, documents plan) {
	return mustParse(migrations.Own), mustParse(migrations.Documents)
})

func mustParse(text []byte) (p plan) {
	if err := bson.UnmarshalExtJSON(text, false, &p); err != nil {
		panic(fmt.Sprintf("migrations/mongodb: %v", err))
	}
	return p
}

// Migrate makes Prejoin's own collections and their indexes where they are
// missing. It may be run again and by several members at once.
func (db *DB) Migrate(ctx context.Context) error {
	own, _ := parsed()
	for _, c := range own.Collections {
		if err := db.create(ctx, c.Name); err != nil {
			return err
		}
		if err := db.createIndexes(ctx, c.Name, c.Indexes); err != nil {
			return err
		}
	}
	return nil
}

// documentIndexes are those that each collection of documents has beside its
// access patterns'.
func documentIndexes() ([]any, error) {
	_, documents := parsed()
	if len(documents.Collections) != 1 {
		return nil, fmt.Errorf("migrations/mongodb/documents.json must hold one collection, not %d", len(documents.Collections))
	}
	indexes := documents.Collections[0].Indexes
	return indexes[:len(indexes):len(indexes)], nil
}
