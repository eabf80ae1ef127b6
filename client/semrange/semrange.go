// Package semrange reads version ranges as npm writes them ("^1.2.0",
// "1.x || >=2.5.0 <3", "1.0 - 2.0"), tells which versions they hold and which
// ranges overlap, and makes the next version of a release.
//
// Versions are those of github.com/Masterminds/semver/v3. Ranges are read
// here: that library's constraints agree with npm on everyday ranges, but not
// on empty alternatives, prerelease bounds or build metadata after wildcards.
// White space after a "v" inside a range ("v 1.2.3") is refused, other than by npm.
//
// Begin at Range; version.go has the grammar of a version, parse.go that of a
// range, increment.go the next versions.
package semrange

import (
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// Range is a set of versions. The zero value holds none.
type Range struct {
	sets [][]comparator // alternatives; within one, all must hold
}

// comparator is one bound.
type comparator struct {
	op      string // "", "<", "<=", ">" or ">="; "" is equality
	version *semver.Version
}

// nothing is the bound that no version meets, as npm writes it.
const nothing = "<0.0.0-0"

func (c comparator) String() string { return c.op + c.version.String() }

// order tells on which side of c v lies when c does not hold it: -1 when v is
// too low, 1 when it is too high, and 0 when c holds it.
func (c comparator) order(v *semver.Version) int {
	order := v.Compare(c.version)
	switch c.op {
	case "<":
		return min(order+1, 1) // equal is too high
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

// holds reports whether all of set hold v. A set holds a prerelease only when it names
// one of the same version.
func holds(set []comparator, v *semver.Version) bool {
	return !slices.ContainsFunc(set, func(c comparator) bool { return c.order(v) != 0 }) &&
		(v.Prerelease() == "" || namesPrerelease(set, v))
}

// namesPrerelease reports whether a comparator opts in to prereleases of v's
// major.minor.patch: who writes >1.2.3-alpha.3 expects 1.2.3-beta, but hardly
// 3.0.0-alpha.
func namesPrerelease(set []comparator, v *semver.Version) bool {
	return slices.ContainsFunc(set, func(c comparator) bool {
		return c.version.Prerelease() != "" &&
			c.version.Major() == v.Major() && c.version.Minor() == v.Minor() && c.version.Patch() == v.Patch()
	})
}

// Highest returns the greatest of versions the range holds, as it was
// written, and false when there is none. Texts that are no versions are passed
// over.
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

// Highest returns the greatest of versions that rng holds, as it was written;
// false when there is none or rng is not a range (see Parse).
func Highest(versions []string, rng string) (string, bool) {
	r, err := Parse(rng)
	if err != nil {
		return "", false
	}
	return r.Highest(versions)
}

// String writes the range as plain comparators, such as
// ">=1.2.0 <2.0.0-0||>=3.0.0", and "*" for all versions.
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

// Intersects reports whether the ranges overlap. As in npm the bounds decide: ">1.0.0" and "<1.0.1" overlap, though no
// release
// lies between them.
func (r Range) Intersects(other Range) bool {
	return slices.ContainsFunc(r.sets, func(a []comparator) bool {
		return slices.ContainsFunc(other.sets, func(b []comparator) bool { return overlap(a, b) })
	})
}

// overlap reports whether two alternatives have something in common.
func overlap(a, b []comparator) bool {
	bounds := slices.Concat(a, b, []comparator{floor(a), floor(b)})
	for _, c := range bounds {
		if c.op == "" {
			// An exact version is all that can be common, and whether a range
			// holds it depends on more than bounds when it is a prerelease.
			return holds(a, c.version) && holds(b, c.version)
		}
	}
	// Intervals have a point in common when each two of them have.
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

// lowest is the bound that every version meets but prereleases of 0.0.0.
func lowest() comparator { return comparator{">=", semver.New(0, 0, 0, "", "")} }

// floor is the bound that every alternative has: no version is lower than
// 0.0.0, or than its first prerelease where the alternative names one.
func floor(set []comparator) comparator {
	if low := lowest(); !namesPrerelease(set, low.version) {
		return low
	}
	return comparator{">=", semver.New(0, 0, 0, firstPrerelease, "")}
}
