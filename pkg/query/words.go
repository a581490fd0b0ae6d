package query

import "strings"

// nearest is the candidate with the smallest edit distance to name, or "" where
// none is close enough to be what the caller meant.
func nearest(name string, candidates []string) string {
	best, bestDistance := "", max(2, len(name)/3)+1
	if len(name) > 64 {
		return ""
	}
	for _, c := range candidates {
		if d := distance(strings.ToLower(name), strings.ToLower(c)); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// distance is Levenshtein's, over bytes.
func distance(a, b string) int {
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
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}

// didYouMean is a sentence's end that names the nearest candidate.
func didYouMean(name string, candidates []string) string {
	if n := nearest(name, candidates); n != "" {
		return "; did you mean " + n + "?"
	}
	return "; known are " + joinAnd(candidates) + "."
}

func joinAnd(words []string) string { return join(words, " and ") }
func joinOr(words []string) string  { return join(words, " or ") }

func join(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + last + words[len(words)-1]
}

// short keeps what a message repeats of a client's text to one readable line.
func short(s string) string {
	s = strings.ToValidUTF8(s, "?")
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}
