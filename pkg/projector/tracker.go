package projector

import (
	"sync"

	"prejoin/pkg/kafka"
)

// tracker knows, for each partition of one generation, up to where every
// message is done.
type tracker struct {
	mu         sync.Mutex
	partitions map[kafka.TopicPartition]*partition
	freed      func(tp kafka.TopicPartition, bytes int64)
}

// partition holds the receipts of messages that are not committed, in order.
type partition struct {
	name    kafka.TopicPartition
	open    []*receipt
	next    int64 // everything below is done
	changed bool  // since the last call of watermarks
}

// receipt stands for one message. It is done when all holds are released.
type receipt struct {
	tracker   *tracker
	partition *partition
	next      int64 // the offset after the message
	bytes     int64
	holds     int // guarded by tracker.mu
}

func newTracker(freed func(tp kafka.TopicPartition, bytes int64)) *tracker {
	return &tracker{partitions: map[kafka.TopicPartition]*partition{}, freed: freed}
}

// take notes a message, in the order of its partition, with one hold.
func (t *tracker) take(tp kafka.TopicPartition, offset, bytes int64) *receipt {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.partitions[tp]
	if p == nil {
		p = &partition{name: tp, next: offset}
		t.partitions[tp] = p
	}
	r := &receipt{tracker: t, partition: p, next: offset + 1, bytes: bytes, holds: 1}
	p.open = append(p.open, r)
	return r
}

// hold adds a hold: one more thing must happen before the message is done.
func (r *receipt) hold() *receipt {
	r.tracker.mu.Lock()
	r.holds++
	r.tracker.mu.Unlock()
	return r
}

// release takes a hold away. The last one frees the message's bytes and lets
// the watermark pass, up to the first message that is not done.
func (r *receipt) release() {
	r.tracker.mu.Lock()
	r.holds--
	done := r.holds == 0
	if done {
		r.partition.advance()
	}
	r.tracker.mu.Unlock()
	if done {
		r.tracker.freed(r.partition.name, r.bytes)
	}
}

func (p *partition) advance() {
	n := 0
	for n < len(p.open) && p.open[n].holds == 0 {
		p.next, p.changed = p.open[n].next, true
		p.open[n] = nil
		n++
	}
	p.open = p.open[n:]
}

// watermarks returns the offsets to read next of the partitions that moved
// since the last call.
func (t *tracker) watermarks() map[kafka.TopicPartition]int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	moved := map[kafka.TopicPartition]int64{}
	for tp, p := range t.partitions {
		if p.changed {
			moved[tp], p.changed = p.next, false
		}
	}
	return moved
}

// depth is the number of messages of one partition behind its watermark.
func (t *tracker) depth(tp kafka.TopicPartition) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p := t.partitions[tp]; p != nil {
		return len(p.open)
	}
	return 0
}

// waiting is the number of messages that are taken and not below a watermark.
func (t *tracker) waiting() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := 0
	for _, p := range t.partitions {
		n += len(p.open)
	}
	return n
}
