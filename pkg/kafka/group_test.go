package kafka_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"prejoin/pkg/kafka"
)

func fast(topics ...string) kafka.GroupConfig {
	return kafka.GroupConfig{Group: "g", Topics: topics, Session: 2 * time.Second, Heartbeat: 50 * time.Millisecond, Rebalance: 3 * time.Second,
		Backoff: 50 * time.Millisecond, Watch: 100 * time.Millisecond, Drain: time.Second}
}

func member(t *testing.T, c *kafka.Client, cfg kafka.GroupConfig) *kafka.Group {
	t.Helper()
	g, err := c.NewGroup(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return g
}

func next(t *testing.T, g *kafka.Group) *kafka.Generation {
	t.Helper()
	ctx := within(t, 15*time.Second)
	for {
		gen, err := g.Next(ctx)
		if err == nil {
			return gen
		}
		if !kafka.Temporary(err) {
			t.Fatal(err)
		}
	}
}

func starts(gen *kafka.Generation) map[kafka.TopicPartition]int64 {
	m := map[kafka.TopicPartition]int64{}
	for _, a := range gen.Assignments {
		m[a.TopicPartition] = a.Next
	}
	return m
}

func TestStartsAtTheEarliestAndGoesOnWhereItCommitted(t *testing.T) {
	cluster, c := broker(t)
	ensure(t, c, 2, "a")
	for range 3 {
		send(t, c, kafka.Message{Topic: "a", Value: []byte("v")})
	}
	cut(t, cluster, "a", 1)
	tp := kafka.TopicPartition{Topic: "a"}
	g := member(t, c, fast("a"))
	gen := next(t, g)
	if s := starts(gen); len(s) != 2 || s[tp] != 1 || gen.Assignments[0].Committed {
		t.Fatalf("assignments %+v, want two, the first from 1", gen.Assignments)
	}
	if b, err := gen.Fetch(t.Context(), tp, 1); err != nil || len(b.Messages) != 2 {
		t.Fatalf("fetched %+v, %v", b, err)
	}
	if err := gen.Commit(t.Context(), map[kafka.TopicPartition]int64{tp: 2}); err != nil {
		t.Fatal(err)
	}
	g.Close()
	if gen.Context().Err() == nil || !errors.Is(context.Cause(gen.Context()), kafka.ErrOwnershipLost) {
		t.Fatal("the generation lives after Close")
	}
	if s := starts(next(t, member(t, c, fast("a")))); s[tp] != 2 || s[kafka.TopicPartition{Topic: "a", Partition: 1}] != 0 {
		t.Fatalf("the next member starts at %v", s)
	}
	committed, err := c.CommittedOffsets(t.Context(), "g", []string{"a"})
	if err != nil || committed[tp] != 2 || len(committed) != 1 {
		t.Fatalf("committed %v, %v", committed, err)
	}
}

// TestGenerationEndsWhenAPeerJoins: what is done can still be committed until Release; afterwards ownership is lost.
func TestGenerationEndsWhenAPeerJoins(t *testing.T) {
	cluster, c := broker(t)
	ensure(t, c, 2, "a")
	g1 := member(t, c, fast("a"))
	gen1 := next(t, g1)
	if len(gen1.Assignments) != 2 {
		t.Fatalf("alone it owns %+v", gen1.Assignments)
	}
	peer := make(chan *kafka.Generation, 1)
	g2 := member(t, open(t, cluster), fast("a"))
	go func() { peer <- next(t, g2) }()
	select {
	case <-gen1.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("the generation did not end")
	}
	tp := gen1.Assignments[0].TopicPartition
	if err := gen1.Commit(t.Context(), map[kafka.TopicPartition]int64{tp: 0}); err != nil {
		t.Fatalf("the last commit of what was done: %v", err)
	}
	if _, err := gen1.Fetch(t.Context(), tp, 0); !errors.Is(err, kafka.ErrOwnershipLost) {
		t.Fatalf("fetch after the end: %v", err)
	}
	gen1.Release()
	gen2 := next(t, g1)
	if other := <-peer; len(gen2.Assignments) != 1 || len(other.Assignments) != 1 {
		t.Fatalf("shared as %+v and %+v", gen2.Assignments, other.Assignments)
	}
	if err := gen1.Commit(t.Context(), map[kafka.TopicPartition]int64{tp: 0}); !errors.Is(err, kafka.ErrOwnershipLost) || kafka.Temporary(err) {
		t.Fatalf("commit of the old generation: %v", err)
	}
	for _, a := range gen1.Assignments {
		if _, mine := starts(gen2)[a.TopicPartition]; !mine {
			if err := gen2.Commit(t.Context(), map[kafka.TopicPartition]int64{a.TopicPartition: 0}); !errors.Is(err, kafka.ErrOwnershipLost) {
				t.Fatalf("commit of a partition of the peer: %v", err)
			}
		}
	}
}

// TestJoinsTopicsAsTheyAppear: an absent topic does not keep the others waiting.
func TestJoinsTopicsAsTheyAppear(t *testing.T) {
	_, c := broker(t)
	g := member(t, c, fast("a", "later"))
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := g.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("without any topic: %v", err)
	}
	ensure(t, c, 1, "a")
	gen := next(t, g)
	if len(gen.Assignments) != 1 || gen.Assignments[0].Topic != "a" {
		t.Fatalf("assigned %+v", gen.Assignments)
	}
	ensure(t, c, 2, "later")
	select {
	case <-gen.Done():
		gen.Release()
	case <-time.After(10 * time.Second):
		t.Fatal("the new topic was not noticed")
	}
	for len(gen.Assignments) != 3 {
		gen = next(t, g)
		gen.Release()
	}
}

