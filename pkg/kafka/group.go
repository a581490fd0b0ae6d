package kafka

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	kafkago "github.com/segmentio/kafka-go"
)

// GroupConfig describes a member of a consumer group.
type GroupConfig struct {
	Group     string
	Topics    []string      // one that does not exist yet is polled for and joined later
	Session   time.Duration // without a heartbeat for so long the member is dead; default 10 s, the broker's minimum is 6 s
	Heartbeat time.Duration // default 2 s
	Rebalance time.Duration // how long the broker waits for members to join; default 10 s
	Backoff   time.Duration // after a failed join; default 1 s
	Watch     time.Duration // between looks for missing, removed and grown topics; default 3 s
	Drain     time.Duration // how long a generation that ended can still commit if Release is not called; default 3 s, less than Rebalance
}

func (c GroupConfig) withDefaults() GroupConfig {
	c.Session = cmp.Or(c.Session, 10*time.Second)
	c.Heartbeat = cmp.Or(c.Heartbeat, 2*time.Second)
	c.Rebalance = cmp.Or(c.Rebalance, 10*time.Second)
	c.Backoff = cmp.Or(c.Backoff, time.Second)
	c.Watch = cmp.Or(c.Watch, 3*time.Second)
	c.Drain = cmp.Or(c.Drain, 3*time.Second)
	return c
}

// Group is one member of a consumer group. Next is for one goroutine; Close is for any.
type Group struct {
	cfg    GroupConfig
	client *Client

	mu     sync.Mutex
	inner  *kafkago.ConsumerGroup
	joined map[string]int // the partitions of the topics that inner reads
	closed chan struct{}
	once   sync.Once
	missed []string // the absent topics that were last logged

	watchers sync.WaitGroup
}

// NewGroup makes a member. It joins at the first Next.
func (c *Client) NewGroup(cfg GroupConfig) (*Group, error) {
	cfg = cfg.withDefaults()
	switch {
	case cfg.Group == "":
		return nil, errors.New("no consumer group given")
	case len(cfg.Topics) == 0:
		return nil, errors.New("no topics given to consumer group " + cfg.Group)
	case cfg.Drain >= cfg.Rebalance:
		return nil, fmt.Errorf("a drain of %v must be shorter than the rebalance timeout of %v", cfg.Drain, cfg.Rebalance)
	}
	return &Group{cfg: cfg, client: c, closed: make(chan struct{})}, nil
}

// Next waits for the next generation; the one before must have been released or is drained first. Errors that are
// Temporary ask for another Next. After Close it returns ErrClosed.
func (g *Group) Next(ctx context.Context) (*Generation, error) {
	for {
		inner, joined, err := g.join(ctx)
		if err != nil {
			return nil, err
		}
		next, err := inner.Next(ctx)
		switch {
		case errors.Is(err, kafkago.ErrGroupClosed): // the watcher saw a change of topics
			g.forget(inner)
		case err != nil && ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil:
			return nil, fmt.Errorf("joining consumer group %s: %w", g.cfg.Group, err)
		default:
			return g.generation(ctx, inner, next, joined)
		}
	}
}

// join returns the member and the partitions of the topics that it reads. Where there is no member it makes one of the topics that
// exist now, and waits until there are any: an absent topic would empty every assignment of the group.
func (g *Group) join(ctx context.Context) (*kafkago.ConsumerGroup, map[string]int, error) {
	for {
		found, err := g.client.Partitions(ctx, g.cfg.Topics)
		if err != nil {
			return nil, nil, err
		}
		g.tellMissing(found)
		if len(found) > 0 {
			return g.member(found)
		}
		select {
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		case <-g.closed:
			return nil, nil, ErrClosed
		case <-time.After(g.cfg.Watch):
		}
	}
}

func (g *Group) tellMissing(found map[string]int) {
	var missing []string
	for _, topic := range g.cfg.Topics {
		if _, ok := found[topic]; !ok {
			missing = append(missing, topic)
		}
	}
	if len(missing) > 0 && !slices.Equal(missing, g.missed) {
		g.client.cfg.Log.Info("waiting for topics that do not exist yet", "group", g.cfg.Group, "topics", missing)
	}
	g.missed = missing
}

// member returns what it was made with beside the member that there is, and not what was found: else a topic that appeared
// between two generations would never be seen as new and never be read.
func (g *Group) member(found map[string]int) (*kafkago.ConsumerGroup, map[string]int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-g.closed:
		return nil, nil, ErrClosed
	default:
	}
	if g.inner != nil {
		return g.inner, g.joined, nil
	}
	topics := make([]string, 0, len(found))
	for topic := range found {
		topics = append(topics, topic)
	}
	slices.Sort(topics)
	inner, err := kafkago.NewConsumerGroup(kafkago.ConsumerGroupConfig{
		ID: g.cfg.Group, Brokers: g.client.cfg.Brokers, Topics: topics, StartOffset: kafkago.FirstOffset,
		HeartbeatInterval: g.cfg.Heartbeat, SessionTimeout: g.cfg.Session, RebalanceTimeout: g.cfg.Rebalance, JoinGroupBackoff: g.cfg.Backoff,
		GroupBalancers: []kafkago.GroupBalancer{balancer{}},
		Dialer:         &kafkago.Dialer{ClientID: g.client.cfg.ClientID, Timeout: g.client.cfg.Timeout},
	})
	if err != nil {
		return nil, nil, fmt.Errorf("setting up consumer group %s: %w", g.cfg.Group, err)
	}
	g.inner, g.joined = inner, found
	return inner, found, nil
}

func (g *Group) forget(inner *kafkago.ConsumerGroup) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.inner == inner {
		g.inner = nil
	}
}

// Close ends the generation, leaves the group so that its peers take over at once, and waits for both.
func (g *Group) Close() {
	g.once.Do(func() { close(g.closed) })
	g.mu.Lock()
	inner := g.inner
	g.mu.Unlock()
	if inner != nil {
		_ = inner.Close() // always nil
	}
	g.watchers.Wait()
}
