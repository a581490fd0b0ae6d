package mongodb

import (
	"context"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"
)

var sortByID = options.Find().SetSort(bson.D{op("_id", 1)})

// ShardRecord is what is known of one shard's life (design §4, "Epoch").
type ShardRecord struct {
	Name             string   `bson:"_id"`
	Epoch            int64    `bson:"epoch"`        // 1 at first
	Incarnations     []string `bson:"incarnations"` // uuids, the current one last
	SystemIdentifier string   `bson:"systemIdentifier"`
	Timeline         int32    `bson:"timeline"`
	HighestRank      int64    `bson:"highestRank"` // of the current epoch
	// Walked is the last epoch under which every document was read again. While
	// it is below Epoch, documents may hold what the shard has lost.
	Walked int64 `bson:"walked"`
}

// Shard returns the record of that shard, as a majority holds it, or ErrNotFound.
func (db *DB) Shard(ctx context.Context, name string) (*ShardRecord, error) {
	var s ShardRecord
	if err := db.readOne(ctx, "reading the record of shard "+name, shardsCollection, name, &s); err != nil {
		return nil, err
	}
	return &s, nil
}

// Shards returns all records, by name.
func (db *DB) Shards(ctx context.Context) ([]ShardRecord, error) {
	var all []ShardRecord
	return all, db.readAll(ctx, "reading the records of the shards", shardsCollection, bson.D{}, &all)
}

// RegisterShard stores the record of a shard that has none, with epoch 1 if it
// says 0, and returns the one that is stored: where two register at once,
// both get the same.
func (db *DB) RegisterShard(ctx context.Context, s ShardRecord) (*ShardRecord, error) {
	if s.Epoch == 0 {
		s.Epoch = 1
	}
	s.Walked = s.Epoch // nothing was written under an earlier one
	err := record(ctx, "registering shard "+s.Name, func(ctx context.Context) error {
		_, err := db.w.Collection(shardsCollection).InsertOne(ctx, s)
		if mongo.IsDuplicateKeyError(err) {
			return nil
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return db.Shard(ctx, s.Name)
}

// RaiseEpoch replaces the record seen by next under epoch seen.Epoch+1, unless
// another process was first. It returns the record that is stored after it,
// and whether it is this call's.
func (db *DB) RaiseEpoch(ctx context.Context, seen, next ShardRecord) (*ShardRecord, bool, error) {
	next.Name, next.Epoch = seen.Name, seen.Epoch+1
	raised := false
	err := record(ctx, "raising the epoch of shard "+seen.Name, func(ctx context.Context) error {
		filter := bson.D{op("_id", seen.Name), op("epoch", seen.Epoch)}
		result, err := db.w.Collection(shardsCollection).ReplaceOne(ctx, filter, next)
		if err == nil {
			raised = result.MatchedCount == 1
		}
		return err
	})
	if err != nil {
		return nil, false, err
	}
	stored, err := db.Shard(ctx, seen.Name)
	return stored, raised, err
}

// RecordWalk notes that every document of the shard was read under an epoch, and
// reports whether the record still shows it.
func (db *DB) RecordWalk(ctx context.Context, shard string, epoch int64) (current bool, err error) {
	err = record(ctx, "recording the walk of shard "+shard, func(ctx context.Context) error {
		result, err := db.w.Collection(shardsCollection).UpdateOne(ctx, bson.D{op("_id", shard), op("epoch", epoch)}, bson.D{op("$set", bson.D{op("walked", epoch)})})
		if err == nil {
			current = result.MatchedCount == 1
		}
		return err
	})
	return current, err
}

// RecordRank notes a rank that was reached under an epoch, and reports whether
// the record still shows that epoch: only then may offsets be committed. As a
// write with w: majority it cannot be answered by a deposed primary.
func (db *DB) RecordRank(ctx context.Context, shard string, epoch, rank int64) (current bool, err error) {
	err = record(ctx, "recording the rank of shard "+shard, func(ctx context.Context) error {
		filter := bson.D{op("_id", shard), op("epoch", epoch)}
		update := bson.D{op("$max", bson.D{op("highestRank", rank)})}
		result, err := db.w.Collection(shardsCollection).UpdateOne(ctx, filter, update)
		if err == nil {
			current = result.MatchedCount == 1
		}
		return err
	})
	return current, err
}
