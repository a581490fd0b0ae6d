package projector

import (
	"context"
	"time"

	"prejoin/pkg/postgres"
	"prejoin/pkg/refresh"
	"prejoin/pkg/route"
)

// Refresher is what a lane needs of one shard and model; *refresh.Refresher is one.
type Refresher interface {
	Refresh(ctx context.Context, ids []string) (refresh.Result, error)
	Lookup(ctx context.Context, route int, values []string) ([]string, postgres.Snapshot, error)
	Page(ctx context.Context, route int, value, last string, size int) ([]string, postgres.Snapshot, error)
}

// Walker re-reads every document of a shard and model; *refresh.Walker is one.
type Walker interface {
	Walk(ctx context.Context) error
}

// Asker tells what became of a transaction; *postgres.Shard is one.
type Asker interface {
	XactStatus(ctx context.Context, xid uint32, near uint64) (postgres.XactStatus, error)
}

// laneConfig is a lane's work and its bounds.
type laneConfig struct {
	refresher Refresher
	walker    Walker
	asker     Asker
	fanout    func(route int) bool // whether a lookup route has many documents a row
	shard     string
	model     string
	batch     int           // ids at most
	bytes     int64         // message bytes at most in what is gathered for one batch
	linger    time.Duration // the longest wait for a batch to fill
	workers   int           // batches in flight
	metrics   *Metrics
}

// touched is a routed change on its way to a lane.
type touched struct {
	touch   route.Touch
	receipt *receipt // holds one hold for the lane
	xid     uint32
	hasXID  bool
}

// lookupKey is a value whose documents must be looked up.
type lookupKey struct {
	route int
	value string
}

// lane coalesces the changes of one shard and model by document and hands
// batches to workers. Its state belongs to the goroutine of run.
type lane struct {
	laneConfig
	in      chan touched
	results chan result

	ids     map[string]*key
	lookups map[lookupKey]*key
	size    int64     // message bytes that came since the last dispatch
	oldest  time.Time // when the first of what is gathered came; zero: nothing is
	retries []waiting // what waits for its transactions, in order of time
	busy    int
	walks   *walkQueue
}

// waiting is what must be read again once its transactions may be visible.
type waiting struct {
	at      time.Time
	ids     map[string]*key
	lookups map[lookupKey]*key
}

func newLane(cfg laneConfig) *lane {
	return &lane{laneConfig: cfg, in: make(chan touched, 1024), results: make(chan result, cfg.workers),
		ids: map[string]*key{}, lookups: map[lookupKey]*key{}, walks: newWalkQueue()}
}

// run works until the context ends or something fails that waiting cannot cure.
func (l *lane) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	defer l.drain()
	defer cancel() // first: a worker may wait for hours
	for {
		timer.Reset(l.untilDue())
		select {
		case <-ctx.Done():
			return ctx.Err()
		case t := <-l.in:
			l.gather(t)
			l.gatherWaiting()
		case r := <-l.results:
			l.busy--
			if r.err != nil {
				return r.err
			}
			l.settle(r)
		case <-timer.C:
		}
		l.wake()
		l.dispatch(ctx)
	}
}

// drain waits for the workers, so that none outlives the lane.
func (l *lane) drain() {
	for ; l.busy > 0; l.busy-- {
		<-l.results
	}
}

// gatherWaiting takes what is already there, so that a burst is one batch.
func (l *lane) gatherWaiting() {
	for len(l.ids)+len(l.lookups) < l.batch && l.size < l.bytes {
		select {
		case t := <-l.in:
			l.gather(t)
		default:
			return
		}
	}
}

// gather notes what a change touches. The lane's hold on the message goes over
// to the keys.
func (l *lane) gather(t touched) {
	l.size += t.receipt.bytes
	for _, id := range t.touch.IDs {
		keyOf(l.ids, id).add(t.receipt, t.xid, t.hasXID)
	}
	for _, lk := range t.touch.Lookups {
		at := lookupKey{lk.Route, lk.Value}
		if l.fanout(lk.Route) {
			l.walks.add(at, t)
		} else {
			keyOf(l.lookups, at).add(t.receipt, t.xid, t.hasXID)
		}
	}
	if t.touch.Walk {
		l.walks.add(everything, t)
	}
	if l.oldest.IsZero() && len(l.ids)+len(l.lookups) > 0 {
		l.oldest = time.Now()
	}
	t.receipt.release()
}

func keyOf[K comparable](keys map[K]*key, at K) *key {
	k := keys[at]
	if k == nil {
		k = &key{since: time.Now()}
		keys[at] = k
	}
	return k
}

// untilDue is the time until something is to be done without a message.
func (l *lane) untilDue() time.Duration {
	due := time.Hour
	if !l.oldest.IsZero() && l.busy < l.workers {
		due = time.Until(l.oldest.Add(l.linger))
	}
	if len(l.retries) > 0 {
		due = min(due, time.Until(l.retries[0].at))
	}
	return max(due, 0)
}

// wake puts what waited for its transactions back among the gathered.
func (l *lane) wake() {
	for len(l.retries) > 0 && !time.Now().Before(l.retries[0].at) {
		w := l.retries[0]
		l.retries = l.retries[1:]
		for id, k := range w.ids {
			keyOf(l.ids, id).merge(k)
		}
		for at, k := range w.lookups {
			keyOf(l.lookups, at).merge(k)
		}
		l.oldest = time.Now().Add(-l.linger)
	}
}

// dispatch hands a batch to a worker when one is free and the batch is full or due.
func (l *lane) dispatch(ctx context.Context) {
	for l.busy < l.workers && len(l.ids)+len(l.lookups) > 0 && l.due() {
		b := l.take()
		l.busy++
		go func() { l.results <- l.work(ctx, b) }()
	}
}

func (l *lane) due() bool {
	return len(l.ids)+len(l.lookups) >= l.batch || l.size >= l.bytes || time.Since(l.oldest) >= l.linger
}

// take cuts a batch off what is gathered: lookups first, whose ids come back as keys.
func (l *lane) take() batch {
	b := batch{ids: map[string]*key{}, lookups: map[lookupKey]*key{}}
	move(b.lookups, l.lookups, l.batch)
	move(b.ids, l.ids, l.batch-len(b.lookups))
	if len(l.ids)+len(l.lookups) == 0 {
		l.oldest = time.Time{}
	}
	l.size = 0
	return b
}

func move[K comparable](dst, src map[K]*key, most int) {
	for at, k := range src {
		if len(dst) >= most {
			return
		}
		dst[at] = k
		delete(src, at)
	}
}
