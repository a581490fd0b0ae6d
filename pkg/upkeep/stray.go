package upkeep

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/bson"

	"prejoin/pkg/mongodb"
	"prejoin/pkg/readmodel"
)

// Strays counts the documents that no configured shard wrote: no walk over the
// shards reaches them. It reads each collection once.
func Strays(ctx context.Context, reader Documents, models []*readmodel.Model, shards []string) (int64, error) {
	var strays int64
	for _, m := range models {
		cursor, err := reader.Find(ctx, mongodb.Find{Collection: m.Collection(), Projection: bson.D{{Key: "_id", Value: 1}},
			Filter: bson.D{{Key: "_p.s", Value: bson.D{{Key: "$nin", Value: shards}}}, mongodb.Live}})
		if err != nil {
			return 0, fmt.Errorf("looking for documents of other shards in %s: %w", m.Collection(), err)
		}
		found, err := collect(ctx, cursor, 0)
		if err != nil {
			return 0, fmt.Errorf("looking for documents of other shards in %s: %w", m.Collection(), err)
		}
		strays += int64(len(found))
	}
	return strays, nil
}
