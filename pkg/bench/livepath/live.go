package livepath

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"prejoin/pkg/kafka"
	"prejoin/pkg/projector"
	"prejoin/pkg/readmodel"
	"prejoin/pkg/refresh"
)

const (
	partitions  = 4
	commitEvery = 50 * time.Millisecond // the default of 500 would be the grain of the figures
)

// live is the projector in this process, and the producer that feeds it.
type live struct {
	topics   []string
	client   *kafka.Client
	producer *kafka.Producer
	group    *kafka.Group
	store    *store
	stop     context.CancelFunc
	ended    chan error
}

func startLive(ctx context.Context, w *world) (*live, error) {
	client, err := kafka.Open(kafka.Config{Brokers: w.stack.Kafka.Brokers(), ClientID: "bench", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	l := &live{client: client, topics: projector.Topics([]string{shardName}, []*readmodel.Model{w.model}),
		producer: client.NewProducer(kafka.ProducerConfig{}), store: newStore(w), ended: make(chan error, 1)}
	if err := l.run(ctx, w); err != nil {
		client.Close()
		return nil, err
	}
	return l, nil
}

func (l *live) run(ctx context.Context, w *world) (err error) {
	if err := l.client.EnsureTopics(ctx, l.topics, partitions, 1); err != nil {
		return err
	}
	if l.group, err = l.client.NewGroup(kafka.GroupConfig{Group: groupName, Topics: l.topics}); err != nil {
		return err
	}
	p, err := projector.New(projector.Config{
		Group: l.group, Store: l.store, Temporary: refresh.Temporary, CommitEvery: commitEvery,
		BatchIDs: batchIDs, Workers: workers,
		Metrics: projector.NewMetrics(prometheus.NewRegistry()), Log: slog.New(slog.DiscardHandler),
		Earliest: func(ctx context.Context, tp kafka.TopicPartition) (int64, error) {
			first, err := l.client.FirstOffsets(ctx, []string{tp.Topic})
			return first[tp], err
		},
		Lanes: []projector.Lane{{Shard: shardName, Model: w.model, Refresher: w.refresher,
			Walker: &refresh.Walker{Refresher: w.refresher, Lister: w.db, Workers: 1}, Asker: w.shard}},
	})
	if err != nil {
		return err
	}
	ctx, l.stop = context.WithCancel(context.WithoutCancel(ctx))
	go func() { l.ended <- p.Run(ctx) }()
	return nil
}

// liveAll sends one message a document and waits until the watermark of all of
// them is stored.
func (w *world) liveAll(ctx context.Context) error {
	if err := w.live.producer.Send(ctx, w.messages); err != nil {
		return fmt.Errorf("sending %d messages: %w", len(w.messages), err)
	}
	ends, err := w.live.client.EndOffsets(ctx, w.live.topics)
	if err != nil {
		return err
	}
	return w.live.await(ctx, ends)
}

func (l *live) await(ctx context.Context, ends map[kafka.TopicPartition]int64) error {
	for {
		stored := l.store.changed()
		if l.store.passed(ends) {
			return nil
		}
		select {
		case <-stored:
		case <-ctx.Done():
			return context.Cause(ctx)
		case err := <-l.ended:
			l.ended <- err // for close
			return fmt.Errorf("the projector ended: %w", errors.Join(err, errEnded))
		}
	}
}

var errEnded = errors.New("it was to run until the end of the bench")

func (l *live) close() error {
	l.stop()
	err := <-l.ended
	l.group.Close()
	l.client.Close()
	if err != nil {
		return fmt.Errorf("stopping the projector: %w", err)
	}
	return nil
}
