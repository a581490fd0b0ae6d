package main

import (
	"strings"

	"golang.org/x/text/width"
)

// padded cuts or fills text to n columns of a terminal, on which a Korean
// syllable takes two.
func padded(text string, n int) string {
	var b strings.Builder
	used := 0
	for _, r := range text {
		w := columns(r)
		if used+w > n {
			break
		}
		b.WriteRune(r)
		used += w
	}
	return b.String() + strings.Repeat(" ", n-used)
}

func columns(r rune) int {
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}
