package mongodb

import (
	"context"
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"

	"prejoin/pkg/readmodel"
)

// Index is the index of an access pattern: its name, made of its keys, and the keys.
func Index(m *readmodel.Model, a readmodel.Access) (name string, keys bson.D) {
	parts := []string{"access"}
	for _, k := range m.Index(a) {
		if hasKey(keys, k.Field) {
			continue
		}
		direction := 1
		if k.Desc {
			direction = -1
		}
		keys = append(keys, op(k.Field, direction))
		parts = append(parts, k.Field, fmt.Sprint(direction))
	}
	return strings.Join(parts, "_"), keys
}

func hasKey(keys bson.D, name string) bool {
	for _, k := range keys {
		if k.Key == name {
			return true
		}
	}
	return false
}

func (db *DB) prepareCollection(ctx context.Context, m *readmodel.Model) error {
	if err := db.create(ctx, m.Collection()); err != nil {
		return err
	}
	indexes, err := documentIndexes()
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, a := range m.Access {
		if name, keys := Index(m, a); !seen[name] {
			seen[name] = true
			indexes = append(indexes, bson.D{op("name", name), op("key", keys)})
		}
	}
	if err := db.createIndexes(ctx, m.Collection(), indexes); err != nil {
		return err
	}
	return db.refuseUnique(ctx, m.Collection())
}

// create makes a collection, or finds it made.
func (db *DB) create(ctx context.Context, collection string) error {
	err := db.w.RunCommand(ctx, bson.D{op("create", collection), op("writeConcern", majority)}).Err()
	if hasCode(err, codeNamespaceExists) {
		return nil
	}
	return classify(ctx, "creating the collection "+collection, err)
}

var majority = bson.D{op("w", "majority")}

// createIndexes makes those that are missing and waits for them, however long
// it takes: a build goes on in the server even if this process ends.
func (db *DB) createIndexes(ctx context.Context, collection string, indexes []any) error {
	if len(indexes) == 0 {
		return nil
	}
	err := db.w.RunCommand(ctx, bson.D{op("createIndexes", collection), op("indexes", indexes), op("writeConcern", majority)}).Err()
	if hasCode(err, codeIndexConflict, codeIndexKeysConflict) {
		return fmt.Errorf("creating the indexes of %s: one exists in another form (%w); drop that index and start again", collection, err)
	}
	return classify(ctx, "creating the indexes of "+collection, err)
}

// refuseUnique finds a unique index besides _id: it would block deletes, whose
// tombstones have no fields, and swaps of two documents' values.
func (db *DB) refuseUnique(ctx context.Context, collection string) error {
	specs, err := db.w.Collection(collection).Indexes().ListSpecifications(ctx)
	if err != nil {
		return classify(ctx, "listing the indexes of "+collection, err)
	}
	for _, s := range specs {
		if unique(s) {
			return fmt.Errorf("checking the indexes of %s: %s is unique, which blocks deletes and swaps of values; drop it, or make it again without unique", collection, s.Name)
		}
	}
	return nil
}

func unique(s *mongo.IndexSpecification) bool {
	return s.Unique != nil && *s.Unique && s.Name != "_id_"
}
