package kafka

import "time"

// Message is one Kafka message. A nil Key or Value is Kafka's null.
type Message struct {
	Topic     string
	Partition int
	Offset    int64
	Key       []byte
	Value     []byte
	Headers   []Header
	Time      time.Time // set by the producer or the broker; ignored by Send, which stamps the message
}

// Header is one header of a message.
type Header struct {
	Key   string
	Value []byte
}

// TopicPartition names one partition.
type TopicPartition struct {
	Topic     string
	Partition int
}

// Size is about how many bytes the message takes on the wire and in memory.
func (m *Message) Size() int {
	n := len(m.Key) + len(m.Value) + 64
	for _, h := range m.Headers {
		n += len(h.Key) + len(h.Value)
	}
	return n
}
