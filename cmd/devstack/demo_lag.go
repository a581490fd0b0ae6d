package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"
)

// lag is how long a committed change took to be in its document.
type lag struct {
	median, worst time.Duration
	probes        int
}

// probeLag renames the product of one order of the largest merchant again and
// again, and looks for the new name in MongoDB, until ctx ends.
func (d *demo) probeLag(ctx context.Context) (lag, error) {
	client, err := mongo.Connect(ctx, options.Client().ApplyURI(d.stack.Mongo.URI()))
	if err != nil {
		return lag{}, fmt.Errorf("measuring the lag: %w", err)
	}
	defer client.Disconnect(context.WithoutCancel(ctx))
	conn, err := d.largestMerchantsShard(ctx)
	if err != nil {
		return lag{}, fmt.Errorf("measuring the lag: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	documents, err := served(ctx, client.Database(database), "settlement")
	if err != nil {
		return lag{}, err
	}
	var took []time.Duration
	for n := 0; ctx.Err() == nil; n++ {
		one, err := probe(ctx, conn, documents, n)
		if err == nil {
			took = append(took, one)
		} else if ctx.Err() == nil && !errors.Is(err, errOvertaken) {
			return lag{}, fmt.Errorf("measuring the lag: %w", err)
		}
		_ = sleep(ctx, 200*time.Millisecond)
	}
	if len(took) == 0 {
		return lag{}, fmt.Errorf("measuring the lag: no change reached its document in %v; see %s", d.cmd.For, d.stack.Folder.File("projector-run.log"))
	}
	slices.Sort(took)
	return lag{took[len(took)/2], took[len(took)-1], len(took)}, nil
}

// largest is the id of the sample's largest merchant.
const largest = 1

func (d *demo) largestMerchantsShard(ctx context.Context) (*pgx.Conn, error) {
	conn, err := pgx.Connect(ctx, d.dsns()[0])
	if err != nil {
		return nil, err
	}
	var shard string
	err = conn.QueryRow(ctx, "SELECT shard FROM shard_map WHERE merchant_id = $1", largest).Scan(&shard)
	for _, p := range d.stack.Shards {
		if err == nil && p.Name == shard && p != d.stack.Shards[0] {
			conn.Close(ctx)
			return pgx.Connect(ctx, p.DSN(p.Name))
		}
	}
	return conn, err
}
