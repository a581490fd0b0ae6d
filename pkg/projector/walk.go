package projector

import (
	"context"
	"sync"
	"time"

	"prejoin/pkg/postgres"
)

// everything is the walk that a truncated table asks for.
var everything = lookupKey{route: -1}

// walkQueue holds the fan-outs and walks of a lane. A change of a value that is
// queued joins it; one of a value that is being walked queues it again, because
// the pages behind the walk do not show it.
type walkQueue struct {
	mu     sync.Mutex
	queued map[lookupKey]*key
	order  []lookupKey
	ready  chan struct{}
}

func newWalkQueue() *walkQueue {
	return &walkQueue{queued: map[lookupKey]*key{}, ready: make(chan struct{}, 1)}
}

func (q *walkQueue) add(at lookupKey, t touched) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.queued[at] == nil {
		q.order = append(q.order, at)
	}
	keyOf(q.queued, at).add(t.receipt, t.xid, t.hasXID)
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

// next waits for a walk and takes it off the queue.
func (q *walkQueue) next(ctx context.Context) (lookupKey, *key, error) {
	for {
		if at, k := q.pop(); k != nil {
			return at, k, nil
		}
		select {
		case <-ctx.Done():
			return lookupKey{}, nil, ctx.Err()
		case <-q.ready:
		}
	}
}

func (q *walkQueue) pop() (lookupKey, *key) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.order) == 0 {
		return lookupKey{}, nil
	}
	at := q.order[0]
	q.order = q.order[1:]
	k := q.queued[at]
	delete(q.queued, at)
	return at, k
}

// pageSize is the number of documents a page of a fan-out refreshes.
const pageSize = 500

// runWalks does one walk after another beside the live changes. A message is
// released when every page that it asked for is written.
func (l *lane) runWalks(ctx context.Context) error {
	for {
		at, k, err := l.walks.next(ctx)
		if err != nil {
			return err
		}
		if err := l.walk(ctx, at, k); err != nil {
			return err
		}
		k.done()
		l.metrics.walks.Inc()
	}
}

func (l *lane) walk(ctx context.Context, at lookupKey, k *key) error {
	if at == everything {
		return l.walker.Walk(ctx)
	}
	first, err := l.firstPage(ctx, at, k)
	if err != nil {
		return err
	}
	for ids := first; len(ids) > 0; {
		if _, err := l.refresher.Refresh(ctx, ids); err != nil {
			return err
		}
		if len(ids) < pageSize {
			return nil
		}
		if ids, _, err = l.refresher.Page(ctx, at.route, at.value, ids[len(ids)-1], pageSize); err != nil {
			return err
		}
	}
	return nil
}

// firstPage reads the first page until its snapshot sees the changes that the
// walk is for: what is read after it sees them too.
func (l *lane) firstPage(ctx context.Context, at lookupKey, k *key) ([]string, error) {
	for {
		ids, snapshot, err := l.refresher.Page(ctx, at.route, at.value, "", pageSize)
		if err != nil || k.seen(snapshot) {
			return ids, err
		}
		r := result{batch: batch{lookups: map[lookupKey]*key{at: k}}, looked: map[int]postgres.Snapshot{at.route: snapshot}}
		gone, err := l.ask(ctx, r)
		if err != nil {
			return nil, err
		}
		k.forget(gone)
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(retryAfter(waiting{lookups: r.lookups})):
		}
	}
}
