package kafka_test

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"prejoin/pkg/kafka"
)

// cut removes the messages before an offset, as retention does.
func cut(t *testing.T, cluster *kfake.Cluster, topic string, before int64) {
	t.Helper()
	request := kmsg.NewPtrDeleteRecordsRequest()
	rt := kmsg.NewDeleteRecordsRequestTopic()
	rp := kmsg.NewDeleteRecordsRequestTopicPartition()
	rt.Topic, rp.Offset = topic, before
	rt.Partitions = append(rt.Partitions, rp)
	request.Topics = append(request.Topics, rt)
	if _, err := request.RequestWith(t.Context(), franz(t, cluster)); err != nil {
		t.Fatal(err)
	}
}

// TestSendTriesAgain: a partition without enough replicas for a while loses nothing and keeps the order.
func TestSendTriesAgain(t *testing.T) {
	cluster, c := broker(t)
	ensure(t, c, 1, "a")
	failures := 0
	cluster.ControlKey(int16(kmsg.Produce), func(request kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		if failures++; failures > 3 {
			return nil, nil, false
		}
		return refused(request.(*kmsg.ProduceRequest)), nil, true
	})
	told := 0
	producer := c.NewProducer(kafka.ProducerConfig{BatchBytes: 200, Retry: func(error, int, time.Duration) { told++ }})
	messages := []kafka.Message{{Topic: "a", Value: make([]byte, 150)}, {Topic: "a", Value: make([]byte, 151)}, {Topic: "a", Value: make([]byte, 152)}}
	if err := producer.Send(within(t, 20*time.Second), messages); err != nil {
		t.Fatal(err)
	}
	got := read(t, c, kafka.TopicPartition{Topic: "a"}, 0)
	if len(got) != 3 || told != 3 || len(got[0].Value) != 150 || len(got[2].Value) != 152 {
		t.Fatalf("read %d messages, told of %d failures", len(got), told)
	}
}

func refused(request *kmsg.ProduceRequest) kmsg.Response {
	response := request.ResponseKind().(*kmsg.ProduceResponse)
	for _, rt := range request.Topics {
		topic := kmsg.NewProduceResponseTopic()
		topic.Topic = rt.Topic
		for _, rp := range rt.Partitions {
			p := kmsg.NewProduceResponseTopicPartition()
			p.Partition, p.ErrorCode = rp.Partition, kerr.NotEnoughReplicas.Code
			topic.Partitions = append(topic.Partitions, p)
		}
		response.Topics = append(response.Topics, topic)
	}
	return response
}
