package mongodb

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"
)

// TopicPartition names one partition of a topic.
type TopicPartition struct {
	Topic     string
	Partition int
}

type watermark struct {
	ID   string `bson:"_id"` // <group>/<topic>/<partition>; a topic's name has no slash
	Next int64  `bson:"next"`
}

// Watermarks returns, for each partition that the group has stored, the offset
// to be read next.
func (db *DB) Watermarks(ctx context.Context, group string) (map[TopicPartition]int64, error) {
	// All ids that begin with "group/": '0' follows '/'.
	filter := bson.D{op("_id", bson.D{op("$gte", group+"/"), op("$lt", group+"0")})}
	var stored []watermark
	if err := db.readAll(ctx, "reading the watermarks of group "+group, watermarksCollection, filter, &stored); err != nil {
		return nil, err
	}
	next := make(map[TopicPartition]int64, len(stored))
	for _, w := range stored {
		// A group's own name may hold a slash, so that another group's begins like it.
		if tp, ok := strings.CutPrefix(w.ID, group+"/"); ok && strings.Count(tp, "/") == 1 {
			topic, number, _ := strings.Cut(tp, "/")
			partition, err := strconv.Atoi(number)
			if err != nil {
				return nil, fmt.Errorf("reading the watermark %q: its partition is no number; remove it from %s", w.ID, watermarksCollection)
			}
			next[TopicPartition{topic, partition}] = w.Next
		}
	}
	return next, nil
}

// StoreWatermarks stores the offsets to be read next, before they are
// committed to Kafka. It does not keep the higher of two: a recreated topic
// starts at a lower one.
func (db *DB) StoreWatermarks(ctx context.Context, group string, next map[TopicPartition]int64) error {
	if len(next) == 0 {
		return nil
	}
	models := make([]mongo.WriteModel, 0, len(next))
	for tp, offset := range next {
		id := fmt.Sprintf("%s/%s/%d", group, tp.Topic, tp.Partition)
		models = append(models, mongo.NewUpdateOneModel().SetUpsert(true).
			SetFilter(bson.D{op("_id", id)}).SetUpdate(bson.D{op("$set", bson.D{op("next", offset)})}))
	}
	return record(ctx, "storing the watermarks of group "+group, func(ctx context.Context) error {
		_, err := db.w.Collection(watermarksCollection).BulkWrite(ctx, models, options.BulkWrite().SetOrdered(false))
		return err
	})
}
