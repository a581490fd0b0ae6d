package capture

import (
	"context"
	"sync"
	"time"

	"prejoin/pkg/kafka"
)

// queue holds what was read and not yet sent. Its writer waits while it is full, which holds the shard back.
type queue struct {
	limit int

	mu     sync.Mutex
	batch  batch
	bytes  int
	closed bool

	filled, emptied chan struct{} // of capacity 1
}

// batch is everything that was read between two takes.
type batch struct {
	messages  []kafka.Message
	end       uint64    // everything before it is in the messages of this batch or was taken before; 0: nothing new
	committed time.Time // of the newest transaction
}

func newQueue(limit int) *queue {
	return &queue{limit: limit, filled: make(chan struct{}, 1), emptied: make(chan struct{}, 1)}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// put adds a message, and waits for room first.
func (q *queue) put(ctx context.Context, m kafka.Message) error {
	for {
		q.mu.Lock()
		if q.bytes < q.limit {
			q.batch.messages = append(q.batch.messages, m)
			q.bytes += m.Size()
			q.mu.Unlock()
			signal(q.filled)
			return nil
		}
		q.mu.Unlock()
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-q.emptied:
		}
	}
}

// mark says that everything before end has been put. It needs no room.
func (q *queue) mark(end uint64, committed time.Time) {
	q.mu.Lock()
	q.batch.end = max(q.batch.end, end)
	if !committed.IsZero() {
		q.batch.committed = committed
	}
	q.mu.Unlock()
	signal(q.filled)
}

// close lets take return what is left and then false.
func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	signal(q.filled)
}

// take waits for something and takes all. It returns false when the queue is closed and empty, and when ctx ends.
func (q *queue) take(ctx context.Context) (batch, bool) {
	for {
		q.mu.Lock()
		b, closed := q.batch, q.closed
		q.batch, q.bytes = batch{}, 0
		q.mu.Unlock()
		if len(b.messages) > 0 || b.end > 0 {
			signal(q.emptied)
			return b, true
		}
		if closed {
			return b, false
		}
		select {
		case <-ctx.Done():
			return b, false
		case <-q.filled:
		}
	}
}
