package devstack

import (
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
)

// Partitions of a topic that is created by its first use.
const Partitions = 4

// Kafka is kfake, franz-go's in-process broker: the one stand-in of the stack.
// It lives in this process and forgets all when closed.
type Kafka struct{ cluster *kfake.Cluster }

// StartKafka starts a broker on a free port of 127.0.0.1.
func StartKafka() (*Kafka, error) {
	c, err := kfake.NewCluster(
		kfake.NumBrokers(1),
		kfake.DefaultNumPartitions(Partitions),
		kfake.AllowAutoTopicCreation(),
		// Tests lose members on purpose and should not wait 6 seconds for it.
		kfake.GroupMinSessionTimeout(250*time.Millisecond),
	)
	if err != nil {
		return nil, fmt.Errorf("starting kfake: %w", err)
	}
	return &Kafka{c}, nil
}

// Brokers are its addresses, host:port.
func (k *Kafka) Brokers() []string { return k.cluster.ListenAddrs() }

// Close drops the broker and what it holds.
func (k *Kafka) Close() { k.cluster.Close() }
