package kafka

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"golang.org/x/sync/errgroup"

	"prejoin/pkg/retry"
)

// ProducerConfig tunes a Producer.
type ProducerConfig struct {
	BatchBytes int                                              // of one request to one partition; default 1 MiB; a larger message goes alone
	Retry      func(err error, attempt int, wait time.Duration) // told of each temporary error; may be nil
}

// Producer sends messages with acks=all. Send is the batch and the acknowledgement; a caller that waits for it is held back by the broker.
type Producer struct {
	cfg    ProducerConfig
	client *Client

	mu         sync.Mutex
	partitions map[string]int
}

// NewProducer makes a producer.
func (c *Client) NewProducer(cfg ProducerConfig) *Producer {
	if cfg.BatchBytes <= 0 {
		cfg.BatchBytes = 1 << 20
	}
	return &Producer{cfg: cfg, client: c, partitions: map[string]int{}}
}

// Send writes the messages and returns when all in-sync replicas have them. Temporary errors are tried again until ctx ends, so a
// message may arrive twice. Messages with the same key go to one partition in the order given; those without a key go to partition 0.
// Concurrent Sends are not ordered. An error means that some may not have been written: send all again or stop.
func (p *Producer) Send(ctx context.Context, messages []Message) error {
	split, err := p.split(ctx, messages)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(16)
	for tp, batches := range split {
		group.Go(func() error {
			for _, batch := range batches {
				if err := p.produce(ctx, tp, batch); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// split sorts the messages into batches by partition.
func (p *Producer) split(ctx context.Context, messages []Message) (map[TopicPartition][][]*Message, error) {
	split := map[TopicPartition][][]*Message{}
	sizes := map[TopicPartition]int{}
	for i := range messages {
		m := &messages[i]
		size := m.Size()
		if size > MaxMessageBytes {
			return nil, fmt.Errorf("sending %d bytes to topic %s: %w: the limit is %d bytes", size, m.Topic, ErrMessageTooLarge, MaxMessageBytes)
		}
		tp, err := p.partition(ctx, m)
		if err != nil {
			return nil, err
		}
		batches := split[tp]
		if sizes[tp] += size; len(batches) == 0 || sizes[tp] > p.cfg.BatchBytes {
			batches, sizes[tp] = append(batches, nil), size
		}
		last := &batches[len(batches)-1]
		*last = append(*last, m)
		split[tp] = batches
	}
	return split, nil
}

// partition chooses as Java's default partitioner does, so that Debezium and the built-in capture can take turns.
func (p *Producer) partition(ctx context.Context, m *Message) (TopicPartition, error) {
	tp := TopicPartition{Topic: m.Topic}
	n, err := p.count(ctx, m.Topic)
	if err != nil || m.Key == nil || n == 1 {
		return tp, err
	}
	tp.Partition = int(murmur2(m.Key)&0x7fffffff) % n
	return tp, nil
}

// count returns a topic's number of partitions, and keeps it: a topic that grows moves keys only after a restart.
func (p *Producer) count(ctx context.Context, topic string) (n int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := p.partitions[topic]; n > 0 {
		return n, nil
	}
	err = p.retry(ctx, func(ctx context.Context) error {
		found, err := p.client.Partitions(ctx, []string{topic})
		if err == nil && found[topic] == 0 {
			err = fmt.Errorf("looking for topic %s: %w", topic, kafkago.UnknownTopicOrPartition)
		}
		n = found[topic]
		return err
	})
	p.partitions[topic] = n
	return n, err
}

func (p *Producer) retry(ctx context.Context, f func(context.Context) error) error {
	return retry.Do(ctx, retry.Policy{First: 50 * time.Millisecond, Cap: 2 * time.Second, Notify: p.cfg.Retry}, Temporary, f)
}

func (p *Producer) produce(ctx context.Context, tp TopicPartition, messages []*Message) error {
	return p.retry(ctx, func(ctx context.Context) error {
		err := p.attempt(ctx, tp, messages)
		if errors.Is(err, kafkago.MessageSizeTooLarge) {
			return fmt.Errorf("sending to topic %s: %w: raise its max.message.bytes to %d: %w", tp.Topic, ErrMessageTooLarge, maxBatchBytes, err)
		}
		if err != nil {
			return fmt.Errorf("sending %d messages to partition %d of topic %s: %w", len(messages), tp.Partition, tp.Topic, err)
		}
		return nil
	})
}

// attempt makes the records anew each time: kafka-go reads them empty.
func (p *Producer) attempt(ctx context.Context, tp TopicPartition, messages []*Message) error {
	records := make([]kafkago.Record, len(messages))
	for i, m := range messages {
		records[i] = record(m)
	}
	response, err := p.client.api.Produce(ctx, &kafkago.ProduceRequest{
		Topic: tp.Topic, Partition: tp.Partition, RequiredAcks: kafkago.RequireAll, Records: kafkago.NewRecordReader(records...),
	})
	if err != nil {
		return err
	}
	return response.Error
}

func record(m *Message) kafkago.Record {
	r := kafkago.Record{Key: kafkago.NewBytes(m.Key), Value: kafkago.NewBytes(m.Value)}
	for _, h := range m.Headers {
		r.Headers = append(r.Headers, kafkago.Header{Key: h.Key, Value: h.Value})
	}
	return r
}
