package readmodel

import (
	"fmt"
	"slices"
	"strings"
)

// Error is one fault of a model file. Line and Column count from 1; both are 0
// where the fault is the file as a whole.
type Error struct {
	File    string
	Line    int
	Column  int
	Message string // says what is wrong and what to write instead
}

// Error returns "file:line:column: message", which editors can jump to.
func (e Error) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Message
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
}

// Errors are all faults of a file in the order of its lines. Parse, Load and
// LoadAll return it; it is never empty there.
type Errors []Error

// Error returns one fault a line.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i := range e {
		lines[i] = e[i].Error()
	}
	return strings.Join(lines, "\n")
}

func (e Errors) sort() {
	slices.SortStableFunc(e, func(a, b Error) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
}
