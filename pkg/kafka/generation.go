package kafka

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	kafkago "github.com/segmentio/kafka-go"
)

// Assignment is one partition that a generation owns.
type Assignment struct {
	TopicPartition
	Next      int64 // the offset to read next: the committed one, or the earliest where there is none
	Committed bool
}

// Generation is the time in which a member owns its assignments. Its methods are safe for concurrent use.
type Generation struct {
	ID          int32
	Member      string
	Assignments []Assignment

	client  *Client
	inner   *kafkago.Generation
	ctx     context.Context
	owned   map[TopicPartition]bool
	release chan struct{}
	once    sync.Once
}

func (g *Group) generation(ctx context.Context, member *kafkago.ConsumerGroup, inner *kafkago.Generation, joined map[string]int) (*Generation, error) {
	own, end := context.WithCancelCause(context.Background())
	gen := &Generation{ID: inner.ID, Member: inner.MemberID, client: g.client, inner: inner, ctx: own,
		owned: map[TopicPartition]bool{}, release: make(chan struct{})}
	inner.Start(func(ended context.Context) {
		<-ended.Done()
		end(ErrOwnershipLost)
		select { // kafka-go closes the coordinator's connection, by which commits go, when this returns
		case <-gen.release:
		case <-time.After(g.cfg.Drain):
		}
	})
	if err := gen.assign(ctx); err != nil {
		gen.Release()
		inner.Start(func(context.Context) {}) // a function that returns ends the generation
		return nil, err
	}
	g.watchers.Go(func() { g.watch(own, member, joined) })
	return gen, nil
}

// assign lists the assignments, and asks for the earliest offset where none is committed: fetching "from the earliest" later would
// jump over what retention removed meanwhile.
func (g *Generation) assign(ctx context.Context) error {
	var fresh []TopicPartition
	for topic, list := range g.inner.Assignments {
		for _, p := range list {
			tp := TopicPartition{topic, p.ID}
			g.owned[tp] = true
			g.Assignments = append(g.Assignments, Assignment{TopicPartition: tp, Next: p.Offset, Committed: p.Offset >= 0})
			if p.Offset < 0 {
				fresh = append(fresh, tp)
			}
		}
	}
	first, err := g.client.list(ctx, fresh, kafkago.FirstOffset)
	for i := range g.Assignments {
		if a := &g.Assignments[i]; !a.Committed {
			a.Next = first[a.TopicPartition]
		}
	}
	return err
}

// watch ends the membership when the group's topics are no longer those that were joined; Next joins anew.
func (g *Group) watch(ctx context.Context, member *kafkago.ConsumerGroup, joined map[string]int) {
	ticker := time.NewTicker(g.cfg.Watch)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		found, err := g.client.Partitions(ctx, g.cfg.Topics)
		if err == nil && !maps.Equal(found, joined) {
			g.client.cfg.Log.Info("joining the consumer group again: its topics changed", "group", g.cfg.Group)
			_ = member.Close() // always nil
			return
		}
	}
}

// Context ends with the cause ErrOwnershipLost when the generation ends.
func (g *Generation) Context() context.Context { return g.ctx }

// Done is closed when the generation ends: drop what is queued, commit what is done, Release.
func (g *Generation) Done() <-chan struct{} { return g.ctx.Done() }

// Fetch reads from any offset of an assigned partition; see Client.Fetch. After the end of the generation it returns ErrOwnershipLost.
func (g *Generation) Fetch(ctx context.Context, tp TopicPartition, offset int64) (Batch, error) {
	if !g.owned[tp] {
		return Batch{Next: offset}, g.notOwned("fetching", tp)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(g.ctx, cancel)()
	batch, err := g.client.Fetch(ctx, tp, offset)
	if g.ctx.Err() != nil {
		return Batch{Next: offset}, fmt.Errorf("fetching partition %d of topic %s: %w", tp.Partition, tp.Topic, ErrOwnershipLost)
	}
	return batch, err
}

// Commit stores the offsets to read next. After Release, or when another member has taken over, it returns ErrOwnershipLost.
func (g *Generation) Commit(ctx context.Context, next map[TopicPartition]int64) error {
	if len(next) == 0 {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	offsets := map[string]map[int]int64{}
	for tp, offset := range next {
		if !g.owned[tp] { // the broker would accept it from any member
			return g.notOwned("committing", tp)
		}
		if offsets[tp.Topic] == nil {
			offsets[tp.Topic] = map[int]int64{}
		}
		offsets[tp.Topic][tp.Partition] = offset
	}
	return g.commit(offsets)
}

func (g *Generation) commit(offsets map[string]map[int]int64) error {
	err := g.inner.CommitOffsets(offsets)
	if err == nil {
		return nil
	}
	if err = lost(err); g.ctx.Err() != nil && !errors.Is(err, ErrOwnershipLost) {
		err = fmt.Errorf("%w: %w", ErrOwnershipLost, err)
	}
	return fmt.Errorf("committing offsets of generation %d: %w", g.ID, err)
}

func (g *Generation) notOwned(doing string, tp TopicPartition) error {
	return fmt.Errorf("%s partition %d of topic %s: generation %d does not own it: %w", doing, tp.Partition, tp.Topic, g.ID, ErrOwnershipLost)
}

// Release says that nothing of the generation is in work any more, so that the member can join the next one at once.
func (g *Generation) Release() { g.once.Do(func() { close(g.release) }) }
