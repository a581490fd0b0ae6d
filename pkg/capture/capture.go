package capture

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"prejoin/pkg/kafka"
	"prejoin/pkg/logging"
)

// Config describes what is captured.
type Config struct {
	Shards         []Source
	Slot           string        // default prejoin
	Publication    string        // default prejoin
	Partitions     int           // of a topic that does not exist; default 4
	Replication    int           // of a topic that does not exist; default 1
	Heartbeat      time.Duration // default 5 s
	QueueBytes     int           // of messages read and not yet sent, a shard; default 8 MiB
	AcceptLostSlot bool          // create a slot anew that existed and is gone, once at the start: a backfill must follow
	Registry       prometheus.Registerer
	Log            *slog.Logger
}

// Source is a shard to capture.
type Source struct {
	Name string // the topics' prefix and source.name
	DSN  string // of a role that may replicate, select the published tables and write prejoin.heartbeat
}

// Broker is what capture needs of Kafka.
type Broker interface {
	EnsureTopics(ctx context.Context, topics []string, partitions, replication int) error
	Send(ctx context.Context, messages []kafka.Message) error
}

// Capture captures all shards.
type Capture struct {
	cfg    Config
	shards []*shard
}

// New checks the configuration. It connects to nothing.
func New(ctx context.Context, cfg Config, broker Broker) (*Capture, error) {
	if len(cfg.Shards) == 0 {
		return nil, errors.New("no shard to capture: give --shard NAME=DSN or set SHARD0_DSN, …")
	}
	cfg.Slot = cmp.Or(cfg.Slot, "prejoin")
	cfg.Publication = cmp.Or(cfg.Publication, "prejoin")
	cfg.Partitions = cmp.Or(cfg.Partitions, 4)
	cfg.Replication = cmp.Or(cfg.Replication, 1)
	cfg.Heartbeat = cmp.Or(cfg.Heartbeat, 5*time.Second)
	cfg.QueueBytes = cmp.Or(cfg.QueueBytes, 8<<20)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	metrics := newMetrics(cfg.Registry)
	c := &Capture{cfg: cfg}
	for _, source := range cfg.Shards {
		s, err := newShard(ctx, cfg, source, broker, metrics)
		if err != nil {
			c.close()
			return nil, err
		}
		c.shards = append(c.shards, s)
	}
	return c, nil
}

// Run captures until ctx ends. A shard that cannot go on stops alone, is logged and makes Ready fail; Run returns the shards' errors when ctx
// ends or none is left.
func (c *Capture) Run(ctx context.Context) error {
	defer c.close()
	failures := make([]error, len(c.shards))
	var running sync.WaitGroup
	for i, s := range c.shards {
		running.Go(func() {
			if failures[i] = s.run(ctx); failures[i] != nil {
				s.setState(failures[i])
				s.log.ErrorContext(ctx, "this shard is no longer captured; the others go on", "error", logging.RedactText(failures[i].Error()))
			}
		})
	}
	running.Wait()
	return errors.Join(failures...)
}

// Ready returns nil when the topics of each shard exist, its slot exists, and it is being read; else which shard is not, and why.
func (c *Capture) Ready(context.Context) error {
	for _, s := range c.shards {
		if err := s.state(); err != nil {
			return fmt.Errorf("shard %s is not captured: %w", s.name, err)
		}
	}
	return nil
}

func (c *Capture) close() {
	for _, s := range c.shards {
		s.source.Close()
	}
}
