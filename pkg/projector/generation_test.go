package projector

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"prejoin/pkg/kafka"
	"prejoin/pkg/readmodel"
	"prejoin/pkg/testenv"
)

// memory is a Store.
type memory struct {
	mu    sync.Mutex
	marks map[kafka.TopicPartition]int64
}

func (m *memory) Watermarks(context.Context) (map[kafka.TopicPartition]int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.marks), nil
}

func (m *memory) StoreWatermarks(_ context.Context, marks map[kafka.TopicPartition]int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.Copy(m.marks, marks)
	return nil
}

func (m *memory) Confirm(context.Context) error { return nil }

const topic = "shard0.public.t"

// member is a projector of one model over one topic, on a real protocol.
type member struct {
	shard *shard
	stop  func() error
}

type club struct {
	t      *testing.T
	client *kafka.Client
	store  *memory
}

func newClub(t *testing.T, partitions int) *club {
	t.Helper()
	client, err := kafka.Open(kafka.Config{Brokers: testenv.Kafka(t), FetchWait: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	if err := client.EnsureTopics(t.Context(), []string{topic}, partitions, 1); err != nil {
		t.Fatal(err)
	}
	return &club{t: t, client: client, store: &memory{marks: map[kafka.TopicPartition]int64{}}}
}

func (c *club) join() *member {
	c.t.Helper()
	group, err := c.client.NewGroup(kafka.GroupConfig{Group: "g", Topics: []string{topic}, Session: 6 * time.Second, Heartbeat: 200 * time.Millisecond,
		Rebalance: 6 * time.Second, Backoff: 100 * time.Millisecond})
	if err != nil {
		c.t.Fatal(err)
	}
	s := &shard{visible: 1 << 20}
	m := &readmodel.Model{Name: "m", Routes: []readmodel.Route{{Table: "public.t", ID: "id"}}}
	p, err := New(Config{Group: group, Name: "g", Store: c.store, Lanes: []Lane{{Shard: "shard0", Model: m, Refresher: s, Asker: s}},
		Temporary: func(error) bool { return false }, Metrics: NewMetrics(prometheus.NewRegistry()), Log: slog.New(slog.DiscardHandler),
		CommitEvery: 20 * time.Millisecond, Earliest: func(context.Context, kafka.TopicPartition) (int64, error) { return 0, nil }})
	if err != nil {
		c.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- p.Run(ctx) }()
	stop := sync.OnceValue(func() error { cancel(); err := <-done; group.Close(); return err })
	c.t.Cleanup(func() { _ = stop() })
	return &member{shard: s, stop: stop}
}

func (c *club) publish(id string) {
	c.t.Helper()
	value := fmt.Sprintf(`{"before":null,"after":{"id":%s},"source":{"connector":"postgresql","name":"shard0","schema":"public","table":"t","txId":7,"lsn":1,"ts_ms":1,"snapshot":"false"},"op":"c","ts_ms":1}`, id)
	err := c.client.NewProducer(kafka.ProducerConfig{}).Send(c.t.Context(), []kafka.Message{{Topic: topic, Key: []byte(id), Value: []byte(value)}})
	if err != nil {
		c.t.Fatal(err)
	}
}

func (c *club) await(what string, f func() bool) {
	c.t.Helper()
	for end := time.Now().Add(20 * time.Second); !f(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			c.t.Fatalf("never: %s", what)
		}
	}
}

// TestMemberWithoutPartitionsTakesOver: the second member of a topic with one
// partition owns nothing, lives on, and takes over when the first one goes.
func TestMemberWithoutPartitionsTakesOver(t *testing.T) {
	c := newClub(t, 1)
	members := []*member{c.join(), c.join()}
	c.publish("1")
	c.await("the first message is applied", func() bool { return members[0].shard.times("1")+members[1].shard.times("1") > 0 })
	time.Sleep(time.Second) // both are settled
	owner, standby := members[0], members[1]
	c.publish("2")
	c.await("the second message is applied", func() bool { return members[0].shard.times("2")+members[1].shard.times("2") > 0 })
	if members[1].shard.times("2") > 0 {
		owner, standby = standby, owner
	}
	if err := owner.stop(); err != nil {
		t.Fatal(err)
	}
	c.publish("3")
	c.await("the standby takes over", func() bool { return standby.shard.times("3") > 0 })
	if err := standby.stop(); err != nil {
		t.Fatal(err)
	}
}

// TestStartsAtTheLowerOffset: MongoDB restored from a backup makes the projector
// read again what Kafka has as committed; what is gone from Kafka stops it.
func TestStartsAtTheLowerOffset(t *testing.T) {
	c := newClub(t, 1)
	for _, id := range []string{"1", "2", "3"} {
		c.publish(id)
	}
	tp := kafka.TopicPartition{Topic: topic}
	m := c.join()
	c.await("all is applied and stored", func() bool { marks, _ := c.store.Watermarks(t.Context()); return marks[tp] == 3 })
	if err := m.stop(); err != nil {
		t.Fatal(err)
	}
	c.store.marks[tp] = 1 // the backup
	m = c.join()
	c.await("what the backup lacks is applied again", func() bool { return m.shard.times("2") > 0 && m.shard.times("3") > 0 })
	if m.shard.times("1") != 0 {
		t.Error("read more than the backup lacks")
	}
	if err := m.stop(); err != nil {
		t.Fatal(err)
	}
}

func TestMissingOffsetsNameWhatToDo(t *testing.T) {
	err := outOfRange(fmt.Errorf("fetching: %w", &kafka.OffsetOutOfRangeError{TopicPartition: kafka.TopicPartition{Topic: "t", Partition: 3}, Wanted: 5, First: 9, End: 12}), "g")
	if !errors.Is(err, kafka.ErrOffsetOutOfRange) || !strings.Contains(err.Error(), `"g/t/3"`) {
		t.Error(err)
	}
	if other := errors.New("other"); outOfRange(other, "g") != other {
		t.Error("another error was changed")
	}
}
