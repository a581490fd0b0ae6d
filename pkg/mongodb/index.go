package mongodb

import (
	"context"
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"

	"prejoin/pkg/readmodel"
)

// AccessIndex is the index of an access pattern.
type AccessIndex struct {
	Name string // made of its keys
	Keys bson.D
	// Only is what a document must have to be in it; nil: nothing. A find must
	// ask for it too: see Within.
	Only bson.D
}

// Index is the index of an access pattern. One over all scopes leaves tombstones
// out, which have no fields: they would stand first, where nulls do, and an
// operator's first page would read through all that were deleted in seven days.
func Index(m *readmodel.Model, a readmodel.Access) AccessIndex {
	var x AccessIndex
	parts := []string{"access"}
	for _, k := range m.Index(a) {
		if hasKey(x.Keys, k.Field) {
			continue
		}
		direction := 1
		if k.Desc {
			direction = -1
		}
		x.Keys = append(x.Keys, op(k.Field, direction))
		parts = append(parts, k.Field, fmt.Sprint(direction))
	}
	if field := always(m); m.ScopeField(a.Scope) == "" && field != "" {
		x.Only = bson.D{op(field, bson.D{op("$exists", true)})}
		parts = append(parts, "live")
	}
	x.Name = strings.Join(parts, "_")
	return x
}

// always is a field that each live document has, null or not: a scope's, or any.
func always(m *readmodel.Model) string {
	for _, s := range m.Scope {
		if s.Field != m.ID {
			return s.Field
		}
	}
	for _, f := range m.Fields {
		if f.Name != m.ID {
			return f.Name
		}
	}
	return ""
}

// Within is the filter in a form that the index can serve.
func (x AccessIndex) Within(filter bson.D) bson.D {
	if x.Only == nil {
		return filter
	}
	return bson.D{op("$and", bson.A{filter, x.Only})}
}

func (x AccessIndex) spec() bson.D {
	spec := bson.D{op("name", x.Name), op("key", x.Keys)}
	if x.Only != nil {
		spec = append(spec, op("partialFilterExpression", x.Only))
	}
	return spec
}

// Missing names what a collection lacks to serve the model: itself, or indexes
// of access patterns. Nothing is missing where it is empty.
func (db *DB) Missing(ctx context.Context, m *readmodel.Model, collection string) ([]string, error) {
	var specs []*mongo.IndexSpecification
	err := record(ctx, "listing the indexes of "+collection, func(ctx context.Context) (err error) {
		specs, err = db.w.Collection(collection).Indexes().ListSpecifications(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	there := map[string]bool{}
	for _, s := range specs {
		there[s.Name] = true
	}
	if !there["_id_"] {
		return []string{"the collection " + collection}, nil
	}
	var missing []string
	for _, a := range m.Access {
		if x := Index(m, a); !there[x.Name] {
			there[x.Name] = true
			missing = append(missing, "the index "+x.Name)
		}
	}
	return missing, nil
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
		if x := Index(m, a); !seen[x.Name] {
			seen[x.Name] = true
			indexes = append(indexes, x.spec())
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
