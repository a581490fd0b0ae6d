package bench

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Bench is one comparison. Its first variant is the one the others are
// compared with.
type Bench struct {
	Name  string // what the command line calls it: lower case, with hyphens
	About string // one sentence for people
	// Setup makes what the variants need. It is not timed.
	Setup func(context.Context) (*Fixture, error)
}

// Fixture is a bench that is set up.
type Fixture struct {
	Variants []Variant    // two or more
	Close    func() error // frees what Setup made; may be nil
}

// Variant is one way to do the work.
type Variant struct {
	Name string
	// Check does the work once, untimed, and returns a digest of its result.
	// All variants of a bench must return the same.
	Check func(context.Context) (string, error)
	// Prepare makes the next Run possible, untimed; may be nil.
	Prepare func(context.Context) error
	// Run does the work once and says how much it was.
	Run func(context.Context) (Work, error)
}

// Work is how much one run did.
type Work struct {
	Rows  int64 // rows, documents or updates
	Bytes int64 // bytes that left; 0 where bytes are not the point
}

// ErrParity is returned by Run when two variants do not yield the same result.
var ErrParity = errors.New("the variants do not do the same work")

// Select returns the benches of these names, or all when there are none.
func Select(all []Bench, names []string) ([]Bench, error) {
	if len(names) == 0 {
		return all, nil
	}
	chosen := make([]Bench, 0, len(names))
	for _, name := range names {
		b, ok := find(all, name)
		if !ok {
			return nil, fmt.Errorf("there is no bench %q: choose from %s", name, strings.Join(namesOf(all), ", "))
		}
		chosen = append(chosen, b)
	}
	return chosen, nil
}

func find(all []Bench, name string) (Bench, bool) {
	for _, b := range all {
		if b.Name == name {
			return b, true
		}
	}
	return Bench{}, false
}

func namesOf(all []Bench) []string {
	names := make([]string, len(all))
	for i, b := range all {
		names[i] = b.Name
	}
	return names
}
