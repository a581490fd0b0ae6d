package kafka

import (
	"context"
	"errors"
	"fmt"

	kafkago "github.com/segmentio/kafka-go"
)

// EndOffsets returns, for each partition of the topics that exist, the offset of the next message to be written.
func (c *Client) EndOffsets(ctx context.Context, topics []string) (map[TopicPartition]int64, error) {
	return c.listTopics(ctx, topics, kafkago.LastOffset)
}

// FirstOffsets returns, for each partition of the topics that exist, the offset of the earliest message that the broker still has.
func (c *Client) FirstOffsets(ctx context.Context, topics []string) (map[TopicPartition]int64, error) {
	return c.listTopics(ctx, topics, kafkago.FirstOffset)
}

func (c *Client) listTopics(ctx context.Context, topics []string, which int64) (map[TopicPartition]int64, error) {
	partitions, err := c.allPartitions(ctx, topics)
	if err != nil {
		return nil, err
	}
	return c.list(ctx, partitions, which)
}

func (c *Client) allPartitions(ctx context.Context, topics []string) (all []TopicPartition, err error) {
	found, err := c.Partitions(ctx, topics)
	for _, topic := range topics {
		for p := range found[topic] {
			all = append(all, TopicPartition{topic, p})
		}
	}
	return all, err
}

func (c *Client) list(ctx context.Context, partitions []TopicPartition, which int64) (map[TopicPartition]int64, error) {
	offsets := make(map[TopicPartition]int64, len(partitions))
	if len(partitions) == 0 {
		return offsets, nil
	}
	request := &kafkago.ListOffsetsRequest{Topics: map[string][]kafkago.OffsetRequest{}}
	for _, tp := range partitions {
		request.Topics[tp.Topic] = append(request.Topics[tp.Topic], kafkago.OffsetRequest{Partition: tp.Partition, Timestamp: which})
	}
	response, err := c.api.ListOffsets(ctx, request)
	if err != nil {
		return nil, fmt.Errorf("listing offsets of %d partitions: %w", len(partitions), err)
	}
	for topic, list := range response.Topics {
		for _, p := range list {
			if p.Error != nil {
				return nil, fmt.Errorf("listing offsets of partition %d of topic %s: %w", p.Partition, topic, p.Error)
			}
			offsets[TopicPartition{topic, p.Partition}] = max(p.FirstOffset, p.LastOffset)
		}
	}
	if len(offsets) != len(partitions) {
		return nil, fmt.Errorf("listing offsets: %d of %d partitions answered: %w", len(offsets), len(partitions), kafkago.LeaderNotAvailable)
	}
	return offsets, nil
}

// CommittedOffsets returns the offset to read next of each partition that the group has committed; others are absent.
func (c *Client) CommittedOffsets(ctx context.Context, group string, topics []string) (map[TopicPartition]int64, error) {
	partitions, err := c.allPartitions(ctx, topics)
	if err != nil {
		return nil, err
	}
	offsets := make(map[TopicPartition]int64, len(partitions))
	if len(partitions) == 0 {
		return offsets, nil
	}
	request := &kafkago.OffsetFetchRequest{GroupID: group, Topics: map[string][]int{}}
	for _, tp := range partitions {
		request.Topics[tp.Topic] = append(request.Topics[tp.Topic], tp.Partition)
	}
	response, err := c.api.OffsetFetch(ctx, request)
	if err == nil {
		err = response.Error
	}
	if errors.Is(err, kafkago.GroupIdNotFound) {
		return offsets, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading committed offsets of group %s: %w", group, err)
	}
	for topic, list := range response.Topics {
		for _, p := range list {
			if p.Error != nil {
				return nil, fmt.Errorf("reading the committed offset of partition %d of topic %s: %w", p.Partition, topic, p.Error)
			}
			if p.CommittedOffset >= 0 {
				offsets[TopicPartition{topic, p.Partition}] = p.CommittedOffset
			}
		}
	}
	return offsets, nil
}
