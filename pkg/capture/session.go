package capture

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"prejoin/pkg/postgres/wal"
)

// drainFor is how long a capture that is told to stop goes on sending what it has read.
const drainFor = 5 * time.Second

// session is one connection's life: it ends with an error or with ctx.
func (s *shard) session(ctx context.Context) error {
	if err := s.ensureTopics(ctx); err != nil {
		return err
	}
	stream, err := s.open(ctx)
	if err != nil {
		return err
	}
	defer closeStream(ctx, stream)
	s.setState(nil)
	return s.pump(ctx, stream)
}

// open starts to read the slot. From then on acked is not below what the slot has confirmed: an idle shard sends from further back and
// says so. The consent to lose changes is for the first slot that is found or made, not for one that is lost days later.
func (s *shard) open(ctx context.Context) (*wal.Stream, error) {
	confirmed, err := s.look(ctx)
	if err != nil {
		return nil, err
	}
	s.acceptLost = false
	stream, err := s.source.Stream(ctx, confirmed)
	if errors.Is(err, wal.ErrSlotActive) {
		_, _ = s.look(ctx) // whose it is since the first look; any other fault shows at the next try
	}
	if err != nil {
		return nil, err
	}
	s.acked.Store(max(s.acked.Load(), confirmed))
	s.log.InfoContext(ctx, "reading the slot", "slot", s.cfg.Slot, "from", wal.FormatLSN(confirmed))
	return stream, nil
}

// look finds or makes the slot. While another capture moves it on, this one knows no more than at a start: what the slot says counts.
func (s *shard) look(ctx context.Context) (uint64, error) {
	confirmed, err := s.source.EnsureSlot(ctx, s.acked.Load(), s.acceptLost)
	if errors.Is(err, wal.ErrSlotActive) {
		s.acked.Store(0)
	}
	return confirmed, err
}

func closeStream(ctx context.Context, stream *wal.Stream) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	stream.Close(ctx)
}

// pump reads and sends side by side. When ctx ends it stops reading and sends what was read, for a while.
func (s *shard) pump(ctx context.Context, stream *wal.Stream) error {
	reading, stopReading := context.WithCancelCause(ctx)
	defer stopReading(nil)
	sending, stopSending := context.WithCancel(context.WithoutCancel(ctx))
	defer stopSending()
	q := newQueue(s.cfg.QueueBytes)

	var group errgroup.Group
	group.Go(func() error {
		err := s.read(reading, stream, q)
		q.close()
		time.AfterFunc(drainFor, stopSending)
		return err
	})
	group.Go(func() error {
		err := s.send(sending, stream, q)
		stopReading(err)
		return err
	})
	return group.Wait()
}

// send sends what was read and confirms it, until the queue is closed and empty.
func (s *shard) send(ctx context.Context, stream *wal.Stream, q *queue) error {
	for {
		batch, ok := q.take(ctx)
		if !ok {
			return ctx.Err()
		}
		start := time.Now()
		if len(batch.messages) > 0 {
			if err := s.broker.Send(ctx, batch.messages); err != nil {
				return err
			}
		}
		s.metrics.sent(s.name, batch, time.Since(start))
		if batch.end > 0 {
			s.acked.Store(max(s.acked.Load(), batch.end))
			stream.Confirm(batch.end)
		}
	}
}

func (s *shard) ensureTopics(ctx context.Context) error {
	tables, err := s.source.Tables(ctx)
	if err != nil {
		return err
	}
	if err := s.ensureTopic(ctx, 1, s.heartbeatTopic()); err != nil {
		return err
	}
	var topics []string
	for _, t := range tables {
		if !isHeartbeat(t.Schema, t.Name) {
			topics = append(topics, s.topic(t.Schema, t.Name))
		}
	}
	return s.ensureTopic(ctx, s.cfg.Partitions, topics...)
}

// ensureTopic creates the topics that are not known to exist.
func (s *shard) ensureTopic(ctx context.Context, partitions int, topics ...string) error {
	var unknown []string
	for _, topic := range topics {
		if !s.topics[topic] {
			unknown = append(unknown, topic)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	if err := s.broker.EnsureTopics(ctx, unknown, partitions, s.cfg.Replication); err != nil {
		return err
	}
	for _, topic := range unknown {
		s.topics[topic] = true
	}
	return nil
}

func (s *shard) topic(schema, table string) string { return s.name + "." + schema + "." + table }
func (s *shard) heartbeatTopic() string            { return "__debezium-heartbeat." + s.name }
func isHeartbeat(schema, table string) bool        { return schema == "prejoin" && table == "heartbeat" }

// read turns events into messages until the stream fails or ctx ends.
func (s *shard) read(ctx context.Context, stream *wal.Stream, q *queue) error {
	w := newWriter(s, q)
	for {
		event, err := stream.Next(ctx)
		if err == nil {
			err = w.write(ctx, event)
		}
		if ctx.Err() != nil && !errors.Is(err, wal.ErrSlotLost) {
			return context.Cause(ctx)
		}
		if err != nil {
			return err
		}
	}
}
