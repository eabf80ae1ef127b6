// Package suggest finds the known name that is closest to a misspelt one, for "did
// you mean" messages. Everything that checks names uses it.
package suggest

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// Nearest returns the candidate with the smallest edit distance to name, without
// case, or "" when more than a third of the letters (and more than two) differ.
func Nearest(name string, candidates []string) string {
	best, bestDistance := "", len(name)/3+2
	for _, c := range candidates {
		d := levenshtein.ComputeDistance(strings.ToLower(name), strings.ToLower(c))
		if d < bestDistance || d == bestDistance && best != "" && c < best {
			best, bestDistance = c, d
		}
	}
	return best
}

// Hint returns "did you mean X?" for the nearest candidate, or "".
func Hint(name string, candidates []string) string {
	if n := Nearest(name, candidates); n != "" {
		return "did you mean " + n + "?"
	}
	return ""
}

// Suffix returns the hint in parentheses to append to a message, or "".
func Suffix(name string, candidates []string) string {
	if hint := Hint(name, candidates); hint != "" {
		return " (" + hint + ")"
	}
	return ""
}
