package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/segmentio/kafka-go"
)

// offsets are places in partitions: topic, partition, offset.
type offsets map[string]map[int]int64

// endOffsets lists the change topics; heartbeats are not the projector's.
func endOffsets(ctx context.Context, c *kafka.Client) (offsets, error) {
	meta, err := c.Metadata(ctx, &kafka.MetadataRequest{})
	if err != nil {
		return nil, fmt.Errorf("listing topics: %w", err)
	}
	ask := map[string][]kafka.OffsetRequest{}
	for _, topic := range meta.Topics {
		if strings.HasPrefix(topic.Name, "_") || strings.Contains(topic.Name, ".prejoin.") {
			continue
		}
		if topic.Error != nil {
			return nil, fmt.Errorf("listing the partitions of %s: %w", topic.Name, topic.Error)
		}
		for _, p := range topic.Partitions {
			ask[topic.Name] = append(ask[topic.Name], kafka.LastOffsetOf(p.ID))
		}
	}
	if len(ask) == 0 {
		return nil, nil
	}
	answer, err := c.ListOffsets(ctx, &kafka.ListOffsetsRequest{Topics: ask})
	if err != nil {
		return nil, fmt.Errorf("listing end offsets: %w", err)
	}
	return ends(ask, answer)
}

// ends takes an answer only whole: a partition that failed or is absent would
// count as empty, and its messages as consumed.
func ends(ask map[string][]kafka.OffsetRequest, answer *kafka.ListOffsetsResponse) (offsets, error) {
	found := offsets{}
	for topic, partitions := range answer.Topics {
		found[topic] = map[int]int64{}
		for _, p := range partitions {
			if p.Error != nil {
				return nil, fmt.Errorf("listing the end offset of %s/%d: %w", topic, p.Partition, p.Error)
			}
			found[topic][p.Partition] = p.LastOffset
		}
	}
	for topic, partitions := range ask {
		for _, p := range partitions {
			if _, ok := found[topic][p.Partition]; !ok {
				return nil, fmt.Errorf("listing the end offset of %s/%d: the broker's answer lacks it", topic, p.Partition)
			}
		}
	}
	return found, nil
}

// behind counts the messages below ends that the group has not committed.
func behind(ctx context.Context, c *kafka.Client, ends offsets) (int64, error) {
	if len(ends) == 0 {
		return 0, nil
	}
	ask := map[string][]int{}
	for topic, partitions := range ends {
		for p := range partitions {
			ask[topic] = append(ask[topic], p)
		}
	}
	answer, err := c.OffsetFetch(ctx, &kafka.OffsetFetchRequest{GroupID: group, Topics: ask})
	if err != nil {
		return 0, fmt.Errorf("asking for the group's offsets: %w", err)
	}
	return ends.minus(answer)
}

// minus counts what is between the group's offsets and the ends. A partition
// without a commit is consumed up to nothing, and so is one that the answer
// lacks; an answer that failed says nothing and is an error.
func (ends offsets) minus(answer *kafka.OffsetFetchResponse) (n int64, err error) {
	if answer.Error != nil {
		return 0, fmt.Errorf("asking for the group's offsets: %w", answer.Error)
	}
	committed := offsets{}
	for topic, partitions := range answer.Topics {
		committed[topic] = map[int]int64{}
		for _, p := range partitions {
			if p.Error != nil {
				return 0, fmt.Errorf("asking for the group's offset in %s/%d: %w", topic, p.Partition, p.Error)
			}
			committed[topic][p.Partition] = max(0, p.CommittedOffset) // -1: none yet
		}
	}
	for topic, partitions := range ends {
		for p, end := range partitions {
			n += max(0, end-committed[topic][p])
		}
	}
	return n, nil
}
