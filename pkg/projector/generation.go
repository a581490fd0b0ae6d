package projector

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"prejoin/pkg/cdc"
	"prejoin/pkg/kafka"
	"prejoin/pkg/retry"
)

// generation is the work of one generation. What it queued ends with it.
type generation struct {
	*Projector
	gen     *kafka.Generation
	lanes   []*lane
	tracker *tracker
	budgets map[string]*semaphore.Weighted // by shard: bytes of messages that are not done
}

// generation works until the generation or ctx ends or something fails. It
// returns ErrOwnershipLost, nil where ctx ended, or what failed.
func (p *Projector) generation(ctx context.Context, gen *kafka.Generation) error {
	g := &generation{Projector: p, gen: gen, budgets: map[string]*semaphore.Weighted{}}
	for _, a := range gen.Assignments {
		if shard := shardOf(a.Topic); g.budgets[shard] == nil {
			g.budgets[shard] = semaphore.NewWeighted(p.cfg.InFlight)
		}
	}
	g.tracker = newTracker(func(tp kafka.TopicPartition, bytes int64) { g.budgets[shardOf(tp.Topic)].Release(bytes) })
	for _, l := range p.cfg.Lanes {
		g.lanes = append(g.lanes, newLane(p.laneConfig(l)))
	}
	starts, err := g.starts(ctx)
	if err != nil {
		return err
	}
	owned, lost := g.until(ctx)
	defer lost()
	err = g.work(ctx, owned, starts)
	if errors.Is(context.Cause(owned), kafka.ErrOwnershipLost) {
		// Another member may own the partitions: a mark of ours could replace its.
		return errors.Join(kafka.ErrOwnershipLost, ignoreEnd(err))
	}
	return errors.Join(err, g.finish(ctx))
}

// shardOf is the shard whose messages a topic holds. Each has a budget of its
// own, so that one that is away does not hold the others back.
func shardOf(topic string) string {
	shard, _, _ := strings.Cut(topic, ".")
	return shard
}

// until is a context that outlives a stop, for finishing what was fetched, but
// ends with the generation.
func (g *generation) until(ctx context.Context) (context.Context, func()) {
	owned, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(g.gen.Context(), func() { cancel(context.Cause(g.gen.Context())) })
	return owned, func() { stop(); cancel(nil) }
}

// work fetches until ctx ends, then gives the lanes StopDeadline to finish.
func (g *generation) work(ctx, owned context.Context, starts map[kafka.TopicPartition]int64) error {
	group, laneCtx := errgroup.WithContext(owned)
	laneCtx, stopLanes := context.WithCancel(laneCtx)
	defer stopLanes()
	for _, l := range g.lanes {
		group.Go(func() error { return ignoreEnd(l.run(laneCtx)) })
		group.Go(func() error { return ignoreEnd(l.runWalks(laneCtx)) })
	}
	group.Go(func() error { return ignoreEnd(g.commitLoop(laneCtx)) })
	group.Go(func() error {
		defer stopLanes()
		return g.fetchAndFinish(ctx, laneCtx, starts)
	})
	return group.Wait()
}

