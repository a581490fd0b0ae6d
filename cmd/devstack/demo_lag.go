package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"go.mongodb.org/mongo-driver/bson"
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
	for ctx.Err() == nil {
		one, err := probe(ctx, conn, documents, len(took))
		if err == nil {
			took = append(took, one)
		} else if ctx.Err() == nil {
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

// probe changes one order and waits until a document of it shows the change.
func probe(ctx context.Context, conn *pgx.Conn, documents *mongo.Collection, n int) (time.Duration, error) {
	const change = `UPDATE orders o SET product_name = regexp_replace(product_name, ' #[0-9]+$', '') || $2
		FROM settlement s WHERE s.order_id = o.id AND s.merchant_id = $1 AND s.id = $3 RETURNING o.product_name`
	var id int64
	if err := conn.QueryRow(ctx, "SELECT id FROM settlement WHERE merchant_id = $1 ORDER BY id OFFSET $2 LIMIT 1", largest, n%50).Scan(&id); err != nil {
		return 0, err
	}
	var name string
	if err := conn.QueryRow(ctx, change, largest, fmt.Sprintf(" #%d", n), id).Scan(&name); err != nil {
		return 0, err
	}
	committed := time.Now()
	for {
		// The workload may rename it meanwhile, or delete the settlement.
		var row struct {
			Name string `bson:"productName"`
		}
		err := documents.FindOne(ctx, bson.M{"_id": id}).Decode(&row)
		if err == nil && row.Name == name {
			return time.Since(committed), nil
		}
		if err != nil && !errors.Is(err, mongo.ErrNoDocuments) {
			return 0, err
		}
		if err := sleep(ctx, 2*time.Millisecond); err != nil {
			return 0, err
		}
	}
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
