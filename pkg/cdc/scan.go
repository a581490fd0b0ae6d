package cdc

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// maxDepth bounds the recursion of skip. Debezium's schemas are five deep.
const maxDepth = 64

// scanner walks JSON text in place. Its error is sticky: after the first one every call returns at once.
type scanner struct {
	b     []byte
	i     int
	depth int
	err   error
}

func (s *scanner) fail(expected string) {
	if s.err == nil {
		s.err = refuse("expected %s at byte %d of %d", expected, s.i, len(s.b))
		s.i = len(s.b)
	}
}

// peek skips white space and returns the next byte, 0 at the end.
func (s *scanner) peek() byte {
	for ; s.i < len(s.b); s.i++ {
		switch c := s.b[s.i]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

func (s *scanner) expect(c byte, what string) bool {
	if s.err != nil || s.peek() != c {
		s.fail(what)
		return false
	}
	s.i++
	return true
}

// open enters an object or an array.
func (s *scanner) open(c byte) {
	if s.depth++; s.depth > maxDepth {
		s.fail("less nesting")
	}
	what := "an object"
	if c == '[' {
		what = "an array"
	}
	s.expect(c, what)
}

// more tells whether another member follows before the closing byte c; it consumes the comma or c.
func (s *scanner) more(c byte, first bool) bool {
	if s.err != nil {
		return false
	}
	switch next := s.peek(); {
	case next == c:
		s.i++
		s.depth--
		return false
	case first:
		return true
	case next == ',':
		s.i++
		return true
	}
	s.fail("a comma or a closing bracket")
	return false
}

// name consumes a member's name and the colon. The result is valid until the text changes.
func (s *scanner) name() []byte {
	raw := s.str()
	s.expect(':', "a colon")
	if s.err != nil {
		return nil
	}
	if bytes.IndexByte(raw, '\\') >= 0 {
		text, err := unquote(raw)
		if err != nil {
			s.fail("a name that is text")
		}
		return []byte(text)
	}
	return raw[1 : len(raw)-1]
}

// str consumes a string and returns it with its quotes, escapes untouched.
func (s *scanner) str() []byte {
	if !s.expect('"', "a string") {
		return nil
	}
	start := s.i - 1
	n := bytes.IndexByte(s.b[s.i:], '"')
	if n >= 0 && bytes.IndexByte(s.b[s.i:s.i+n], '\\') < 0 {
		s.i += n + 1
		return s.b[start:s.i]
	}
	return s.escaped(start)
}

// escaped consumes the rest of a string that may hold escapes, byte by byte: searching for each next quote would be quadratic.
func (s *scanner) escaped(start int) []byte {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case '"':
			s.i++
			return s.b[start:s.i]
		case '\\':
			s.i++
		}
		s.i++
	}
	s.i = len(s.b)
	s.fail("a closing quote")
	return nil
}

// raw consumes any value and returns its bytes.
func (s *scanner) raw() []byte {
	s.peek()
	start := s.i
	s.skip()
	if s.err != nil {
		return nil
	}
	return s.b[start:s.i]
}

// skip consumes any value.
func (s *scanner) skip() {
	if s.err != nil {
		return
	}
	switch c := s.peek(); {
	case c == '"':
		s.str()
	case c == '{':
		s.open('{')
		for first := true; s.more('}', first); first = false {
			s.str()
			s.expect(':', "a colon")
			s.skip()
		}
	case c == '[':
		s.open('[')
		for first := true; s.more(']', first); first = false {
			s.skip()
		}
	case c == '-' || c >= '0' && c <= '9':
		s.number()
	default:
		s.word()
	}
}

func (s *scanner) word() {
	for _, w := range []string{"null", "true", "false"} {
		if bytes.HasPrefix(s.b[s.i:], []byte(w)) {
			s.i += len(w)
			return
		}
	}
	s.fail("a JSON value")
}

func (s *scanner) number() {
	if s.b[s.i] == '-' {
		s.i++
	}
	if lead := s.i; s.digits() > 1 && s.b[lead] == '0' {
		s.fail("a number without a leading zero")
	}
	if s.at('.') {
		s.digits()
	}
	if s.at('e') || s.at('E') {
		if !s.at('+') {
			s.at('-')
		}
		s.digits()
	}
}

// at consumes c if it is the next byte.
func (s *scanner) at(c byte) bool {
	if s.i < len(s.b) && s.b[s.i] == c {
		s.i++
		return true
	}
	return false
}

// digits consumes one digit or more and returns how many.
func (s *scanner) digits() int {
	start := s.i
	for s.i < len(s.b) && s.b[s.i] >= '0' && s.b[s.i] <= '9' {
		s.i++
	}
	n := s.i - start
	if n == 0 {
		s.fail("a digit")
	}
	return n
}

// end reports an error if anything but white space follows.
func (s *scanner) end() error {
	if s.err == nil && s.peek() != 0 {
		s.fail("the end of the message")
	}
	return s.err
}

// unquote returns the text of a JSON string that is given with its quotes.
func unquote(raw []byte) (string, error) {
	if !utf8.Valid(raw) {
		return "", refuse("expected UTF-8 in a string")
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1]), nil
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return "", refuse("expected a JSON string with known escapes")
	}
	return text, nil
}
