package semrange

import (
	"slices"

	"github.com/Masterminds/semver/v3"
)

// Intersects tells whether the ranges overlap, each read with its own options.
// As in npm the bounds decide: ">1.0.0" and "<1.0.1" overlap, though no release
// lies between them.
func (r Range) Intersects(other Range) bool {
	for _, a := range r.sets {
		for _, b := range other.sets {
			if overlap(a, b, r.options, other.options) {
				return true
			}
		}
	}
	return false
}

// overlap tells whether two alternatives have something in common.
func overlap(a, b []comparator, optionsA, optionsB Options) bool {
	for _, c := range slices.Concat(a, b) {
		if c.op == "" && c.version != nil {
			// An exact version is all that can be common, and whether a range
			// holds it depends on more than bounds when it is a prerelease.
			return optionsA.holds(a, c.version) && optionsB.holds(b, c.version)
		}
	}
	bounds := slices.Concat(a, b, []comparator{optionsA.floor(a), optionsB.floor(b)})
	// Intervals have a point in common when each two of them have.
	for _, low := range bounds {
		for _, high := range bounds {
			if low.isLower() && high.isUpper() && !low.meets(high) {
				return false
			}
		}
	}
	return true
}

// floor is the bound that every alternative has: no version is lower than
// 0.0.0, or than its first prerelease where the alternative holds prereleases.
func (o Options) floor(set []comparator) comparator {
	zero := semver.New(0, 0, 0, "", "")
	if o.IncludePrerelease || namesPrerelease(set, zero) {
		zero = semver.New(0, 0, 0, lowest, "")
	}
	return comparator{">=", zero}
}

// meets tells whether there is room between c, a lower bound, and high.
func (c comparator) meets(high comparator) bool {
	order := c.version.Compare(high.version)
	return order < 0 || order == 0 && c.op == ">=" && high.op == "<="
}

func (c comparator) isLower() bool { return c.op == ">" || c.op == ">=" }

func (c comparator) isUpper() bool { return c.op == "<" || c.op == "<=" }
