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

// encode reads and makes the updates of the bare loop, encoded beforehand: the
// loop is to show what the server takes, not what the driver's encoder costs.
func (w *world) encode(ctx context.Context) error {
	if err := w.read(ctx); err != nil {
		return err
	}
	w.updates = make([][]mongo.WriteModel, len(w.bulks))
	return w.each(ctx, func(_ context.Context, page int) error {
		b := w.bulks[page]
		for _, write := range b.Writes {
			stage, err := bson.Marshal(conditional(b, write))
			if err != nil {
				return fmt.Errorf("encoding an update: %w", err)
			}
			w.updates[page] = append(w.updates[page], mongo.NewUpdateOneModel().SetUpsert(true).
				SetFilter(bson.D{{Key: "_id", Value: write.ID}}).SetUpdate(bson.A{bson.Raw(stage)}))
		}
		return nil
	})
}

// read makes the bulks that Apply writes.
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

func (w *world) apply(ctx context.Context, page int) error {
	outcomes, err := w.db.Apply(ctx, w.bulks[page])
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

// bare writes with nothing but the driver.
func (w *world) bare(ctx context.Context, page int) error {
	res, err := w.documents().BulkWrite(ctx, w.updates[page], options.BulkWrite().SetOrdered(false))
	if err != nil {
		return fmt.Errorf("writing a bulk: %w", err)
	}
	if n := res.ModifiedCount + res.UpsertedCount; n != int64(len(w.updates[page])) {
		return fmt.Errorf("%d of %d updates changed a document", n, len(w.updates[page]))
	}
	return nil
}

// conditional is the stage of the update that Apply makes, written anew.
func conditional(b mongodb.Bulk, write mongodb.Write) bson.D {
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
	return bson.D{{Key: "$replaceWith", Value: bson.D{{Key: "$switch", Value: bson.D{
		{Key: "branches", Value: bson.A{branch(fresh, literal(write.Doc)), branch(missing, late)}},
		{Key: "default", Value: "$$ROOT"},
	}}}}}
}

func literal(v any) bson.D { return bson.D{{Key: "$literal", Value: v}} }

// documents is the collection under the write concern that Apply uses.
func (w *world) documents() *mongo.Collection {
	database := w.raw.Database(w.databaseName(), options.Database().SetWriteConcern(writeconcern.Majority()))
	return database.Collection(w.model.Collection())
}
