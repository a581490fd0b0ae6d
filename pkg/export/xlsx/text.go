package xlsx

import (
	"fmt"
	"unicode/utf8"

	"prejoin/pkg/export"
)

// maxUnits is what a cell holds, in UTF-16 units.
const maxUnits = 32_767

// plainXML are the ASCII bytes that stand as they are in an inline text. The
// underscore may start an escape.
var plainXML = func() (t [256]bool) {
	for c := range 0x80 {
		t[c] = c >= 0x20 || c == '\t' || c == '\n'
	}
	t['&'], t['<'], t['>'], t['_'] = false, false, false, false
	return t
}()

func (e *Encoder) appendText(c *column, row []byte, style string, s []byte) {
	if len(s) > maxUnits && units(s) > maxUnits {
		s = cutText(s)
		e.Lost(c.index, export.LossCut)
	}
	if !e.sheet.headed {
		e.widen(c, textWidth(s))
	}
	e.sheet.xml = appendInline(e.sheet.xml, c.letters, row, style, s)
}

// appendInline appends a cell of inline text. White space at an end, and line
// breaks, would be trimmed by XML readers without xml:space.
func appendInline(x []byte, letters string, row []byte, style string, s []byte) []byte {
	rest := ` t="inlineStr"><is><t>`
	if n := len(s); n > 0 && (s[0] <= ' ' || s[n-1] <= ' ') {
		rest = ` t="inlineStr"><is><t xml:space="preserve">`
	}
	x = appendOpen(x, letters, row, style, rest)
	return append(appendXML(x, s), "</t></is></c>"...)
}

// appendXML escapes valid UTF-8.
func appendXML(dst, s []byte) []byte {
	start := 0
	for i := 0; i < len(s); i++ {
		if plainXML[s[i]] || s[i] >= 0x80 && !noncharacter(s[i:]) {
			continue
		}
		escape, n := xmlEscape(s[i:])
		if escape == "" {
			continue
		}
		dst = append(append(dst, s[start:i]...), escape...)
		i += n - 1
		start = i + 1
	}
	return append(dst, s[start:]...)
}

// noncharacter: U+FFFE and U+FFFF are not XML characters.
func noncharacter(s []byte) bool {
	return s[0] == 0xEF && len(s) > 2 && s[1] == 0xBF && s[2] >= 0xBE
}

// xmlEscape is what stands for the n bytes at the head of s; "" where they stay.
// A carriage return is legal as a reference, and read by every XML reader.
func xmlEscape(s []byte) (escape string, n int) {
	switch s[0] {
	case '&':
		return "&amp;", 1
	case '<':
		return "&lt;", 1
	case '>':
		return "&gt;", 1
	case '\r':
		return "&#13;", 1
	case '_':
		if looksEscaped(s) {
			return "_x005F_", 1
		}
		return "", 1
	}
	r, size := utf8.DecodeRune(s)
	return fmt.Sprintf("_x%04X_", r), size
}

// looksEscaped: _xHHHH_ would be read as one character.
func looksEscaped(s []byte) bool {
	if len(s) < 7 || s[1] != 'x' || s[6] != '_' {
		return false
	}
	for _, b := range s[2:6] {
		if (b < '0' || b > '9') && (b|0x20 < 'a' || b|0x20 > 'f') {
			return false
		}
	}
	return true
}

// units is the length of s in UTF-16.
func units(s []byte) (n int) {
	for _, b := range s {
		switch {
		case b >= 0xF0:
			n += 2
		case b < 0x80 || b >= 0xC0:
			n++
		}
	}
	return n
}

// cutText cuts s to a cell's length with a marker that nobody can overlook.
func cutText(s []byte) []byte {
	marker := fmt.Sprintf(" …[cut here: %d characters; NDJSON and CSV have all]", utf8.RuneCount(s))
	head := cutUnits(string(s), maxUnits-units([]byte(marker)))
	return append([]byte(head), marker...)
}
