package mongodb

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"

	"prejoin/pkg/readmodel"
)

// ModelRecord says which collection serves a model and of which text it is.
type ModelRecord struct {
	Name    string `bson:"_id"`
	Served  string `bson:"served"` // the collection that is read; "" until a backfill has filled it
	Version int    `bson:"version"`
	Shape   string `bson:"shape"` // readmodel.Model.Shape
	Text    string `bson:"text"`  // the model's file
}

// Prepare makes ready what a model needs: Prejoin's own collections, the
// documents' collection, one index an access pattern, the tombstones' TTL
// index, and the model's record. It may be run again and by several members at
// once. It refuses another shape under a version in use (ErrShapeChanged) and
// a version that is not the served one (ErrRebuildNeeded).
func (db *DB) Prepare(ctx context.Context, m *readmodel.Model) error {
	if err := db.Migrate(ctx); err != nil {
		return err
	}
	stored, err := db.registerModel(ctx, m)
	if err != nil {
		return err
	}
	if err := stored.accept(m); err != nil {
		return fmt.Errorf("preparing model %s: %w", m.Name, err)
	}
	if err := db.prepareCollection(ctx, m); err != nil {
		return err
	}
	return db.keepText(ctx, m)
}

// registerModel returns the stored record, which is m's own where there was none.
func (db *DB) registerModel(ctx context.Context, m *readmodel.Model) (*ModelRecord, error) {
	own := ModelRecord{Name: m.Name, Version: m.Version, Shape: m.Shape, Text: m.Text}
	err := record(ctx, "registering model "+m.Name, func(ctx context.Context) error {
		_, err := db.w.Collection(modelsCollection).InsertOne(ctx, own)
		if mongo.IsDuplicateKeyError(err) {
			return nil
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return db.Model(ctx, m.Name)
}

func (r *ModelRecord) accept(m *readmodel.Model) error {
	switch {
	case m.Version == r.Version && m.Shape == r.Shape:
		return nil
	case m.Version == r.Version:
		return fmt.Errorf("its SQL or fields have changed, but version %d is already in use with another shape (%w); go back to the file as it was, or %s",
			m.Version, ErrShapeChanged, r.anew(m))
	case m.Version < r.Version:
		return fmt.Errorf("its file says version %d, but version %d is in use (%w); use the newer file", m.Version, r.Version, ErrRebuildNeeded)
	}
	return fmt.Errorf("its file says version %d, but version %d is in use (%w); go back to the file of version %d, or %s",
		m.Version, r.Version, ErrRebuildNeeded, r.Version, r.anew(m))
}

// anew says how a changed model can be had.
func (r *ModelRecord) anew(m *readmodel.Model) string {
	return fmt.Sprintf("give the changed one another name, or start anew, which serves nothing until it is filled: "+
		"stop the projector, drop the collection %s_v%d, delete the document with _id %q from %s, start projector backfill and then projector run",
		m.Name, r.Version, m.Name, modelsCollection)
}

// keepText stores a text that differs only in what is not the shape: labels,
// reports, comments.
func (db *DB) keepText(ctx context.Context, m *readmodel.Model) error {
	return record(ctx, "storing the text of model "+m.Name, func(ctx context.Context) error {
		filter := bson.D{op("_id", m.Name), op("version", m.Version), op("shape", m.Shape)}
		_, err := db.w.Collection(modelsCollection).UpdateOne(ctx, filter, bson.D{op("$set", bson.D{op("text", m.Text)})})
		return err
	})
}

// Serve lets queryd read a model that a backfill of all shards has filled. Until
// then a download would be complete in form and short in rows. It changes
// nothing where a collection is served already.
func (db *DB) Serve(ctx context.Context, m *readmodel.Model) error {
	return record(ctx, "serving model "+m.Name, func(ctx context.Context) error {
		filter := bson.D{op("_id", m.Name), op("version", m.Version), op("shape", m.Shape), op("served", "")}
		_, err := db.w.Collection(modelsCollection).UpdateOne(ctx, filter, bson.D{op("$set", bson.D{op("served", m.Collection())})})
		return err
	})
}

// Model returns the record of that model, or ErrNotFound.
func (db *DB) Model(ctx context.Context, name string) (*ModelRecord, error) {
	var r ModelRecord
	if err := db.readOne(ctx, "reading the record of model "+name, modelsCollection, name, &r); err != nil {
		return nil, err
	}
	return &r, nil
}

// Served is the collection that a model is read from, "" before the first
// backfill has ended, or ErrNotFound.
func (db *DB) Served(ctx context.Context, model string) (collection string, err error) {
	r, err := db.Model(ctx, model)
	if err != nil {
		return "", err
	}
	return r.Served, nil
}
