package kafka

import (
	"context"
	"errors"
	"fmt"
	"io"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
)

// Batch is what one fetch returned.
type Batch struct {
	Messages []Message // in order of offset; none if nothing arrived in time
	Next     int64     // the offset to fetch next, behind transaction markers and compacted offsets too
	End      int64     // the partition's high watermark: the offset behind the last message
}

// Fetch reads the messages of a partition from an offset on, of any transaction, aborted ones too. It waits Config.FetchWait for the first.
func (c *Client) Fetch(ctx context.Context, tp TopicPartition, offset int64) (Batch, error) {
	batch := Batch{Next: offset}
	response, err := c.api.Fetch(ctx, &kafkago.FetchRequest{
		Topic: tp.Topic, Partition: tp.Partition, Offset: offset, MinBytes: 1, MaxBytes: int64(c.cfg.FetchSize), MaxWait: c.cfg.FetchWait,
	})
	if err == nil {
		err = response.Error
	}
	switch {
	case errors.Is(err, kafkago.OffsetOutOfRange):
		return batch, c.outOfRange(ctx, tp, offset)
	case err != nil:
		return batch, fmt.Errorf("fetching partition %d of topic %s from offset %d: %w", tp.Partition, tp.Topic, offset, err)
	}
	batch.End = response.HighWatermark
	if err := batch.read(tp, response.Records); err != nil {
		return batch, fmt.Errorf("reading messages of partition %d of topic %s from offset %d: %w", tp.Partition, tp.Topic, offset, err)
	}
	return batch, nil
}

func (c *Client) outOfRange(ctx context.Context, tp TopicPartition, wanted int64) error {
	e := &OffsetOutOfRangeError{TopicPartition: tp, Wanted: wanted}
	first, err := c.list(ctx, []TopicPartition{tp}, kafkago.FirstOffset)
	if err != nil {
		return err
	}
	end, err := c.list(ctx, []TopicPartition{tp}, kafkago.LastOffset)
	if err != nil {
		return err
	}
	e.First, e.End = first[tp], end[tp]
	if e.First <= wanted && wanted <= e.End {
		return fmt.Errorf("fetching partition %d of topic %s from offset %d: %w", tp.Partition, tp.Topic, wanted, kafkago.OffsetNotAvailable)
	}
	return e
}

// read copies the messages from batch.Next on and moves Next behind the last one.
func (b *Batch) read(tp TopicPartition, records kafkago.RecordReader) error {
	wanted := b.Next
	var memory arena
	for {
		r, err := records.ReadRecord()
		if errors.Is(err, io.EOF) {
			b.skipUnseen(wanted, records)
			return nil
		}
		if err != nil {
			return err
		}
		m, err := memory.message(tp, r)
		if err != nil {
			return err
		}
		if m.Offset >= wanted { // a compressed batch may begin before
			b.Messages = append(b.Messages, m)
			b.Next = m.Offset + 1
		}
	}
}

// skipUnseen moves Next behind what kafka-go reads but does not show: a transaction marker, and a batch whose messages were
// compacted away. Without it the same fetch would be made for ever.
func (b *Batch) skipUnseen(wanted int64, records kafkago.RecordReader) {
	stream, _ := records.(*protocol.RecordStream)
	if stream == nil || len(stream.Records) == 0 {
		return
	}
	switch last := stream.Records[len(stream.Records)-1].(type) {
	case *protocol.ControlBatch:
		b.Next = max(b.Next, last.BaseOffset+1)
	case *protocol.RecordBatch:
		b.Next = max(b.Next, last.BaseOffset+1)
	}
	if b.Next == wanted && b.End > wanted {
		b.Next++ // the whole batch was read and checked by its CRC, and has no message at this offset
	}
}

// arena holds the bytes of a batch's messages in few allocations.
type arena struct{ free []byte }

const arenaSize = 64 << 10

func (a *arena) message(tp TopicPartition, r *kafkago.Record) (Message, error) {
	m := Message{Topic: tp.Topic, Partition: tp.Partition, Offset: r.Offset, Time: r.Time}
	for _, h := range r.Headers {
		m.Headers = append(m.Headers, Header{Key: h.Key, Value: h.Value})
	}
	var err error
	if m.Key, err = a.copy(r.Key); err != nil {
		return m, err
	}
	m.Value, err = a.copy(r.Value)
	return m, err
}

func (a *arena) copy(b kafkago.Bytes) ([]byte, error) {
	if b == nil {
		return nil, nil
	}
	defer b.Close()
	n := b.Len()
	if n == 0 {
		return []byte{}, nil // empty is not null: null is a tombstone
	}
	if n > len(a.free) {
		a.free = make([]byte, max(n, arenaSize))
	}
	dst := a.free[:n:n]
	a.free = a.free[n:]
	_, err := io.ReadFull(b, dst)
	return dst, err
}
