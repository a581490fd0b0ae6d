package export

import (
	"bytes"
	"unicode/utf8"
)

// special are the bytes that make a CSV field need quotes. A space at an end does
// not, by RFC 4180, but some readers trim it: quote keeps it.
var special = func() (t [256]bool) {
	t['"'], t[','], t['\r'], t['\n'] = true, true, true, true
	return t
}()

// text appends text of the data: valid UTF-8, guarded where that was asked for.
func (c *CSV) text(dst []byte, f *field, s []byte) []byte {
	if !utf8.Valid(s) {
		c.losses.add(f, LossUTF8)
		s = bytes.ToValidUTF8(s, []byte("\uFFFD"))
	}
	if c.cfg.Guard && len(s) > 0 && bytes.IndexByte([]byte("=+-@\t\r'"), s[0]) >= 0 {
		c.losses.add(f, LossGuard)
		s = append([]byte{'\''}, s...)
	}
	return c.quote(dst, s)
}

// quote appends s as one field; an empty text is "", which null is not.
func (c *CSV) quote(dst, s []byte) []byte {
	if !needsQuotes(s) {
		return append(dst, s...)
	}
	dst = append(dst, '"')
	for {
		i := bytes.IndexByte(s, '"')
		if i < 0 {
			break
		}
		dst = append(append(dst, s[:i]...), '"', '"')
		s = s[i+1:]
	}
	return append(append(dst, s...), '"')
}

func needsQuotes(s []byte) bool {
	if len(s) == 0 || s[0] == ' ' || s[len(s)-1] == ' ' {
		return true
	}
	for _, b := range s {
		if special[b] {
			return true
		}
	}
	return false
}
