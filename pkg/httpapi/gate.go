package httpapi

import (
	"net/http"
	"sync"
)

// gate limits how many exports run at once: of the process, and of one key, so
// that one key cannot shut the others out.
type gate struct {
	most, mostOfKey int

	mu    sync.Mutex
	all   int
	ofKey map[string]int
}

func newGate(most, mostOfKey int) *gate {
	return &gate{most: most, mostOfKey: mostOfKey, ofKey: map[string]int{}}
}

// enter returns a function that leaves, or a problem with status 429.
func (g *gate) enter(key string) (leave func(), err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.ofKey[key] >= g.mostOfKey:
		return nil, problem(http.StatusTooManyRequests, "too-many-exports", "Too many exports at once", "This key has %d exports running, which is its limit; wait for one to end.", g.mostOfKey)
	case g.all >= g.most:
		return nil, problem(http.StatusTooManyRequests, "too-many-exports", "Too many exports at once", "%d exports are running, which is the server's limit; try again in a moment.", g.most)
	}
	g.all++
	g.ofKey[key]++
	return func() { g.leave(key) }, nil
}

func (g *gate) leave(key string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.all--
	if g.ofKey[key]--; g.ofKey[key] == 0 {
		delete(g.ofKey, key)
	}
}
