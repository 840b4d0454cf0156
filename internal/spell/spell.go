// Package spell tells how far apart two words are, for hints at a misspelt name.
package spell

import "strings"

// Nearest is the name that word most probably stands for, whatever its case, or "" where
// none is near: at most two letters or a third of the word may differ, and not all of it.
func Nearest(word string, names []string) (best string) {
	least := 1 + max(2, len(word)/3)
	for _, name := range names {
		if d := Distance(strings.ToLower(word), strings.ToLower(name)); d < least && d < max(len(name), 2) {
			best, least = name, d
		}
	}
	return best
}

// Distance is the Levenshtein distance of two words: how many bytes to insert, delete
// or replace.
func Distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			substitution := diagonal
			if a[i] != b[j] {
				substitution++
			}
			diagonal = row[j+1]
			row[j+1] = min(substitution, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
