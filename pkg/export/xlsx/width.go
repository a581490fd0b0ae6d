package xlsx

import "unicode/utf8"

// maxWidth is the widest that a column starts with, in characters.
const maxWidth = 50

// widen makes the column at least n characters wide; only the first lines count.
func (e *Encoder) widen(c *column, n int) {
	if s := &e.sheet; !s.headed && n+3 > s.widths[c.index] {
		s.widths[c.index] = min(n+3, maxWidth)
	}
}

// textWidth counts characters of the longest line, East Asian and wider ones twice.
func textWidth(s []byte) (widest int) {
	n := 0
	for len(s) > 0 {
		r, size := utf8.DecodeRune(s)
		s = s[size:]
		switch {
		case r == '\n':
			n = 0
		case wide(r):
			n += 2
		case r >= 0x20:
			n++
		}
		widest = max(widest, n)
	}
	return widest
}

// wide: Hangul, kana, ideographs, full-width forms, emoji.
func wide(r rune) bool {
	return r >= 0x1100 && (r <= 0x115F || r >= 0x2E80 && r <= 0xA4CF || r >= 0xAC00 && r <= 0xD7A3 ||
		r >= 0xF900 && r <= 0xFAFF || r >= 0xFE30 && r <= 0xFE6F || r >= 0xFF00 && r <= 0xFF60 ||
		r >= 0xFFE0 && r <= 0xFFE6 || r >= 0x1F300 && r <= 0x1FAFF || r >= 0x20000 && r <= 0x3FFFD)
}
