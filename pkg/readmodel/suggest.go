package readmodel

import (
	"fmt"
	"strings"
)

// instead says what to write for an unknown word: the nearest known one, or
// all of them where none is near.
func instead(word string, known []string) string {
	if near := nearest(word, known); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	if len(known) == 0 {
		return "none is defined here"
	}
	return "known here: " + listed(known)
}

// listed joins words and cuts a long list.
func listed(words []string) string {
	const most = 30
	if len(words) > most {
		return strings.Join(words[:most], ", ") + ", …"
	}
	return strings.Join(words, ", ")
}

// nearest returns the known word within two edits (one in words of two or three
// letters), or "".
func nearest(word string, known []string) string {
	best, found := 1+min(2, max(1, len(word)/2)), ""
	for _, k := range known {
		if d := distance(strings.ToLower(word), strings.ToLower(k), best); d < best {
			best, found = d, k
		}
	}
	return found
}

// distance is the Levenshtein distance of two words, or limit where it is not
// less; words whose lengths differ by that much are not compared.
func distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return min(row[len(b)], limit)
}
