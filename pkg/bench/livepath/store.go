package livepath

import (
	"context"
	"maps"
	"sync"

	"prejoin/pkg/kafka"
	"prejoin/pkg/mongodb"
	"prejoin/pkg/refresh"
)

const groupName = "bench"

// store keeps watermarks in MongoDB, as the projector's does, and tells when.
type store struct {
	db    *mongodb.DB
	guard *refresh.Guard

	mu    sync.Mutex
	marks map[kafka.TopicPartition]int64
	news  chan struct{} // closed at the next change
}

func newStore(w *world) *store {
	return &store{db: w.db, guard: w.guard, marks: map[kafka.TopicPartition]int64{}, news: make(chan struct{})}
}

// Watermarks are the offsets to read next that were stored last.
func (s *store) Watermarks(ctx context.Context) (map[kafka.TopicPartition]int64, error) {
	stored, err := s.db.Watermarks(ctx, groupName)
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
	if err := s.db.StoreWatermarks(ctx, groupName, stored); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.Copy(s.marks, marks)
	close(s.news)
	s.news = make(chan struct{})
	return nil
}

// Confirm fails unless the shard's record still shows the epoch that is read under.
func (s *store) Confirm(ctx context.Context) error {
	current, err := s.db.RecordRank(ctx, shardName, s.guard.Epoch(), s.guard.Highest())
	if err == nil && !current {
		err = &refresh.EpochError{Shard: shardName}
	}
	return err
}

func (s *store) changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.news
}

// passed tells whether all that lies below the ends is done.
func (s *store) passed(ends map[kafka.TopicPartition]int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for tp, end := range ends {
		if s.marks[tp] < end {
			return false
		}
	}
	return true
}
