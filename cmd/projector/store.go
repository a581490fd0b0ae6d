package main

import (
	"context"
	"fmt"

	"prejoin/pkg/kafka"
	"prejoin/pkg/mongodb"
	"prejoin/pkg/refresh"
)

// store plugs MongoDB's records into the live loop.
type store struct {
	db     *mongodb.DB
	group  string
	guards map[string]*refresh.Guard // by shard
}

// Watermarks are the offsets to read next that were stored last.
func (s *store) Watermarks(ctx context.Context) (map[kafka.TopicPartition]int64, error) {
	stored, err := s.db.Watermarks(ctx, s.group)
	marks := make(map[kafka.TopicPartition]int64, len(stored))
	for tp, next := range stored {
		marks[kafka.TopicPartition(tp)] = next
	}
	return marks, err
}

// StoreWatermarks stores them, held by a majority.
func (s *store) StoreWatermarks(ctx context.Context, marks map[kafka.TopicPartition]int64) error {
	stored := make(map[mongodb.TopicPartition]int64, len(marks))
	for tp, next := range marks {
		stored[mongodb.TopicPartition(tp)] = next
	}
	return s.db.StoreWatermarks(ctx, s.group, stored)
}

// Confirm fails unless each shard's record still shows the epoch that this
// process reads under.
func (s *store) Confirm(ctx context.Context) error {
	for name, g := range s.guards {
		current, err := s.db.RecordRank(ctx, name, g.Epoch(), g.Highest())
		if err != nil {
			return fmt.Errorf("recording the rank of shard %s: %w", name, err)
		}
		if !current {
			return &refresh.EpochError{Shard: name}
		}
	}
	return nil
}
