package projector

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"prejoin/pkg/kafka"
	"prejoin/pkg/postgres"
	"prejoin/pkg/refresh"
	"prejoin/pkg/route"
)

// shard is a refresher whose snapshots see the transactions below visible.
type shard struct {
	mu      sync.Mutex
	visible uint64
	found   map[string][]string // lookups and fan-outs by value
	status  postgres.XactStatus
	fail    error

	refreshed [][]string
	asked     int
}

func (s *shard) snapshot() postgres.Snapshot {
	return postgres.Snapshot{XMin: s.visible, XMax: s.visible}
}

func (s *shard) Refresh(_ context.Context, ids []string) (refresh.Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refreshed = append(s.refreshed, ids)
	return refresh.Result{Snapshot: s.snapshot()}, s.fail
}

func (s *shard) Lookup(_ context.Context, _ int, values []string) ([]string, postgres.Snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []string
	for _, v := range values {
		ids = append(ids, s.found[v]...)
	}
	return ids, s.snapshot(), nil
}

func (s *shard) Page(_ context.Context, _ int, value, last string, size int) ([]string, postgres.Snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids := s.found[value]
	if last != "" {
		ids = ids[slices.Index(ids, last)+1:]
	}
	return ids[:min(size, len(ids))], s.snapshot(), nil
}

func (s *shard) XactStatus(context.Context, uint32, uint64) (postgres.XactStatus, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	return s.status, nil
}

func (s *shard) show(below uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.visible = below
}

func (s *shard) times(id string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, ids := range s.refreshed {
		if slices.Contains(ids, id) {
			n++
		}
	}
	return n
}

// bench is a lane that runs, and the tracker of its one partition.
type bench struct {
	t       *testing.T
	shard   *shard
	lane    *lane
	tracker *tracker
	offset  int64
	stop    func() error
}

var partition0 = kafka.TopicPartition{Topic: "t"}

func newBench(t *testing.T, s *shard) *bench {
	b := &bench{t: t, shard: s, tracker: newTracker(func(kafka.TopicPartition, int64) {})}
	b.lane = newLane(laneConfig{refresher: s, asker: s, fanout: func(r int) bool { return r == 1 }, batch: 1000, bytes: 8 << 20,
		linger: 20 * time.Millisecond, workers: 2, metrics: NewMetrics(prometheus.NewRegistry())})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 2)
	go func() { done <- b.lane.run(ctx) }()
	go func() { done <- b.lane.runWalks(ctx) }()
	b.stop = func() error { cancel(); return errors.Join(<-done, <-done) }
	return b
}

// send passes one change to the lane, as the next offset.
func (b *bench) send(xid uint32, touch route.Touch) {
	r := b.tracker.take(partition0, b.offset, 100)
	b.offset++
	b.lane.in <- touched{touch: touch, receipt: r, xid: xid, hasXID: true}
}

// after waits and returns how many messages are not done.
func (b *bench) after(d time.Duration) int {
	time.Sleep(d)
	synctest.Wait()
	return b.tracker.waiting()
}

func ids(list ...string) route.Touch { return route.Touch{IDs: list} }

func TestChangesOfOneDocumentAreOneRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, &shard{visible: 100})
		for range 50 {
			b.send(9, ids("7"))
		}
		if left := b.after(30 * time.Millisecond); left != 0 || len(b.shard.refreshed) != 1 {
			t.Errorf("%d messages left, reads %v", left, b.shard.refreshed)
		}
		_ = b.stop()
	})
}

func TestInvisibleKeyWaitsAloneUntilAllItsTransactionsShow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, &shard{visible: 100, status: postgres.InProgress})
		b.send(105, ids("7")) // not visible yet
		b.send(50, ids("8"))
		b.send(101, ids("7"))
		if left := b.after(time.Second); left != 3 { // 7 is first and holds the watermark
			t.Errorf("%d messages left, want 3", left)
		}
		if b.shard.times("8") != 1 {
			t.Errorf("8 was read %d times", b.shard.times("8"))
		}
		b.shard.show(102)
		if left := b.after(time.Second); left != 3 {
			t.Errorf("released after one of two transactions: %d left", left)
		}
		b.shard.show(106)
		if left := b.after(time.Second); left != 0 {
			t.Errorf("%d messages left after all is visible", left)
		}
		_ = b.stop()
	})
}

func TestTransactionThatNeverWasIsReleasedAfterOneMoreRead(t *testing.T) {
	for _, status := range []postgres.XactStatus{postgres.Aborted, postgres.Forgotten, postgres.Future} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, &shard{visible: 100, status: status})
			b.send(4000, ids("7"))
			if left := b.after(4900 * time.Millisecond); left != 1 || b.shard.asked != 0 {
				t.Errorf("%s: before 5 s: %d left, asked %d times", status, left, b.shard.asked)
			}
			before := b.shard.times("7")
			if left := b.after(time.Second); left != 0 || b.shard.asked != 1 || b.shard.times("7") <= before {
				t.Errorf("%s: after 5 s: %d left, asked %d times", status, left, b.shard.asked)
			}
			_ = b.stop()
		})
	}
}

func TestLookupThatSeesNothingYetIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shard{visible: 100, status: postgres.InProgress, found: map[string][]string{}}
		b := newBench(t, s)
		b.send(105, route.Touch{Lookups: []route.Lookup{{Route: 0, Value: "p"}}})
		if left := b.after(time.Second); left != 1 {
			t.Fatalf("%d left: a lookup that found nothing was taken for the answer", left)
		}
		s.mu.Lock()
		s.visible, s.found["p"] = 106, []string{"7", "8"}
		s.mu.Unlock()
		if left := b.after(time.Second); left != 0 || s.times("7") == 0 || s.times("8") == 0 {
			t.Errorf("%d left, reads %v", left, s.refreshed)
		}
		_ = b.stop()
	})
}

func TestFanoutHoldsItsMessageUntilTheLastPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shard{visible: 100, status: postgres.InProgress, found: map[string][]string{}}
		for i := range 2*pageSize + 1 {
			s.found["m"] = append(s.found["m"], strconv.Itoa(10000+i))
		}
		b := newBench(t, s)
		b.send(105, route.Touch{Lookups: []route.Lookup{{Route: 1, Value: "m"}}})
		if left := b.after(time.Second); left != 1 || len(s.refreshed) != 0 {
			t.Errorf("walked before the change was visible: %d left, %d pages", left, len(s.refreshed))
		}
		s.show(106)
		if left := b.after(time.Second); left != 0 || len(s.refreshed) != 3 {
			t.Errorf("%d left, %d pages of 3", left, len(s.refreshed))
		}
		_ = b.stop()
	})
}

func TestFailureStopsTheLaneAndKeepsTheMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		poison := errors.New("poison")
		b := newBench(t, &shard{visible: 100, fail: poison})
		b.send(9, ids("7"))
		if left := b.after(time.Second); left != 1 {
			t.Errorf("%d left: a failed read was committed", left)
		}
		if err := b.stop(); !errors.Is(err, poison) {
			t.Errorf("stopped with %v", err)
		}
	})
}
