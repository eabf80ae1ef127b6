// Package suggest finds the known name that is closest to a misspelt one, for "did
// you mean" messages. Everything that checks names uses it.
package suggest

import (
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// longest is how long a misspelt name may be, in bytes; comparing longer ones
// would take long.
const longest = 200

// Nearest returns the candidate with the smallest edit distance to name, without
// case, or "" when more than a third of the letters (and more than two) differ.
func Nearest(name string, candidates []string) string {
	if len(name) > longest {
		return ""
	}
	best, bestDistance := "", len(name)/3+2
	for _, c := range candidates {
		d := levenshtein.ComputeDistance(strings.ToLower(name), strings.ToLower(c))
		if d < bestDistance || d == bestDistance && best != "" && closer(name, c, best) {
			best, bestDistance = c, d
		}
	}
	return best
}

// Misspelt returns the candidate of which name is most likely a misspelling: one
// letter is missing, added, another or transposed; in long names two. It
// is "" when name may well be another word. For warnings, which must not be wrong.
func Misspelt(name string, candidates []string) string {
	if len(name) < 3 || len(name) > longest {
		return ""
	}
	for _, c := range candidates {
		d := levenshtein.ComputeDistance(name, c)
		if d == 0 {
			return ""
		}
		if len(c) >= 3 && (d == 1 || d == 2 && (len(c) >= 8 || sameLetters(name, c))) {
			return c
		}
	}
	return ""
}

func sameLetters(a, b string) bool {
	x, y := []byte(a), []byte(b)
	slices.Sort(x)
	slices.Sort(y)
	return string(x) == string(y)
}

// closer decides between candidates of one distance: the one as long as the
// name, whose letters were swapped, then the first by name.
func closer(name, c, best string) bool {
	if same := len(c) == len(name); same != (len(best) == len(name)) {
		return same
	}
	return c < best
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
