package readmodel

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxErrors bounds the answer to a file that is wrong from end to end.
const maxErrors = 50

// position is a place in a file, counted from 1.
type position struct{ line, column int }

// source collects the faults of one file. It knows where each value stands by
// its path ("fields[3].scale"), so that checks across the file can point.
type source struct {
	name string
	errs Errors
	at   map[string]position
}

func (s *source) errorf(at position, format string, args ...any) {
	if len(s.errs) > maxErrors {
		return
	}
	message := oneLine(fmt.Sprintf(format, args...))
	if len(s.errs) == maxErrors {
		message = fmt.Sprintf("more than %d faults; mend those above first", maxErrors)
	}
	s.errs = append(s.errs, Error{File: s.name, Line: at.line, Column: at.column, Message: message})
}

// reported tells whether something is wrong at that very place already.
func (s *source) reported(path string) bool {
	at := s.place(path)
	return slices.ContainsFunc(s.errs, func(e Error) bool { return e.Line == at.line && e.Column == at.column })
}

// fault reports at the value of a path, or at its nearest parent that exists.
func (s *source) fault(path, format string, args ...any) {
	s.errorf(s.place(path), format, args...)
}

func (s *source) place(path string) position {
	for path != "" {
		if at, ok := s.at[path]; ok {
			return at
		}
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
	}
	return s.at[""]
}

// join appends a key to a path.
func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// oneLine bounds a message: names in it come from the file.
func oneLine(message string) string {
	const most = 600
	message = strings.Join(strings.Fields(message), " ")
	if utf8.RuneCountInString(message) > most {
		return string([]rune(message)[:most]) + "…"
	}
	return message
}

// item appends an index to a path.
func item(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }
