package projector

import (
	"context"
	"slices"
	"time"

	"prejoin/pkg/postgres"
)

// batch is what one worker does at once.
type batch struct {
	ids     map[string]*key
	lookups map[lookupKey]*key
}

// result is what became of a batch.
type result struct {
	batch
	found  map[int][]string          // by route: the ids of all its values
	looked map[int]postgres.Snapshot // by route
	read   postgres.Snapshot         // of the ids
	gone   map[uint32]bool           // transactions that need not be waited for
	err    error
}

// work looks up, re-reads and writes one batch.
func (l *lane) work(ctx context.Context, b batch) result {
	r := result{batch: b, found: map[int][]string{}, looked: map[int]postgres.Snapshot{}}
	if r.err = l.lookUp(ctx, &r); r.err != nil {
		return r
	}
	if len(b.ids) > 0 {
		res, err := l.refresher.Refresh(ctx, idsOf(b.ids))
		if err != nil {
			r.err = err
			return r
		}
		r.read = res.Snapshot
		l.metrics.batch.Observe(float64(len(b.ids)))
	}
	r.gone, r.err = l.ask(ctx, r)
	return r
}

func idsOf(keys map[string]*key) []string {
	ids := make([]string, 0, len(keys))
	for id := range keys {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// lookUp asks each route once for all its values.
func (l *lane) lookUp(ctx context.Context, r *result) error {
	values := map[int][]string{}
	for at := range r.lookups {
		values[at.route] = append(values[at.route], at.value)
	}
	for route, list := range values {
		ids, snapshot, err := l.refresher.Lookup(ctx, route, list)
		if err != nil {
			return err
		}
		r.found[route], r.looked[route] = ids, snapshot
	}
	return nil
}

// settle releases the messages of what was read after all its transactions, and
// puts the rest off. The ids that lookups found are gathered with the lookups'
// messages; a later read sees whatever the lookup saw.
func (l *lane) settle(r result) {
	later := waiting{ids: map[string]*key{}, lookups: map[lookupKey]*key{}}
	for id, k := range r.ids {
		if k.seen(r.read) {
			k.done()
			continue
		}
		k.forget(r.gone)
		later.ids[id] = k
	}
	l.settleLookups(r, later)
	if len(later.ids)+len(later.lookups) > 0 {
		later.at = time.Now().Add(retryAfter(later))
		l.retries = append(l.retries, later)
		slices.SortFunc(l.retries, func(a, b waiting) int { return a.at.Compare(b.at) })
	}
	l.metrics.invisible.WithLabelValues(l.shard, l.model).Set(float64(l.invisible()))
}

// settleLookups gathers what each route's lookup found. The messages of the
// values whose changes it saw go over to those ids; the other values are looked
// up again, because what was found may not be all.
func (l *lane) settleLookups(r result, later waiting) {
	relays := map[int]*relay{}
	for at, k := range r.lookups {
		if !k.seen(r.looked[at.route]) {
			k.forget(r.gone)
			later.lookups[at] = k
			continue
		}
		if relays[at.route] == nil {
			relays[at.route] = &relay{}
		}
		relays[at.route].receipts = append(relays[at.route].receipts, k.receipts...)
	}
	for route, ids := range r.found {
		l.pass(ids, relays[route])
	}
}

// pass gathers ids that a lookup found; by is nil where no message waits for them.
func (l *lane) pass(ids []string, by *relay) {
	if by != nil {
		by.left = max(len(ids), 1)
	}
	for _, id := range ids {
		k := keyOf(l.ids, id)
		if by != nil {
			k.relays = append(k.relays, by)
		}
	}
	switch {
	case len(ids) > 0 && l.oldest.IsZero():
		l.oldest = time.Now().Add(-l.linger) // they have waited once
	case len(ids) == 0 && by != nil:
		by.done()
	}
}

func (l *lane) invisible() int {
	n := 0
	for _, w := range l.retries {
		n += len(w.ids) + len(w.lookups)
	}
	return n
}

// forget strikes the transactions that will never be seen; the key is read once more.
func (k *key) forget(gone map[uint32]bool) {
	k.xids = slices.DeleteFunc(k.xids, func(x uint32) bool { return gone[x] })
}

// retryAfter waits a little longer the older the youngest of the keys is: 2 ms
// for a commit on its way to visibility, 100 ms behind a slow standby.
func retryAfter(w waiting) time.Duration {
	age := time.Hour
	for _, k := range w.ids {
		age = min(age, time.Since(k.since))
	}
	for _, k := range w.lookups {
		age = min(age, time.Since(k.since))
	}
	return min(max(age/4, 2*time.Millisecond), 100*time.Millisecond)
}

// askAfter is how long a transaction may stay unseen before the shard is asked
// what became of it.
const askAfter = 5 * time.Second

// ask finds out which transactions that are long unseen never will be seen:
// rolled back, forgotten, or never begun on this primary.
func (l *lane) ask(ctx context.Context, r result) (map[uint32]bool, error) {
	gone := map[uint32]bool{}
	for _, k := range r.ids {
		if err := l.askOf(ctx, k, r.read, gone); err != nil {
			return nil, err
		}
	}
	for at, k := range r.lookups {
		if err := l.askOf(ctx, k, r.looked[at.route], gone); err != nil {
			return nil, err
		}
	}
	return gone, nil
}

func (l *lane) askOf(ctx context.Context, k *key, s postgres.Snapshot, gone map[uint32]bool) error {
	if time.Since(k.since) < askAfter || time.Since(k.asked) < askAfter {
		return nil
	}
	k.asked = time.Now()
	for _, x := range k.xids {
		if s.Sees(x) {
			continue
		}
		status, err := l.asker.XactStatus(ctx, x, s.XMax)
		if postgres.Temporary(err) {
			return nil // the next read waits for the shard, then it is asked again
		}
		if err != nil {
			return err
		}
		gone[x] = status == postgres.Aborted || status == postgres.Forgotten || status == postgres.Future
	}
	return nil
}
