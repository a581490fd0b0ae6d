package access

import (
	"sync"
	"time"
)

const maxCached = 10_000 // keys

// cache remembers keys for a short while. Only keys that exist are in it, so
// guessed ids cannot fill it.
type cache struct {
	ttl  time.Duration
	mu   sync.Mutex
	keys map[string]cached
}

type cached struct {
	key   Key
	until time.Time
}

func newCache(ttl time.Duration) *cache { return &cache{ttl: ttl, keys: map[string]cached{}} }

func (c *cache) get(id string) (Key, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.keys[id]
	if !ok || time.Now().After(e.until) {
		return Key{}, false
	}
	return e.key, true
}

// put makes room by forgetting all: that is rare, and a look-up is cheap.
func (c *cache) put(k Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.keys[k.ID]; !ok && len(c.keys) >= maxCached {
		clear(c.keys)
	}
	c.keys[k.ID] = cached{key: k, until: time.Now().Add(c.ttl)}
}