func ignoreEnd(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// fetchAndFinish returns when the generation ends or, after a stop, when all
// that was fetched is done or the deadline has passed.
func (g *generation) fetchAndFinish(ctx, laneCtx context.Context, starts map[kafka.TopicPartition]int64) error {
	until, cancel := context.WithCancel(laneCtx)
	defer context.AfterFunc(ctx, cancel)()
	defer cancel()
	group, fetching := errgroup.WithContext(until)
	for tp, offset := range starts {
		group.Go(func() error { return g.fetch(fetching, tp, offset) })
	}
	if err := group.Wait(); ignoreEnd(err) != nil {
		return err
	}
	<-until.Done() // a member without partitions waits for the next generation
	if laneCtx.Err() == nil && ctx.Err() != nil {
		g.drain(laneCtx)
	}
	return nil
}

func (g *generation) drain(ctx context.Context) {
	deadline := time.Now().Add(g.cfg.StopDeadline)
	for g.tracker.waiting() > 0 && time.Now().Before(deadline) {
		if !retry.Sleep(ctx, 10*time.Millisecond) {
			return
		}
	}
}

// starts are the offsets to begin at: the lower of the broker's and the stored
// one, so that a MongoDB restored from a backup catches up by itself.
func (g *generation) starts(ctx context.Context) (map[kafka.TopicPartition]int64, error) {
	var stored map[kafka.TopicPartition]int64
	err := g.storing(ctx, func(ctx context.Context) (err error) {
		stored, err = g.cfg.Store.Watermarks(ctx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading the stored watermarks: %w", err)
	}
	starts := map[kafka.TopicPartition]int64{}
	for _, a := range g.gen.Assignments {
		mark, known := stored[a.TopicPartition]
		if starts[a.TopicPartition], err = g.start(ctx, a, mark, known); err != nil {
			return nil, err
		}
	}
	return starts, nil
}

func (g *generation) start(ctx context.Context, a kafka.Assignment, mark int64, known bool) (int64, error) {
	switch {
	case known && a.Committed:
		return min(mark, a.Next), nil
	case known && mark < a.Next:
		return 0, outOfRange(&kafka.OffsetOutOfRangeError{TopicPartition: a.TopicPartition, Wanted: mark, First: a.Next}, g.cfg.Name)
	case !a.Committed:
		// The earliest. Where MongoDB knows a higher offset, the broker forgot the
		// group's, as it does when a topic is made anew: a replay costs only reads.
		return a.Next, nil
	}
	// MongoDB knows nothing of what was committed: it is new or an old backup.
	var first int64
	err := retry.Do(ctx, retry.Policy{Notify: g.notify("waiting for Kafka")}, kafka.Temporary, func(ctx context.Context) (err error) {
		first, err = g.cfg.Earliest(ctx, a.TopicPartition)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("finding the first offset of %s[%d]: %w", a.Topic, a.Partition, err)
	}
	return first, nil
}

// storing retries while MongoDB is away.
func (g *generation) storing(ctx context.Context, f func(context.Context) error) error {
	return retry.Do(ctx, retry.Policy{Notify: g.notify("waiting for MongoDB")}, g.cfg.Temporary, f)
}

// fetch reads one partition in order.
func (g *generation) fetch(ctx context.Context, tp kafka.TopicPartition, offset int64) error {
	for {
		if err := g.shallow(ctx, tp); err != nil {
			return err
		}
		var b kafka.Batch
		err := retry.Do(ctx, retry.Policy{Notify: g.notify("waiting for Kafka")}, kafka.Temporary, func(ctx context.Context) (err error) {
			b, err = g.gen.Fetch(ctx, tp, offset)
			return err
		})
		if err != nil {
			return outOfRange(err, g.cfg.Name)
		}
		for i := range b.Messages {
			if err := g.take(ctx, tp, &b.Messages[i]); err != nil {
				return err
			}
		}
		if n := len(b.Messages); b.Next > offset && (n == 0 || b.Messages[n-1].Offset < b.Next-1) {
			g.tracker.take(tp, b.Next-1, 0).release() // markers and compacted offsets
		}
		offset = b.Next
		g.cfg.Metrics.lag.WithLabelValues(tp.Topic, partitionLabel(tp)).Set(float64(b.End - offset))
	}
}

// maxDepth bounds what a message that waits for long, such as one of a fan-out or
// of a transaction behind an absent standby, lets pile up behind it: messages that
// are done and cannot be committed, about 100 bytes each.
const maxDepth = 200_000

// shallow waits until the partition's pile is below maxDepth.
func (g *generation) shallow(ctx context.Context, tp kafka.TopicPartition) error {
	for g.tracker.depth(tp) >= maxDepth {
		if !retry.Sleep(ctx, 50*time.Millisecond) {
			return ctx.Err()
		}
	}
	return nil
}

// outOfRange adds the next step: what is missing can only be read from the shard.
func outOfRange(err error, group string) error {
	var missing *kafka.OffsetOutOfRangeError
	if !errors.As(err, &missing) {
		return err
	}
	return fmt.Errorf("changes are missing, and going on would lose them: %w. Was the topic recreated, or its retention too short? "+
		"Stop all members of group %s, delete the group's offsets of the topic in Kafka and the record \"%s/%s/%d\" in _prejoin.watermarks, "+
		"start a member, and run projector backfill beside it", err, group, group, missing.Topic, missing.Partition)
}

// take decodes and routes one message to the lanes of its shard.
func (g *generation) take(ctx context.Context, tp kafka.TopicPartition, m *kafka.Message) error {
	bytes := min(int64(m.Size()), g.cfg.InFlight)
	if err := g.budgets[shardOf(tp.Topic)].Acquire(ctx, bytes); err != nil {
		return err
	}
	receipt := g.tracker.take(tp, m.Offset, bytes)
	change, err := g.decode(m)
	if err != nil {
		return err
	}
	g.cfg.Metrics.messages.WithLabelValues(kindLabel(change.Kind)).Inc()
	if change.Kind == cdc.Row || change.Kind == cdc.Truncate {
		if err := g.send(ctx, m, &change, receipt); err != nil {
			return err
		}
	}
	receipt.release()
	return nil
}

func (g *generation) send(ctx context.Context, m *kafka.Message, change *cdc.Change, receipt *receipt) error {
	known, routed := false, false
	for i, r := range g.routes {
		if r.shard != change.Connector {
			continue
		}
		known = true
		touch, err := r.router.Route(change)
		if err != nil {
			return atMessage(m, err)
		}
		routed = routed || r.router.Routes(change.Schema, change.Table)
		if touch.Empty() {
			continue
		}
		t := touched{touch: touch, receipt: receipt.hold(), xid: change.TxID, hasXID: change.HasTxID && !change.Snapshot}
		select {
		case g.lanes[i].in <- t:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if !known {
		return atMessage(m, fmt.Errorf("it comes from connector %q, which is no configured shard: name the shard like the connector's topic prefix", change.Connector))
	}
	if !routed {
		g.cfg.Metrics.unrouted.WithLabelValues(change.Schema + "." + change.Table).Inc()
	}
	return nil
}
