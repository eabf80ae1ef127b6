// Package suggest finds the known name closest to a misspelt one, for "did you mean" messages.
// Everything that checks names uses it.
package suggest

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// longest is the longest misspelt name, in bytes, to find candidates for; comparing longer ones
// would be slow.
const longest = 200

// Nearest returns the candidate with the smallest edit distance to name, ignoring case, if at most
// a third of the letters differ or two are transposed; else the shortest that begins with name;
// else "".
func Nearest(name string, candidates []string) string {
	if len(name) > longest {
		return ""
	}
	name = strings.ToLower(name)
	best, bestDistance, longer := "", len(name)+1, ""
	for _, c := range candidates {
		candidate := strings.ToLower(c)
		d := levenshtein.ComputeDistance(name, candidate)
		near := d <= max(1, len(name)/3) && d < len(name) || d == 2 && sameLetters(name, candidate)
		switch {
		case near && (d < bestDistance || d == bestDistance && closer(name, c, best)):
			best, bestDistance = c, d
		case len(name) >= 3 && strings.HasPrefix(candidate, name) && (longer == "" || len(c) < len(longer)):
			longer = c
		}
	}
	return cmp.Or(best, longer)
}

// Misspelt returns the candidate that name most likely misspells, with one letter missing, added, changed or
// transposed, or two in long names; "" when name may be another word. It is for warnings, which must not be wrong.
func Misspelt(name string, candidates []string) string {
	if len(name) < 3 || len(name) > longest || slices.Contains(candidates, name) {
		return ""
	}
	for _, c := range candidates {
		d := levenshtein.ComputeDistance(name, c)
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

// closer reports whether c is a better candidate than best at equal distance: it is a prefix of
// name or starts with it, has the same length (letters were swapped), or sorts first.
func closer(name, c, best string) bool {
	begins := func(c string) bool { return strings.HasPrefix(c, name) || strings.HasPrefix(name, c) }
	if first := begins(c); first != begins(best) {
		return first
	}
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
