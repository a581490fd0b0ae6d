package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"

	"prejoin/pkg/devstack"
)

// database is where the daemons keep the documents.
const database = devstack.DefaultDatabase

// merchant is one merchant's share of a shard.
type merchant struct {
	id    int64
	name  string
	shard string
	rows  int64
}

// survey counts what is where.
type survey struct {
	shards    []shardRows
	merchants []merchant // of all shards, largest first
	total     int64      // settlements
	documents []collection
}

type shardRows struct {
	name                     string
	settlements, lines, rows int64
}

// collection is a served read model and its living documents.
type collection struct {
	model, name string
	documents   int64
}

func (d *demo) survey(ctx context.Context) (s survey, err error) {
	for _, p := range d.stack.Shards {
		if err := s.shard(ctx, p); err != nil {
			return s, fmt.Errorf("counting the rows of %s: %w", p.Name, err)
		}
	}
	slices.SortFunc(s.merchants, func(a, b merchant) int { return int(b.rows - a.rows) })
	if err := s.models(ctx, d.stack.Mongo.URI()); err != nil {
		return s, fmt.Errorf("counting documents: %w", err)
	}
	return s, nil
}

func (s *survey) shard(ctx context.Context, p *devstack.Postgres) error {
	conn, err := pgx.Connect(ctx, p.DSN(p.Name))
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	one := shardRows{name: p.Name}
	const counts = `SELECT s, l, s + l + (SELECT count(*) FROM orders) + (SELECT count(*) FROM payment) + (SELECT count(*) FROM merchant)
		FROM (SELECT (SELECT count(*) FROM settlement) s, (SELECT count(*) FROM settlement_line) l) x`
	if err := conn.QueryRow(ctx, counts).Scan(&one.settlements, &one.lines, &one.rows); err != nil {
		return err
	}
	s.shards, s.total = append(s.shards, one), s.total+one.settlements
	const top = `SELECT m.id, m.name, count(*) FROM settlement s JOIN merchant m ON m.id = s.merchant_id GROUP BY m.id ORDER BY 3 DESC LIMIT 10`
	rows, err := conn.Query(ctx, top)
	if err != nil {
		return err
	}
	merchants, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (merchant, error) {
		m := merchant{shard: p.Name}
		err := r.Scan(&m.id, &m.name, &m.rows)
		return m, err
	})
	s.merchants = append(s.merchants, merchants...)
	return err
}

func (s *survey) models(ctx context.Context, uri string) error {
	client, err := mongo.Connect(ctx, options.Client().ApplyURI(uri))
	if err != nil {
		return err
	}
	defer client.Disconnect(context.WithoutCancel(ctx))
	names, err := client.Database(database).Collection("_prejoin.models").Distinct(ctx, "_id", bson.D{})
	if err != nil {
		return err
	}
	for _, name := range names {
		model := fmt.Sprint(name)
		documents, err := served(ctx, client.Database(database), model)
		if err != nil {
			return err
		}
		n, err := documents.CountDocuments(ctx, bson.M{"_p.del": bson.M{"$exists": false}})
		if err != nil {
			return err
		}
		s.documents = append(s.documents, collection{model, documents.Name(), n})
	}
	return nil
}

// served is the collection that answers for a model.
func served(ctx context.Context, db *mongo.Database, model string) (*mongo.Collection, error) {
	var row struct{ Served string }
	if err := db.Collection("_prejoin.models").FindOne(ctx, bson.M{"_id": model}).Decode(&row); err != nil {
		return nil, fmt.Errorf("looking for the collection of %s: %w", model, err)
	}
	return db.Collection(row.Served), nil
}
