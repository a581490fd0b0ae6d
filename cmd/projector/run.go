package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"prejoin/pkg/admin"
	"prejoin/pkg/kafka"
	"prejoin/pkg/projector"
	"prejoin/pkg/refresh"
)

// RunCmd keeps the documents up to date from Kafka.
type RunCmd struct {
	Group     string        `help:"Kafka consumer group." default:"prejoin-projector" env:"PROJECTOR_GROUP"`
	AdminAddr string        `help:"Where /livez, /readyz and /metrics are served." default:"127.0.0.1:9187" env:"PROJECTOR_ADMIN_ADDR"`
	Linger    time.Duration `help:"The longest wait for a batch to fill." default:"20ms"`
	Batch     int           `help:"Documents a batch at most." default:"1000"`
	Workers   int           `help:"Batches in flight a shard and model." default:"2"`
	Session   time.Duration `help:"Without a heartbeat for so long a member is dead and its partitions go to others." default:"10s"`
}

// Validate refuses limits that would be none; kong calls it after parsing.
func (c *RunCmd) Validate() error {
	switch {
	case c.Batch < 1 || c.Batch > 10_000 || c.Workers < 1 || c.Workers > 64:
		return errors.New("--batch is 1 to 10000 documents, --workers 1 to 64")
	case c.Linger < 0 || c.Linger > time.Minute || c.Session < time.Second:
		return errors.New("--linger is 0 to 1m, --session at least 1s")
	}
	return nil
}

// Run runs the subcommand until ctx ends.
func (c *RunCmd) Run(ctx context.Context, env *Env) error {
	h, err := openHouse(ctx, env, refresh.Work)
	if err != nil {
		return err
	}
	defer h.close()
	client, err := openKafka(ctx, env)
	if err != nil {
		return err
	}
	defer client.Close()
	group, err := client.NewGroup(kafka.GroupConfig{Group: c.Group, Topics: projector.Topics(h.shardNames(), h.models), Session: c.Session, Heartbeat: c.Session / 5})
	if err != nil {
		return err
	}
	defer group.Close()
	p, err := projector.New(c.config(h, client, group))
	if err != nil {
		return err
	}
	return c.serve(ctx, h, client, p)
}

func openKafka(ctx context.Context, env *Env) (*kafka.Client, error) {
	if len(env.Brokers) == 0 {
		return nil, errors.New("no Kafka broker is configured: give --brokers, or set KAFKA_BROKERS")
	}
	client, err := kafka.Open(kafka.Config{Brokers: env.Brokers, ClientID: "projector", Log: env.Log})
	if err != nil {
		return nil, err
	}
	if err := client.Ping(ctx); err != nil {
		client.Close()
		return nil, fmt.Errorf("reaching Kafka at %v: %w; is a broker running there?", env.Brokers, err)
	}
	return client, nil
}

func (c *RunCmd) config(h *house, client *kafka.Client, group *kafka.Group) projector.Config {
	s := &store{db: h.db, group: c.Group, guards: map[string]*refresh.Guard{}}
	for i, g := range h.guards {
		s.guards[h.shards[i].Name()] = g
	}
	cfg := projector.Config{Group: group, Name: c.Group, Store: s, Temporary: refresh.Temporary, Metrics: projector.NewMetrics(h.registry), Log: h.env.Log,
		BatchIDs: c.Batch, Linger: c.Linger, Workers: c.Workers,
		Earliest: func(ctx context.Context, tp kafka.TopicPartition) (int64, error) {
			first, err := client.FirstOffsets(ctx, []string{tp.Topic})
			return first[tp], err
		}}
	for _, r := range h.refreshers {
		cfg.Lanes = append(cfg.Lanes, projector.Lane{Shard: r.Shard(), Model: r.Model(), Refresher: r,
			Walker: &refresh.Walker{Refresher: r, Lister: h.db, Workers: 1}, Asker: h.shardOf(r)})
	}
	return cfg
}

func (c *RunCmd) serve(ctx context.Context, h *house, client *kafka.Client, p *projector.Projector) error {
	server, err := admin.Listen(ctx, admin.Config{Addr: c.AdminAddr, Registry: h.registry, Logger: h.env.Log})
	if err != nil {
		return err
	}
	server.AddCheck("mongodb", h.db.Ping)
	server.AddCheck("kafka", client.Ping)
	for _, s := range h.shards {
		server.AddCheck(s.Name(), s.Ping)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return server.Run(ctx) })
	group.Go(func() error {
		if err := p.Run(ctx); err != nil {
			return err
		}
		return ctx.Err()
	})
	h.env.Log.Info("projecting", "models", len(h.models), "shards", h.shardNames(), "group", c.Group, "admin", server.Addr())
	return ignoreEnd(group.Wait())
}

func ignoreEnd(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

func (h *house) shardNames() []string {
	names := make([]string, len(h.shards))
	for i, s := range h.shards {
		names[i] = s.Name()
	}
	return names
}
