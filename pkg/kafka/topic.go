package kafka

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	kafkago "github.com/segmentio/kafka-go"
)

// MaxMessageBytes is the largest message that Send sends and that EnsureTopics lets a topic hold.
const MaxMessageBytes = 8 << 20

// maxBatchBytes leaves room for what frames a message.
const maxBatchBytes = MaxMessageBytes + 64<<10

// Partitions returns how many partitions each of the topics has; a topic that does not exist is absent. What it knows may be a second old.
func (c *Client) Partitions(ctx context.Context, topics []string) (map[string]int, error) {
	response, err := c.api.Metadata(ctx, &kafkago.MetadataRequest{Topics: topics})
	if err != nil {
		return nil, fmt.Errorf("listing %d topics: %w", len(topics), err)
	}
	found := make(map[string]int, len(topics))
	for _, t := range response.Topics {
		switch {
		case errors.Is(t.Error, kafkago.UnknownTopicOrPartition):
		case t.Error != nil:
			return nil, fmt.Errorf("listing topic %s: %w", t.Name, t.Error)
		case len(t.Partitions) > 0:
			found[t.Name] = len(t.Partitions)
		}
	}
	return found, nil
}

// EnsureTopics creates the topics that do not exist. Those that exist stay as they are.
func (c *Client) EnsureTopics(ctx context.Context, topics []string, partitions, replication int) error {
	request := &kafkago.CreateTopicsRequest{}
	for _, name := range topics {
		request.Topics = append(request.Topics, kafkago.TopicConfig{
			Topic: name, NumPartitions: partitions, ReplicationFactor: replication,
			ConfigEntries: []kafkago.ConfigEntry{{ConfigName: "max.message.bytes", ConfigValue: strconv.Itoa(MaxMessageBytes + 1<<16)}},
		})
	}
	response, err := c.api.CreateTopics(ctx, request)
	if err != nil {
		return fmt.Errorf("creating %d topics: %w", len(topics), err)
	}
	for name, err := range response.Errors {
		if err != nil && !errors.Is(err, kafkago.TopicAlreadyExists) {
			return fmt.Errorf("creating topic %s: %w", name, err)
		}
	}
	return nil
}
