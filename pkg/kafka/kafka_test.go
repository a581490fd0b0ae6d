package kafka_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.uber.org/goleak"

	"prejoin/pkg/kafka"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func broker(t testing.TB, options ...kfake.Opt) (*kfake.Cluster, *kafka.Client) {
	t.Helper()
	options = append([]kfake.Opt{kfake.NumBrokers(1), kfake.GroupMinSessionTimeout(250 * time.Millisecond)}, options...)
	cluster, err := kfake.NewCluster(options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	return cluster, open(t, cluster)
}

func open(t testing.TB, cluster *kfake.Cluster) *kafka.Client {
	t.Helper()
	c, err := kafka.Open(kafka.Config{Brokers: cluster.ListenAddrs(), FetchWait: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func within(t testing.TB, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func ensure(t testing.TB, c *kafka.Client, partitions int, topics ...string) {
	t.Helper()
	if err := c.EnsureTopics(within(t, 10*time.Second), topics, partitions, 1); err != nil {
		t.Fatal(err)
	}
}

func send(t testing.TB, c *kafka.Client, messages ...kafka.Message) {
	t.Helper()
	if err := c.NewProducer(kafka.ProducerConfig{}).Send(within(t, 20*time.Second), messages); err != nil {
		t.Fatal(err)
	}
}

// read fetches a partition from an offset up to its end.
func read(t testing.TB, c *kafka.Client, tp kafka.TopicPartition, from int64) []kafka.Message {
	t.Helper()
	var all []kafka.Message
	for {
		b, err := c.Fetch(within(t, 10*time.Second), tp, from)
		if err != nil {
			t.Fatal(err)
		}
		all, from = append(all, b.Messages...), b.Next
		if b.Next >= b.End {
			return all
		}
	}
}

func TestSendsInOrderOfEachKey(t *testing.T) {
	_, c := broker(t)
	ensure(t, c, 4, "a")
	var messages []kafka.Message
	for i := range 5000 {
		messages = append(messages, kafka.Message{Topic: "a", Key: fmt.Append(nil, "k", i%7), Value: fmt.Append(nil, i),
			Headers: []kafka.Header{{Key: "h", Value: []byte("v")}}})
	}
	send(t, c, messages...)
	last := map[string]int{}
	total := 0
	for p := range 4 {
		for _, m := range read(t, c, kafka.TopicPartition{Topic: "a", Partition: p}, 0) {
			var n int
			fmt.Sscan(string(m.Value), &n)
			if before, seen := last[string(m.Key)]; seen && before >= n {
				t.Fatalf("key %s: %d after %d", m.Key, n, before)
			}
			if len(m.Headers) != 1 || m.Headers[0].Key != "h" || string(m.Headers[0].Value) != "v" || m.Partition != p {
				t.Fatalf("message %+v", m)
			}
			last[string(m.Key)] = n
			total++
		}
	}
	if total != len(messages) {
		t.Fatalf("read %d messages, sent %d", total, len(messages))
	}
}

func TestNullAndEmptyStayApart(t *testing.T) {
	_, c := broker(t)
	ensure(t, c, 3, "a")
	send(t, c, kafka.Message{Topic: "a", Value: []byte{}}, kafka.Message{Topic: "a", Value: []byte("truncate")})
	key := []byte("k")
	send(t, c, kafka.Message{Topic: "a", Key: key})
	got := read(t, c, kafka.TopicPartition{Topic: "a"}, 0)
	if len(got) < 2 || got[0].Key != nil || got[0].Value == nil {
		t.Fatalf("partition 0 holds %+v, want the messages without a key, the first empty but not null", got)
	}
	for p := range 3 {
		for _, m := range read(t, c, kafka.TopicPartition{Topic: "a", Partition: p}, 0) {
			if string(m.Key) == "k" && m.Value != nil {
				t.Fatalf("tombstone arrived as %v", m.Value)
			}
		}
	}
}

// TestPartitionsAsJavaDoes: keys stay where Debezium put them.
func TestPartitionsAsJavaDoes(t *testing.T) {
	_, c := broker(t)
	ensure(t, c, 5, "a")
	var keys []string
	for i := range 200 {
		keys = append(keys, fmt.Sprintf(`{"id":%d}`, i*i*7919)[:i%9+3])
	}
	for _, key := range keys {
		send(t, c, kafka.Message{Topic: "a", Key: []byte(key), Value: []byte("v")})
	}
	seen := 0
	for p := range 5 {
		for _, m := range read(t, c, kafka.TopicPartition{Topic: "a", Partition: p}, 0) {
			want := kafkago.Murmur2Balancer{Consistent: true}.Balance(kafkago.Message{Key: m.Key}, 0, 1, 2, 3, 4)
			if p != want {
				t.Errorf("key %s in partition %d, Java puts it into %d", m.Key, p, want)
			}
			seen++
		}
	}
	if seen != len(keys) {
		t.Fatalf("read %d of %d", seen, len(keys))
	}
}

func TestLargeMessages(t *testing.T) {
	_, c := broker(t)
	ensure(t, c, 1, "a")
	large := kafka.Message{Topic: "a", Key: []byte("k"), Value: make([]byte, 7<<20)}
	send(t, c, large, kafka.Message{Topic: "a", Key: []byte("k"), Value: []byte("after")})
	got := read(t, c, kafka.TopicPartition{Topic: "a"}, 0)
	if len(got) != 2 || len(got[0].Value) != 7<<20 || string(got[1].Value) != "after" {
		t.Fatalf("read %d messages", len(got))
	}
	large.Value = make([]byte, 9<<20)
	err := c.NewProducer(kafka.ProducerConfig{}).Send(t.Context(), []kafka.Message{large})
	if !errors.Is(err, kafka.ErrMessageTooLarge) || kafka.Temporary(err) {
		t.Fatalf("got %v", err)
	}
}

func TestOffsetOutOfRangeNeverJumps(t *testing.T) {
	cluster, c := broker(t)
	ensure(t, c, 1, "a")
	for range 3 { // three batches, so that the log can be cut between
		send(t, c, kafka.Message{Topic: "a", Value: []byte("1")}, kafka.Message{Topic: "a", Value: []byte("2")})
	}
	cut(t, cluster, "a", 4)
	f := func(offset int64) {
		t.Helper()
		_, err := c.Fetch(within(t, 10*time.Second), kafka.TopicPartition{Topic: "a"}, offset)
		var out *kafka.OffsetOutOfRangeError
		if !errors.As(err, &out) || !errors.Is(err, kafka.ErrOffsetOutOfRange) || kafka.Temporary(err) {
			t.Fatalf("offset %d: got %v", offset, err)
		}
		if out.Topic != "a" || out.Wanted != offset || out.First != 4 || out.End != 6 {
			t.Errorf("offset %d: got %+v, want 4 to 6 of topic a", offset, out)
		}
	}
	f(1)
	f(7)
	if got := read(t, c, kafka.TopicPartition{Topic: "a"}, 4); len(got) != 2 {
		t.Errorf("from 4: %d messages, want 2", len(got))
	}
}

func franz(t *testing.T, cluster *kfake.Cluster, options ...kgo.Opt) *kgo.Client {
	t.Helper()
	client, err := kgo.NewClient(append(options, kgo.SeedBrokers(cluster.ListenAddrs()...))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// TestPassesTransactionMarkers: the end of a transaction takes an offset that no message has. Fetch goes on behind it.
func TestPassesTransactionMarkers(t *testing.T) {
	cluster, c := broker(t)
	ensure(t, c, 1, "a")
	client := franz(t, cluster, kgo.TransactionalID("x"), kgo.DefaultProduceTopic("a"))
	for i := range 3 {
		if err := client.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		if err := client.ProduceSync(t.Context(), kgo.StringRecord("v")).FirstErr(); err != nil {
			t.Fatal(err)
		}
		if err := client.EndTransaction(t.Context(), kgo.TransactionEndTry(i != 1)); err != nil {
			t.Fatal(err)
		}
	}
	var offsets []int64
	from := int64(0)
	for from < 6 {
		b, err := c.Fetch(within(t, 5*time.Second), kafka.TopicPartition{Topic: "a"}, from)
		if err != nil {
			t.Fatal(err)
		}
		if b.Next == from {
			t.Fatalf("stuck at offset %d of %d", from, b.End)
		}
		for _, m := range b.Messages {
			offsets = append(offsets, m.Offset)
		}
		from = b.Next
	}
	if want := []int64{0, 2, 4}; !slices.Equal(offsets, want) {
		t.Fatalf("read offsets %v, want %v", offsets, want)
	}
	marker, err := c.Fetch(within(t, 5*time.Second), kafka.TopicPartition{Topic: "a"}, 5)
	if err != nil || marker.Next != 6 || len(marker.Messages) != 0 {
		t.Fatalf("at the last marker: %+v, %v", marker, err)
	}
}

func TestOffsetsOfTopicsThatExist(t *testing.T) {
	_, c := broker(t)
	ensure(t, c, 2, "a", "b")
	ensure(t, c, 2, "a") // twice is fine
	send(t, c, kafka.Message{Topic: "a", Value: []byte("v")})
	end, err := c.EndOffsets(within(t, 10*time.Second), []string{"a", "b", "absent"})
	if err != nil || len(end) != 4 || end[kafka.TopicPartition{Topic: "a"}] != 1 || end[kafka.TopicPartition{Topic: "b", Partition: 1}] != 0 {
		t.Fatalf("got %v, %v", end, err)
	}
	committed, err := c.CommittedOffsets(within(t, 10*time.Second), "nobody", []string{"a", "absent"})
	if err != nil || len(committed) != 0 {
		t.Fatalf("got %v, %v", committed, err)
	}
}

func TestUnreachableBrokerIsTemporaryAndClear(t *testing.T) {
	c, err := kafka.Open(kafka.Config{Brokers: []string{"127.0.0.1:1"}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	err = c.Ping(within(t, 10*time.Second))
	if !kafka.Temporary(err) {
		t.Fatalf("got %v, want a temporary error", err)
	}
	if _, err := kafka.Open(kafka.Config{}); err == nil {
		t.Fatal("no error without brokers")
	}
}
