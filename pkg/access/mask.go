package access

import (
	"strings"
	"unicode"
)

// masked hides the most of a personal text that its mask hides.
//
//	tail: 110-***-***123   the first three and last three of nine or more letters and digits;
//	                       of fewer only the last third at most
//	name: 홍*동, 홍*        the first letter, and the last of three or more
//	all:  ***              nothing, not even the length
//
// A mask that is not known hides all.
func masked(mask, s string) string {
	switch {
	case s == "":
		return ""
	case mask == "tail":
		return tail(s)
	case mask == "name":
		return name(s)
	}
	return "***"
}

func tail(s string) string {
	runes := []rune(s)
	total := 0
	for _, r := range runes {
		if signs(r) {
			total++
		}
	}
	head, end := 0, min(3, total/3)
	if total >= 9 {
		head = 3
	}
	seen := 0
	for i, r := range runes {
		if !signs(r) {
			continue
		}
		if seen >= head && seen < total-end {
			runes[i] = '*'
		}
		seen++
	}
	return string(runes)
}

// signs are the runes that are hidden: all but those that only separate.
func signs(r rune) bool { return !unicode.IsSpace(r) && !strings.ContainsRune("-.()/", r) }

func name(s string) string {
	runes := []rune(strings.TrimSpace(s))
	switch len(runes) {
	case 0, 1:
		return "*"
	case 2:
		return string(runes[0]) + "*"
	}
	return string(runes[0]) + strings.Repeat("*", len(runes)-2) + string(runes[len(runes)-1])
}
