package access

import (
	"sync"
	"time"
)

const maxCached = 10_000 // keys, and as many unknown ids

// cache remembers keys for a short while, and apart from them ids that open
// nothing: guessed ids can push out only one another.
type cache struct {
	ttl     time.Duration
	mu      sync.Mutex
	keys    map[string]cached
	unknown map[string]time.Time // until when
}

type cached struct {
	key   Key
	until time.Time
}

func newCache(ttl time.Duration) *cache {
	return &cache{ttl: ttl, keys: map[string]cached{}, unknown: map[string]time.Time{}}
}

// get tells whether the id was looked up lately (ok), and what was found.
func (c *cache) get(id string) (k Key, known, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if e, ok := c.keys[id]; ok && !now.After(e.until) {
		return e.key, true, true
	}
	until, ok := c.unknown[id]
	return Key{}, false, ok && !now.After(until)
}

// put makes room by forgetting all: that is rare, and a look-up is cheap.
func (c *cache) put(k Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.keys[k.ID]; !ok && len(c.keys) >= maxCached {
		clear(c.keys)
	}
	delete(c.unknown, k.ID)
	c.keys[k.ID] = cached{key: k, until: time.Now().Add(c.ttl)}
}

func (c *cache) putUnknown(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.unknown[id]; !ok && len(c.unknown) >= maxCached {
		clear(c.unknown)
	}
	delete(c.keys, id)
	c.unknown[id] = time.Now().Add(c.ttl)
}
