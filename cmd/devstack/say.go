package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// progress writes lines with the time since its start.
type progress struct {
	mu    sync.Mutex
	w     io.Writer
	start time.Time
}

func newProgress(w io.Writer) *progress { return &progress{w: w, start: time.Now()} }

// say writes one line; safe for many goroutines.
func (p *progress) say(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.w, "%6.1fs  %s\n", time.Since(p.start).Seconds(), strings.TrimRight(line, "\n"))
}

func (p *progress) sayf(format string, args ...any) { p.say(fmt.Sprintf(format, args...)) }
