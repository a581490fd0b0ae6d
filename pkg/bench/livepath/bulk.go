package livepath

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"
	"go.mongodb.org/mongo-driver/mongo/writeconcern"

	"prejoin/pkg/mongodb"
)

// read makes the bulks that the bare loop and Apply write.
func (w *world) read(ctx context.Context) error {
	w.bulks = make([]mongodb.Bulk, len(w.pages))
	return w.each(ctx, func(ctx context.Context, page int) error {
		clock, err := w.db.SampleClock(ctx)
		if err != nil {
			return err
		}
		snapshot, batch, err := w.refresher.Read(ctx, w.pages[page])
		if err != nil {
			return err
		}
		writes := make([]mongodb.Write, len(w.pages[page]))
		for i, id := range w.pages[page] {
			doc := batch.Document(id)
			writes[i] = mongodb.Write{ID: doc.Lookup("_id"), Doc: doc}
		}
		w.bulks[page] = mongodb.Bulk{Collection: w.model.Collection(), Shard: shardName, At: snapshot.At, Clock: clock,
			Version: mongodb.Version{Epoch: w.guard.Epoch(), Rank: snapshot.Rank()}, Writes: writes}
		return nil
	})
}

func (w *world) eachBulk(ctx context.Context, write func(context.Context, mongodb.Bulk) error) error {
	return w.each(ctx, func(ctx context.Context, page int) error { return write(ctx, w.bulks[page]) })
}

func (w *world) applyBulk(ctx context.Context, b mongodb.Bulk) error {
	outcomes, err := w.db.Apply(ctx, b)
	if err != nil {
		return err
	}
	for i, o := range outcomes {
		if o != mongodb.Applied {
			return fmt.Errorf("write %d of a bulk had the outcome %d, not applied", i, o)
		}
	}
	return nil
}

// bareBulk is the conditional update of docs/architecture.md, written anew with
// nothing but the driver.
func (w *world) bareBulk(ctx context.Context, b mongodb.Bulk) error {
	updates := make([]mongo.WriteModel, len(b.Writes))
	for i, write := range b.Writes {
		updates[i] = mongo.NewUpdateOneModel().SetUpsert(true).
			SetFilter(bson.D{{Key: "_id", Value: write.ID}}).SetUpdate(conditional(b, write))
	}
	res, err := w.documents().BulkWrite(ctx, updates, options.BulkWrite().SetOrdered(false))
	if err != nil {
		return fmt.Errorf("writing a bulk: %w", err)
	}
	if n := res.ModifiedCount + res.UpsertedCount; n != int64(len(updates)) {
		return fmt.Errorf("%d of %d updates changed a document", n, len(updates))
	}
	return nil
}

func conditional(b mongodb.Bulk, write mongodb.Write) bson.A {
	missing := bson.D{{Key: "$eq", Value: bson.A{bson.D{{Key: "$type", Value: "$_p"}}, "missing"}}}
	older := bson.D{{Key: "$and", Value: bson.A{
		bson.D{{Key: "$eq", Value: bson.A{"$_p.s", literal(b.Shard)}}},
		bson.D{{Key: "$lt", Value: bson.A{"$_p.v", literal(bson.D{{Key: "e", Value: b.Version.Epoch}, {Key: "r", Value: b.Version.Rank}})}}},
	}}}
	deadline := primitive.NewDateTimeFromTime(b.Clock.Deadline())
	fresh := bson.D{{Key: "$and", Value: bson.A{
		bson.D{{Key: "$lt", Value: bson.A{"$$NOW", literal(deadline)}}},
		bson.D{{Key: "$or", Value: bson.A{missing, older}}},
	}}}
	late := bson.D{{Key: "_id", Value: literal(write.ID)}, {Key: "_p", Value: bson.D{
		{Key: "s", Value: literal(b.Shard)}, {Key: "v", Value: literal(bson.D{{Key: "e", Value: int64(0)}, {Key: "r", Value: int64(0)}})}, {Key: "del", Value: "$$NOW"}}}}
	branch := func(when, then any) bson.D { return bson.D{{Key: "case", Value: when}, {Key: "then", Value: then}} }
	return bson.A{bson.D{{Key: "$replaceWith", Value: bson.D{{Key: "$switch", Value: bson.D{
		{Key: "branches", Value: bson.A{branch(fresh, literal(write.Doc)), branch(missing, late)}},
		{Key: "default", Value: "$$ROOT"},
	}}}}}}
}

func literal(v any) bson.D { return bson.D{{Key: "$literal", Value: v}} }

// documents is the collection under the write concern that Apply uses.
func (w *world) documents() *mongo.Collection {
	database := w.raw.Database(w.databaseName(), options.Database().SetWriteConcern(writeconcern.Majority()))
	return database.Collection(w.model.Collection())
}
