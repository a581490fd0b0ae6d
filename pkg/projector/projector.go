package projector

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"prejoin/pkg/cdc"
	"prejoin/pkg/kafka"
	"prejoin/pkg/readmodel"
	"prejoin/pkg/retry"
	"prejoin/pkg/route"
)

// Group hands out generations; *kafka.Group is one.
type Group interface {
	Next(context.Context) (*kafka.Generation, error)
}

// Store keeps what a restart needs beside the broker's offsets.
type Store interface {
	// Watermarks are the offsets to read next that were stored last.
	Watermarks(context.Context) (map[kafka.TopicPartition]int64, error)
	// StoreWatermarks stores them, held by a majority.
	StoreWatermarks(context.Context, map[kafka.TopicPartition]int64) error
	// Confirm fails unless each shard's record still shows the epoch that this
	// process reads under, and records the highest ranks.
	Confirm(context.Context) error
}

// Lane is one shard and one model: what refreshes its documents.
type Lane struct {
	Shard     string
	Model     *readmodel.Model
	Refresher Refresher
	Walker    Walker
	Asker     Asker
}

// Config is what a Projector is made of.
type Config struct {
	Group     Group
	Name      string // the group's
	Store     Store
	Lanes     []Lane
	Earliest  func(context.Context, kafka.TopicPartition) (int64, error) // the first offset that the broker has
	Temporary func(error) bool                                           // tells outages of the store
	Metrics   *Metrics
	Log       *slog.Logger

	BatchIDs     int           // documents a batch; default 1,000
	BatchBytes   int64         // message bytes a batch; default 8 MiB
	Linger       time.Duration // the longest wait for a batch to fill; default 20 ms
	Workers      int           // batches in flight a lane; default 2
	InFlight     int64         // message bytes that are fetched and not done; default 32 MiB
	CommitEvery  time.Duration // default 500 ms
	StopDeadline time.Duration // for finishing what was fetched at a stop; default 5 s
}

// Projector is the live loop of one process.
type Projector struct {
	cfg    Config
	routes []laneRoutes
}

type laneRoutes struct {
	shard  string
	router *route.Router
}

// New checks the configuration and fills in the defaults.
func New(cfg Config) (*Projector, error) {
	if len(cfg.Lanes) == 0 {
		return nil, errors.New("there is nothing to project: configure at least one shard and one model")
	}
	if cfg.BatchIDs < 0 || cfg.BatchIDs > 10_000 || cfg.Workers < 0 || cfg.Workers > 64 || cfg.Linger < 0 {
		return nil, errors.New("a batch holds up to 10,000 documents, with up to 64 workers and a linger of 0 or more: leave them out for the defaults")
	}
	cfg.BatchIDs = cmp.Or(cfg.BatchIDs, 1000)
	cfg.BatchBytes = cmp.Or(cfg.BatchBytes, 8<<20)
	cfg.Linger = cmp.Or(cfg.Linger, 20*time.Millisecond)
	cfg.Workers = cmp.Or(cfg.Workers, 2)
	cfg.InFlight = cmp.Or(cfg.InFlight, 32<<20)
	cfg.CommitEvery = cmp.Or(cfg.CommitEvery, 500*time.Millisecond)
	cfg.StopDeadline = cmp.Or(cfg.StopDeadline, 5*time.Second)
	p := &Projector{cfg: cfg}
	for _, l := range cfg.Lanes {
		p.routes = append(p.routes, laneRoutes{l.Shard, route.New(l.Model)})
	}
	return p, nil
}

// Topics are those of all routed tables: SHARD.SCHEMA.TABLE.
func Topics(shards []string, models []*readmodel.Model) []string {
	seen := map[string]bool{}
	var topics []string
	for _, shard := range shards {
		for _, m := range models {
			for _, rt := range m.Routes {
				if topic := shard + "." + rt.Table; !seen[topic] {
					seen[topic] = true
					topics = append(topics, topic)
				}
			}
		}
	}
	return topics
}

// Run works until the context ends, which is no error, or until something
// fails that waiting cannot cure.
func (p *Projector) Run(ctx context.Context) error {
	for {
		gen, err := p.join(ctx)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // a stop is no failure
		}
		if err != nil {
			return fmt.Errorf("joining the consumer group: %w", err)
		}
		p.cfg.Metrics.lag.Reset() // those of the generation before may be another member's now
		p.cfg.Metrics.assigned.Set(float64(len(gen.Assignments)))
		p.cfg.Log.Info("partitions assigned", "generation", gen.ID, "partitions", len(gen.Assignments))
		err = p.generation(ctx, gen)
		gen.Release()
		p.cfg.Metrics.assigned.Set(0)
		if errors.Is(err, kafka.ErrOwnershipLost) {
			err = nil
		}
		if err != nil || ctx.Err() != nil {
			return err
		}
		p.cfg.Log.Info("partitions given up: the group rebalances", "generation", gen.ID)
	}
}

func (p *Projector) join(ctx context.Context) (gen *kafka.Generation, err error) {
	policy := retry.Policy{First: 200 * time.Millisecond, Notify: p.notify("waiting for Kafka")}
	err = retry.Do(ctx, policy, kafka.Temporary, func(ctx context.Context) error {
		gen, err = p.cfg.Group.Next(ctx)
		return err
	})
	return gen, err
}

func (p *Projector) notify(what string) func(error, int, time.Duration) {
	return func(err error, attempt int, wait time.Duration) {
		if attempt == 1 || attempt%20 == 0 {
			p.cfg.Log.Warn(what, "error", err, "attempt", attempt, "wait", wait.Round(time.Millisecond))
		}
	}
}

// wanted are the columns that any lane's routes use.
func (p *Projector) wanted(schema, table string) []string {
	var columns []string
	for _, r := range p.routes {
		columns = append(columns, r.router.Wanted(schema, table)...)
	}
	return columns
}

// decode reads a message; the error says where it is.
func (p *Projector) decode(m *kafka.Message) (cdc.Change, error) {
	headers := make([]cdc.Header, len(m.Headers))
	for i, h := range m.Headers {
		headers[i] = cdc.Header{Key: h.Key, Value: h.Value}
	}
	c, err := cdc.Decode(cdc.Message{Topic: m.Topic, Key: m.Key, Value: m.Value, Headers: headers}, p.wanted)
	if err != nil {
		return c, atMessage(m, err)
	}
	if c.Kind == cdc.Row && !c.Snapshot && !c.HasTxID {
		return c, atMessage(m, errors.New("the change carries no transaction id: let the connector send source.txId"))
	}
	return c, nil
}

func atMessage(m *kafka.Message, err error) error {
	return fmt.Errorf("message %s[%d]@%d stops the projector, because nothing may be skipped: %w", m.Topic, m.Partition, m.Offset, err)
}
