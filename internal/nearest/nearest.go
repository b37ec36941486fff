// Package nearest finds the word that a mistyped one was meant to be.
package nearest

import "strings"

// Word is the word that a mistyped one was probably meant to be, "" where
// none is near. Near is at most two changed, missing or superfluous letters, and no
// more than half of the word's own; or else the beginning of exactly one word.
func Word(typed string, words []string) string {
	near, best := "", 3
	begins, several := "", false
	for _, w := range words {
		if d := distance(typed, w); d < best && 2*d <= len(w) {
			near, best = w, d
		}
		if len(typed) > 1 && strings.HasPrefix(w, typed) {
			begins, several = w, begins != ""
		}
	}
	if near == "" && !several {
		return begins
	}
	return near
}

// distance is Levenshtein's. A typed word far longer than any flag is not worth
// a table of its size.
func distance(a, b string) int {
	if len(a) > 32 {
		return len(a)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
