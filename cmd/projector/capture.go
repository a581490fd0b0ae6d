package main

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"prejoin/pkg/admin"
	"prejoin/pkg/capture"
	"prejoin/pkg/kafka"
	"prejoin/pkg/logging"
)

// CaptureCmd publishes the shards' changes to Kafka.
type CaptureCmd struct {
	AdminAddr      string        `help:"Where /livez, /readyz and /metrics are served." default:"127.0.0.1:9188" env:"CAPTURE_ADMIN_ADDR"`
	Slot           string        `help:"Replication slot on each shard; created where none has ever been." default:"prejoin" env:"CAPTURE_SLOT"`
	Partitions     int           `help:"Partitions of a topic that does not exist yet." default:"4"`
	Replication    int           `help:"Replicas of a topic that does not exist yet." default:"1"`
	Heartbeat      time.Duration `help:"Between writes to prejoin.heartbeat, which move an idle shard's slot on." default:"5s"`
	AcceptLostSlot bool          `help:"Create a slot anew that existed and is gone. Changes between are lost: run projector backfill afterwards."`
}

// Run captures until ctx ends, or until no shard can be captured any more.
func (c *CaptureCmd) Run(ctx context.Context, env *Env) error {
	client, err := openKafka(ctx, env)
	if err != nil {
		return err
	}
	defer client.Close()
	server, err := admin.Listen(ctx, admin.Config{Addr: c.AdminAddr, Registry: admin.NewRegistry(), Logger: env.Log})
	if err != nil {
		return err
	}
	captured, err := c.open(ctx, env, client, server)
	if err != nil {
		_ = server.Close()
		return err
	}
	server.AddCheck("capture", captured.Ready)
	server.AddCheck("kafka", client.Ping)
	return c.serve(ctx, env, server, captured)
}

// broker is what capture needs of Kafka.
type broker struct {
	*kafka.Client
	*kafka.Producer
}

func (c *CaptureCmd) open(ctx context.Context, env *Env, client *kafka.Client, server *admin.Server) (*capture.Capture, error) {
	shards, err := env.Shards()
	if err != nil {
		return nil, err
	}
	cfg := capture.Config{Slot: c.Slot, Publication: env.Publication, Partitions: c.Partitions, Replication: c.Replication, Heartbeat: c.Heartbeat,
		AcceptLostSlot: c.AcceptLostSlot, Registry: server.Registry(), Log: env.Log}
	for _, s := range shards {
		cfg.Shards = append(cfg.Shards, capture.Source{Name: s.Name, DSN: s.DSN})
	}
	warn := logging.NewThrottle(env.Log, 10*time.Second)
	producer := client.NewProducer(kafka.ProducerConfig{Retry: func(err error, attempt int, _ time.Duration) {
		warn.Warn(ctx, "send", "Kafka does not take messages; the shards keep their changes meanwhile", "attempt", attempt, "error", err)
	}})
	return capture.New(ctx, cfg, broker{client, producer})
}

func (c *CaptureCmd) serve(ctx context.Context, env *Env, server *admin.Server, captured *capture.Capture) error {
	ctx, stop := context.WithCancel(ctx)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return server.Run(ctx) })
	group.Go(func() error {
		defer stop()
		return captured.Run(ctx)
	})
	env.Log.Info("capturing", "slot", c.Slot, "publication", env.Publication, "admin", server.Addr())
	return group.Wait()
}
