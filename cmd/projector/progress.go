package main

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// progress prints how far a long job is, once a second.
type progress struct {
	w    io.Writer
	name string

	mu      sync.Mutex
	start   time.Time
	printed time.Time
	done    map[string]int64 // by shard and model
}

func newProgress(w io.Writer, name string) *progress {
	now := time.Now()
	return &progress{w: w, name: name, start: now, printed: now, done: map[string]int64{}}
}

func (p *progress) tell(shard, model string, documents int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := shard + "/" + model
	p.done[key] = max(p.done[key], documents)
	if time.Since(p.printed) >= time.Second {
		p.print()
	}
}

// end prints the last state of a job that printed before.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.printed != p.start {
		p.print()
	}
}

func (p *progress) print() {
	var total int64
	for _, n := range p.done {
		total += n
	}
	p.printed = time.Now()
	seconds := p.printed.Sub(p.start).Seconds()
	fmt.Fprintf(p.w, "%s: %d documents, %.0f/s\n", p.name, total, float64(total)/seconds)
}
