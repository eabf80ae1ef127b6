// Package semrange parses version ranges in npm's syntax ("^1.2.0", "1.x || >=2.5.0 <3", "1.0 -
// 2.0"), matches versions against them, and checks whether ranges overlap.
//
// Versions are of github.com/Masterminds/semver/v3. Ranges are parsed here because that library's
// constraints agree with npm on everyday ranges, but not on empty alternatives, prerelease bounds
// or build metadata after wildcards, and it compares no ranges. Unlike in npm, white space after a
// "v" inside a range ("v 1.2.3") is refused.
//
// Begin at Range; version.go has the grammar of a version, parse.go the grammar of a range,
// the package release computes next versions.
package semrange

import (
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// Range is a set of versions. The zero value is empty.
type Range struct {
	sets [][]comparator // alternatives; within one, all must match
}

// comparator is one bound.
type comparator struct {
	op      string // "", "<", "<=", ">" or ">="; "" means equal
	version *semver.Version
}

// nothing is npm's bound that no version meets.
const nothing = "<0.0.0-0"

func (c comparator) String() string { return c.op + c.version.String() }

// order returns the side of c on which v is: -1 when v is too low, 1 when it is too high, and 0
// when it satisfies c.
func (c comparator) order(v *semver.Version) int {
	order := v.Compare(c.version)
	switch c.op {
	case "<":
		return min(order+1, 1) // equal counts as too high
	case "<=":
		return max(order, 0)
	case ">":
		return max(order-1, -1)
	case ">=":
		return min(order, 0)
	}
	return order
}

func (c comparator) isLower() bool { return strings.HasPrefix(c.op, ">") }

func (c comparator) isUpper() bool { return strings.HasPrefix(c.op, "<") }

// Contains reports whether the range holds v.
func (r Range) Contains(v *semver.Version) bool {
	return slices.ContainsFunc(r.sets, func(set []comparator) bool { return holds(set, v) })
}

// holds reports whether v satisfies the complete set. A prerelease must be named by a comparator
// with the same version numbers.
func holds(set []comparator, v *semver.Version) bool {
	return !slices.ContainsFunc(set, func(c comparator) bool { return c.order(v) != 0 }) &&
		(v.Prerelease() == "" || namesPrerelease(set, v))
}

// namesPrerelease reports whether a comparator opts in to prereleases of v's major.minor.patch:
// users of >1.2.3-alpha.3 expect 1.2.3-beta, but hardly 3.0.0-alpha.
func namesPrerelease(set []comparator, v *semver.Version) bool {
	return slices.ContainsFunc(set, func(c comparator) bool {
		return c.version.Prerelease() != "" &&
			c.version.Major() == v.Major() && c.version.Minor() == v.Minor() && c.version.Patch() == v.Patch()
	})
}

// Highest returns the highest of versions in the range, unchanged, and false when there is none. It
// ignores invalid versions.
func (r Range) Highest(versions []string) (string, bool) {
	var best *semver.Version
	text := ""
	for _, candidate := range versions {
		v, err := ParseVersion(candidate)
		if err == nil && r.Contains(v) && (best == nil || v.GreaterThan(best)) {
			best, text = v, candidate
		}
	}
	return text, best != nil
}

// Highest returns the highest of versions in rng, unchanged; false when there is none or rng is
// invalid (see Parse).
func Highest(versions []string, rng string) (string, bool) {
	r, err := Parse(rng)
	if err != nil {
		return "", false
	}
	return r.Highest(versions)
}

// String formats the range as plain comparators, e.g. ">=1.2.0 <2.0.0-0||>=3.0.0", and "*" for all versions.
func (r Range) String() string {
	alternatives := make([]string, len(r.sets))
	for i, set := range r.sets {
		texts := make([]string, len(set))
		for j, c := range set {
			texts[j] = c.String()
		}
		alternatives[i] = strings.Join(texts, " ")
	}
	text := strings.Join(alternatives, "||")
	if text == lowest().String() {
		return "*"
	}
	return text
}

// Intersects reports whether the ranges overlap. As in npm only the bounds count: ">1.0.0" and
// "<1.0.1" overlap, though there is no release between them.
func (r Range) Intersects(other Range) bool {
	return slices.ContainsFunc(r.sets, func(a []comparator) bool {
		return slices.ContainsFunc(other.sets, func(b []comparator) bool { return overlap(a, b) })
	})
}

// overlap reports whether two alternatives overlap.
func overlap(a, b []comparator) bool {
	bounds := slices.Concat(a, b, []comparator{floor(a), floor(b)})
	for _, c := range bounds {
		if c.op == "" {
			// Only the exact version can be common, and for a prerelease the bounds do not suffice
			// to tell whether a range includes it.
			return holds(a, c.version) && holds(b, c.version)
		}
	}
	// Intervals have a common point when each two of them do.
	for _, low := range bounds {
		for _, high := range bounds {
			if !low.isLower() || !high.isUpper() {
				continue
			}
			if order := low.version.Compare(high.version); order > 0 || order == 0 && low.op+high.op != ">=<=" {
				return false
			}
		}
	}
	return true
}

// lowest returns the bound that every version except prereleases of 0.0.0 meets.
func lowest() comparator { return comparator{">=", semver.New(0, 0, 0, "", "")} }

// floor returns the implicit bound of an alternative: 0.0.0, or its first prerelease if the
// alternative names one.
func floor(set []comparator) comparator {
	if low := lowest(); !namesPrerelease(set, low.version) {
		return low
	}
	return comparator{">=", semver.New(0, 0, 0, firstPrerelease, "")}
}
