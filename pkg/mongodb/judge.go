package mongodb

import (
	"context"
	"strconv"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/bsontype"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"
	"go.mongodb.org/mongo-driver/x/bsonx/bsoncore"
)

// judge fills in the outcomes of one chunk. Where each write changed a
// document, all were applied, except that a late stub counts as upserted; so
// upserted ids are read back unless the chunk surely was in time. Where some
// write changed nothing, all are read back.
func (db *DB) judge(ctx context.Context, b Bulk, c chunk, result *mongo.BulkWriteResult, poison []Poison, outcomes []Outcome) error {
	for _, place := range c.places {
		outcomes[place] = Applied
	}
	for _, p := range poison {
		outcomes[p.Index] = Poisoned
	}
	changed := result.ModifiedCount + result.UpsertedCount
	doubtful := c.places
	if changed >= int64(len(c.places)-len(poison)) {
		doubtful = nil
		if !db.inTime(b.Clock) {
			doubtful = upserted(c, result)
		}
	}
	if len(doubtful) == 0 {
		return nil
	}
	stamps, err := db.stamps(ctx, b, doubtful)
	if err != nil {
		return err
	}
	settle(b, doubtful, stamps, int(changed), outcomes)
	return nil
}

func upserted(c chunk, result *mongo.BulkWriteResult) []int {
	places := make([]int, 0, len(result.UpsertedIDs))
	for index := range result.UpsertedIDs {
		places = append(places, c.places[index])
	}
	return places
}

// settle judges the doubtful writes by what is there now. Those that find
// their very version were applied if the counts allow all of them to be; if
// not, an equal version had been there before, and they count as superfluous.
func settle(b Bulk, doubtful []int, stamps map[string]stamp, changed int, outcomes []Outcome) {
	var equal []int
	for _, place := range doubtful {
		if outcomes[place] == Poisoned {
			continue
		}
		s, found := stamps[idKey(b.Writes[place].ID)]
		outcomes[place] = verdict(b, s, found)
		if found && outcomes[place] == Superfluous && s.version == b.Version {
			equal = append(equal, place)
		}
	}
	if len(equal) <= changed {
		for _, place := range equal {
			outcomes[place] = Applied
		}
	}
}

// verdict says what a stored stamp means for a write that was done before it
// was read.
func verdict(b Bulk, s stamp, found bool) Outcome {
	switch {
	case !found: // an expired tombstone, or a document that someone removed
		return Late
	case s.shard != b.Shard:
		return OtherShard
	case s.version.Epoch > b.Version.Epoch:
		return OtherEpoch
	case s.version.Less(b.Version): // a late stub, or a document that the late write left
		return Late
	}
	return Superfluous
}

// stamps reads the _p of the writes at places, as a majority holds it: after a
// bulk with w: majority that is no older than what the bulk saw.
func (db *DB) stamps(ctx context.Context, b Bulk, places []int) (map[string]stamp, error) {
	limited, cancel := context.WithTimeout(ctx, db.bulkTimeout)
	defer cancel()
	cursor, err := db.w.Collection(b.Collection).Find(limited, idFilter(b, places),
		options.Find().SetProjection(bson.D{op("_p", 1)}).SetBatchSize(maxChunkWrites+1).SetMaxTime(db.bulkTimeout))
	if err != nil {
		return nil, classify(ctx, "reading back what "+b.Collection+" holds", err)
	}
	defer closeCursor(ctx, cursor)
	found := make(map[string]stamp, len(places))
	for cursor.Next(limited) {
		// A document without a stamp is not ours: it keeps the zero stamp,
		// which names no shard, so its writer is OtherShard.
		found[idKey(cursor.Current.Lookup("_id"))], _ = stampOf(cursor.Current)
	}
	return found, classify(ctx, "reading back what "+b.Collection+" holds", cursor.Err())
}

func idFilter(b Bulk, places []int) bson.Raw {
	filter, dst := bsoncore.AppendDocumentStart(nil)
	id, dst := bsoncore.AppendDocumentElementStart(dst, "_id")
	in, dst := bsoncore.AppendArrayElementStart(dst, "$in")
	for i, place := range places {
		w := b.Writes[place]
		dst = bsoncore.AppendValueElement(dst, strconv.Itoa(i), bsoncore.Value{Type: w.ID.Type, Data: w.ID.Value})
	}
	return bson.Raw(end(end(end(dst, in), id), filter))
}

// idKey makes ids comparable as MongoDB compares them: 5 is 5 in any width.
func idKey(id bson.RawValue) string {
	if n, ok := id.AsInt64OK(); ok && id.Type != bsontype.Double {
		return "n" + strconv.FormatInt(n, 10)
	}
	return "s" + string(id.Value)
}
