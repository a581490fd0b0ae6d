package export

import (
	"encoding/binary"
	"unicode/utf8"
)

// escaped says which bytes of valid UTF-8 may not stand as they are in a JSON
// string. 0xE2 starts U+2028 and U+2029, which the driver escapes too; most
// characters that start with it stay.
var escaped = func() (t [256]bool) {
	for c := range 0x20 {
		t[c] = true
	}
	t['"'], t['\\'], t[0xE2] = true, true, true
	return t
}()

const hexDigits = "0123456789abcdef"

// appendString appends s as a JSON string, escaped as the driver's extended JSON
// escapes it. It returns true where s is not valid UTF-8: each such byte became \ufffd.
func appendString(dst, s []byte) ([]byte, bool) {
	if !utf8.Valid(s) {
		return appendBroken(dst, s), true
	}
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); i++ {
		if !escaped[s[i]] {
			continue
		}
		if s[i] != 0xE2 {
			dst = append(dst, s[start:i]...)
			dst = appendEscape(dst, s[i])
			start = i + 1
		} else if s[i+1] == 0x80 && s[i+2]|1 == 0xA9 { // valid, so two bytes follow
			dst = append(dst, s[start:i]...)
			dst = append(dst, `\u202`...)
			dst = append(dst, hexDigits[s[i+2]&0xF])
			i += 2
			start = i + 1
		}
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"'), false
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xF])
}

// appendBroken writes U+FFFD as its escape where s is not valid, and as itself
// where s holds it.
func appendBroken(dst, s []byte) []byte {
	dst = append(dst, '"')
	for len(s) > 0 {
		r, n := utf8.DecodeRune(s)
		if r == utf8.RuneError && n == 1 {
			dst = append(dst, `\ufffd`...)
		} else {
			quoted, _ := appendString(nil, s[:n])
			dst = append(dst, quoted[1:len(quoted)-1]...)
		}
		s = s[n:]
	}
	return append(dst, '"')
}

// str is the text of a BSON string value.
func (v value) str() []byte { return v.data[4 : len(v.data)-1] }

// int is a BSON int64 or datetime value.
func (v value) int() int64 { return int64(binary.LittleEndian.Uint64(v.data)) }
