// Package semrange reads version ranges as npm writes them ("^1.2.0",
// "1.x || >=2.5.0 <3", "1.0 - 2.0"), tells which versions they hold and which
// ranges overlap, and makes the next version of a release.
//
// Versions are those of github.com/Masterminds/semver/v3. Ranges are read
// here: that library's constraints agree with npm on everyday ranges, but not
// on empty alternatives, prerelease bounds, build metadata after wildcards or
// the two options below. Two oddities of npm are not followed: white space
// after a "v" inside a range ("v 1.2.3"), and the way Loose tells meaningless
// operators such as "<<" or ">=~" from the versions beside them.
//
// Begin at Range; version.go has the grammar of a version, parse.go that of a
// range, increment.go the next versions.
package semrange

import (
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// Options changes how versions and ranges are read. The zero value is what
// npm does by default.
type Options struct {
	// Loose accepts leading zeros, "=" and "v" before a version, a prerelease
	// without its hyphen ("1.2.3beta"), and ignores comparators that mean
	// nothing.
	Loose bool
	// IncludePrerelease treats prereleases as ordinary versions. Otherwise a
	// range holds a prerelease only when one of its comparators names a
	// prerelease of the same major.minor.patch.
	IncludePrerelease bool
}

// Range is a set of versions. The zero value holds none.
type Range struct {
	sets    [][]comparator // alternatives; within one, all must hold
	options Options
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
	return slices.ContainsFunc(r.sets, func(set []comparator) bool { return r.options.holds(set, v) })
}

// holds reports whether all of set hold v.
func (o Options) holds(set []comparator, v *semver.Version) bool {
	return !slices.ContainsFunc(set, func(c comparator) bool { return c.order(v) != 0 }) &&
		(v.Prerelease() == "" || o.IncludePrerelease || namesPrerelease(set, v))
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
		v, err := r.options.ParseVersion(candidate)
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
	if text == r.options.lowest().String() {
		return "*"
	}
	return text
}

// Intersects reports whether the ranges overlap, each read with its own options.
// As in npm the bounds decide: ">1.0.0" and "<1.0.1" overlap, though no release
// lies between them.
func (r Range) Intersects(other Range) bool {
	return slices.ContainsFunc(r.sets, func(a []comparator) bool {
		return slices.ContainsFunc(other.sets, func(b []comparator) bool { return overlap(a, b, r.options, other.options) })
	})
}

// overlap reports whether two alternatives have something in common.
func overlap(a, b []comparator, optionsA, optionsB Options) bool {
	bounds := slices.Concat(a, b, []comparator{optionsA.floor(a), optionsB.floor(b)})
	for _, c := range bounds {
		if c.op == "" {
			// An exact version is all that can be common, and whether a range
			// holds it depends on more than bounds when it is a prerelease.
			return optionsA.holds(a, c.version) && optionsB.holds(b, c.version)
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

// lowest is the bound that every version meets, as far as ranges hold
// prereleases without naming them.
func (o Options) lowest() comparator {
	pre := ""
	if o.IncludePrerelease {
		pre = firstPrerelease
	}
	return comparator{">=", semver.New(0, 0, 0, pre, "")}
}

// floor is the bound that every alternative has: no version is lower than
// 0.0.0, or than its first prerelease where the alternative holds prereleases.
func (o Options) floor(set []comparator) comparator {
	o.IncludePrerelease = o.IncludePrerelease || namesPrerelease(set, o.lowest().version)
	return o.lowest()
}

// Above reports whether v is higher than everything the range holds (npm's gtr).
// A range without an upper bound has nothing above it.
//
// A prerelease between the bounds that the range does not hold (see
// Options.IncludePrerelease) is both above and below it, as in npm. Unlike
// npm, which looks at the outermost comparators of an alternative, all of them
// count: 2.0.0 is above ">=1.0.0 <=1.0.0".
func (r Range) Above(v *semver.Version) bool { return r.beyond(v, 1, comparator.isLower) }

// Below reports whether v is lower than everything the range holds (npm's ltr).
// A range such as "<2.0.0", without a lower bound, has nothing below it; see
// Above for prereleases.
func (r Range) Below(v *semver.Version) bool { return r.beyond(v, -1, comparator.isUpper) }

// beyond reports whether v is on one side (see order) of all alternatives. Bounds
// that are open on that side do not end them there.
func (r Range) beyond(v *semver.Version, side int, open func(comparator) bool) bool {
	return len(r.sets) > 0 && !r.Contains(v) && !slices.ContainsFunc(r.sets, func(set []comparator) bool {
		ends := slices.ContainsFunc(set, func(c comparator) bool { return !open(c) })
		return !ends || slices.ContainsFunc(set, func(c comparator) bool { return c.order(v) == -side })
	})
}
