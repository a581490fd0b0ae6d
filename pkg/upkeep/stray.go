package upkeep

import (
	"context"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/bson"

	"prejoin/pkg/mongodb"
	"prejoin/pkg/readmodel"
	"prejoin/pkg/refresh"
)

// Strays counts the documents that no configured shard wrote: no walk over the
// shards reaches them. It lists each collection once, by pages.
func Strays(ctx context.Context, lister refresh.Lister, models []*readmodel.Model, shards []string) (int64, error) {
	var strays int64
	for _, m := range models {
		n, err := straysOf(ctx, lister, m.Collection(), shards)
		if err != nil {
			return 0, fmt.Errorf("looking for documents of other shards in %s: %w", m.Collection(), err)
		}
		strays += n
	}
	return strays, nil
}

func straysOf(ctx context.Context, lister refresh.Lister, collection string, shards []string) (strays int64, err error) {
	const size = 10_000
	for filter := (bson.D{}); ; {
		var last bson.RawValue
		n := 0
		err := refresh.Scan(ctx, lister, mongodb.Find{Collection: collection, Filter: filter, Limit: size, Primary: true}, func(l refresh.Listed) {
			last = l.ID
			n++
			if !l.Gone && !slices.Contains(shards, l.Shard) {
				strays++
			}
		})
		if err != nil || n < size {
			return strays, err
		}
		filter = bson.D{{Key: "_id", Value: bson.D{{Key: "$gt", Value: last}}}}
	}
}