// TestSurvivesAnUnreachableBroker: ownership is lost, and joining is a matter of waiting.
func TestSurvivesAnUnreachableBroker(t *testing.T) {
	cluster, c := broker(t)
	ensure(t, c, 1, "a")
	g := member(t, c, fast("a"))
	gen := next(t, g)
	cluster.Close()
	select {
	case <-gen.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("the generation outlived the broker")
	}
	gen.Release()
	err := gen.Commit(t.Context(), map[kafka.TopicPartition]int64{{Topic: "a"}: 0})
	if !errors.Is(err, kafka.ErrOwnershipLost) {
		t.Fatalf("commit without a broker: %v", err)
	}
	if _, err := g.Next(within(t, 10*time.Second)); err == nil || !kafka.Temporary(err) {
		t.Fatalf("next without a broker: %v, want a temporary error", err)
	}
}

// TestJoinsATopicThatAppearsBetweenGenerations: the look of Next finds it while the member still reads the old topics.
func TestJoinsATopicThatAppearsBetweenGenerations(t *testing.T) {
	cluster, c := broker(t)
	ensure(t, c, 2, "a")
	cfg := fast("a", "later")
	cfg.Watch = 2 * time.Second // the first generation must not see it
	g := member(t, c, cfg)
	gen := next(t, g)
	peer := member(t, open(t, cluster), fast("a"))
	joined := make(chan *kafka.Generation, 1)
	go func() { joined <- next(t, peer) }()
	defer func() { (<-joined).Release() }()
	<-gen.Done() // for the peer joins
	ensure(t, c, 2, "later")
	gen.Release()
	for deadline := time.Now().Add(15 * time.Second); ; {
		gen = next(t, g)
		for _, a := range gen.Assignments {
			if a.Topic == "later" {
				gen.Release()
				return
			}
		}
		select {
		case <-gen.Done():
			gen.Release()
		case <-time.After(time.Until(deadline)):
			t.Fatalf("the topic that appeared is not read: %+v", gen.Assignments)
		}
	}
}
