package livepath

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"

	"prejoin/pkg/devstack"
	"prejoin/pkg/kafka"
	"prejoin/pkg/mongodb"
	"prejoin/pkg/postgres"
	"prejoin/pkg/readmodel"
	"prejoin/pkg/refresh"
	"prejoin/pkg/sample"
)

// world is one seeded shard, MongoDB with its documents, and the live loop
// between them.
type world struct {
	model *readmodel.Model
	stack *devstack.Stack
	owner *pgx.Conn // makes transactions
	raw   *mongo.Client
	db    *mongodb.DB
	shard *postgres.Shard
	guard *refresh.Guard

	refresher *refresh.Refresher
	live      *live
	pages     [][]string // all ids
	rows      int

	txid     uint32               // of the last commit
	bulks    []mongodb.Bulk       // what read made, one a page
	updates  [][]mongo.WriteModel // what encode made of them
	messages []kafka.Message      // what compose made, one a row
}

const shardName = "shard0"

func newWorld(ctx context.Context, m *readmodel.Model, settlements int) (*world, error) {
	w := &world{model: m}
	for _, step := range []func(context.Context) error{
		func(ctx context.Context) (err error) {
			w.stack, err = devstack.Start(ctx, devstack.Config{Shards: 1, Mongo: true, Kafka: true})
			return err
		},
		func(ctx context.Context) error { return w.seed(ctx, settlements) },
		w.connect, w.enlist, w.list, w.refreshAll,
		func(ctx context.Context) (err error) { w.live, err = startLive(ctx, w); return err },
	} {
		if err := step(ctx); err != nil {
			return nil, errors.Join(err, w.close())
		}
	}
	return w, nil
}

func (w *world) dsn() string { return w.stack.Shards[0].DSN(shardName) }

func (w *world) seed(ctx context.Context, settlements int) error {
	if err := sample.Migrate(ctx, w.dsn(), 0, 1); err != nil {
		return err
	}
	_, err := sample.Seed(ctx, sample.SeedConfig{Shards: []string{w.dsn()}, Settlements: settlements, Seed: 1})
	return err
}

func (w *world) connect(ctx context.Context) (err error) {
	if w.owner, err = pgx.Connect(ctx, w.dsn()); err != nil {
		return fmt.Errorf("connecting to the shard: %w", err)
	}
	if w.raw, err = mongo.Connect(ctx, options.Client().ApplyURI(w.stack.Mongo.URI())); err != nil {
		return fmt.Errorf("connecting to MongoDB: %w", err)
	}
	if w.db, err = mongodb.Open(ctx, mongodb.Config{URI: w.stack.Mongo.URI(), Database: devstack.DefaultDatabase, AppName: "bench"}); err != nil {
		return err
	}
	w.shard, err = postgres.Open(ctx, postgres.Config{Name: shardName, DSN: w.dsn(), AppName: "bench"})
	return err
}

func (w *world) enlist(ctx context.Context) (err error) {
	if err := w.db.Prepare(ctx, w.model); err != nil {
		return err
	}
	if w.guard, err = refresh.Enlist(ctx, w.shard, w.db, refresh.Walk); err != nil {
		return err
	}
	w.refresher = refresh.New(refresh.Config{Source: w.shard, Target: w.db, Guard: w.guard, Model: w.model,
		Metrics: refresh.NewMetrics(prometheus.NewRegistry()), Log: slog.New(slog.DiscardHandler)})
	return nil
}

// list learns all ids, a page a batch.
func (w *world) list(ctx context.Context) error {
	last := ""
	for {
		ids, err := w.refresher.IDs(ctx, last, batchIDs)
		if err != nil || len(ids) == 0 {
			return err
		}
		w.pages = append(w.pages, ids)
		w.rows += len(ids)
		last = ids[len(ids)-1]
	}
}

// commit makes one transaction: the rank rises by one, no row of the model changes.
func (w *world) commit(ctx context.Context) error {
	var text string
	err := w.owner.QueryRow(ctx, "UPDATE prejoin.heartbeat SET at = now() WHERE id = 1 RETURNING pg_current_xact_id()::text").Scan(&text)
	if err != nil {
		return fmt.Errorf("making a transaction on the shard: %w", err)
	}
	id, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return fmt.Errorf("reading the transaction id %q: %w", text, err)
	}
	w.txid = uint32(id) //nolint:gosec // messages carry the low 32 bits
	return nil
}

// close ends what was started, the last first.
func (w *world) close() error {
	ctx := context.Background()
	var errs []error
	if w.live != nil {
		errs = append(errs, w.live.close())
	}
	if w.shard != nil {
		w.shard.Close()
	}
	if w.db != nil {
		errs = append(errs, w.db.Close(ctx))
	}
	if w.raw != nil {
		errs = append(errs, w.raw.Disconnect(ctx))
	}
	if w.owner != nil {
		errs = append(errs, w.owner.Close(ctx))
	}
	if w.stack != nil {
		errs = append(errs, w.stack.Stop())
	}
	return errors.Join(errs...)
}
