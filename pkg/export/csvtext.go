package export

import "bytes"

// special are the bytes that make a CSV field need quotes. A space at an end does
// not, by RFC 4180, but some readers trim it: quotes keep it.
var special = func() (t [256]bool) {
	t['"'], t[','], t['\r'], t['\n'] = true, true, true, true
	return t
}()

// appendQuoted appends s as one field; an empty text is "", which null is not.
func appendQuoted(dst, s []byte) []byte {
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
