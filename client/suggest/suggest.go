// Package suggest finds the name a person probably meant.
package suggest

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// Nearest returns the candidate closest to name, or "" when none is close
// enough to be worth naming: more than a third of the letters (and at least
// two) would have to change.
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

// Aside is Hint in brackets, to stand behind a message: " (did you mean X?)".
func Aside(name string, candidates []string) string {
	if hint := Hint(name, candidates); hint != "" {
		return " (" + hint + ")"
	}
	return ""
}
