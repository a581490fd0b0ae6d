package readmodel

import (
	"errors"
	"strconv"
	"strings"
)

var errOpen = errors.New("a quote, comment or dollar-quoted text is not closed")

// nextToken returns the length of the first token of a text and, where it
// counts, the token. The rules are those of PostgreSQL's scanner (manual 4.1).
func nextToken(s string) (int, sqlToken, error) {
	switch {
	case strings.HasPrefix(s, "--"):
		return lineEnd(s), sqlToken{}, nil
	case strings.HasPrefix(s, "/*"):
		n, err := comment(s)
		return n, sqlToken{}, err
	case s[0] == '\'':
		n, err := quotedEnd(s, '\'', false)
		return n, sqlToken{text: "''"}, err
	case s[0] == '"':
		n, err := quotedEnd(s, '"', false)
		return n, sqlToken{text: `""`}, err
	case (s[0] == 'e' || s[0] == 'E') && strings.HasPrefix(s[1:], "'"):
		n, err := quotedEnd(s[1:], '\'', true)
		return n + 1, sqlToken{text: "''"}, err
	case s[0] == '$':
		return dollar(s)
	case wordByte(s[0]):
		n := wordEnd(s)
		return n, sqlToken{text: strings.ToLower(s[:n]), word: true}, nil
	case strings.IndexByte(" \t\r\n\f\v", s[0]) >= 0:
		return 1, sqlToken{}, nil
	}
	return 1, sqlToken{text: s[:1]}, nil
}

func lineEnd(s string) int {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return i
	}
	return len(s)
}

// comment returns the length of a block comment; they nest.
func comment(s string) (int, error) {
	depth := 0
	for i := 0; i+1 < len(s); i++ {
		switch s[i : i+2] {
		case "/*":
			depth++
			i++
		case "*/":
			depth--
			i++
		}
		if depth == 0 {
			return i + 1, nil
		}
	}
	return 0, errOpen
}

// quotedEnd returns the length of a quoted text; a doubled quote stays inside,
// and in an E'…' string a backslash takes the next character with it.
func quotedEnd(s string, quote byte, backslash bool) (int, error) {
	for i := 1; i < len(s); i++ {
		switch {
		case backslash && s[i] == '\\':
			i++
		case s[i] == quote && i+1 < len(s) && s[i+1] == quote:
			i++
		case s[i] == quote:
			return i + 1, nil
		}
	}
	return 0, errOpen
}

// dollar reads $1 or $tag$text$tag$.
func dollar(s string) (int, sqlToken, error) {
	n := 1
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	if n > 1 {
		v, err := strconv.Atoi(s[1:min(n, 7)])
		return n, sqlToken{text: s[:n], param: v}, err
	}
	for n < len(s) && wordByte(s[n]) && s[n] != '$' {
		n++
	}
	if n == len(s) || s[n] != '$' {
		return 1, sqlToken{text: "$"}, nil
	}
	tag := s[:n+1]
	end := strings.Index(s[len(tag):], tag)
	if end < 0 {
		return 0, sqlToken{}, errOpen
	}
	return end + 2*len(tag), sqlToken{text: "''"}, nil
}

func wordByte(b byte) bool {
	return b == '_' || b >= 0x80 || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

// wordEnd is the length of a word; after its first byte a $ belongs to it.
func wordEnd(s string) int {
	n := 1
	for n < len(s) && (wordByte(s[n]) || s[n] == '$') {
		n++
	}
	return n
}
