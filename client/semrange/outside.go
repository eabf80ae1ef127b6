package semrange

import (
	"slices"

	"github.com/Masterminds/semver/v3"
)

// Above tells whether v is higher than everything the range holds (npm's gtr).
// A range without an upper bound has nothing above it.
//
// A prerelease between the bounds that the range does not hold (see
// Options.IncludePrerelease) is both above and below it, as in npm. Unlike
// npm, which looks at the outermost comparators of an alternative, all of them
// count: 2.0.0 is above ">=1.0.0 <=1.0.0".
func (r Range) Above(v *semver.Version) bool {
	return len(r.sets) > 0 && !r.Contains(v) && !slices.ContainsFunc(r.sets, func(set []comparator) bool {
		return !slices.ContainsFunc(set, comparator.endsAbove) ||
			slices.ContainsFunc(set, func(c comparator) bool { return !c.isUpper() && c.order(v) < 0 })
	})
}

// Below tells whether v is lower than everything the range holds (npm's ltr).
// A range such as "<2.0.0", without a lower bound, has nothing below it; see
// Above for prereleases.
func (r Range) Below(v *semver.Version) bool {
	return len(r.sets) > 0 && !r.Contains(v) && !slices.ContainsFunc(r.sets, func(set []comparator) bool {
		return !slices.ContainsFunc(set, comparator.endsBelow) ||
			slices.ContainsFunc(set, func(c comparator) bool { return !c.isLower() && c.order(v) > 0 })
	})
}

// endsAbove tells whether there are versions that are too high for c.
func (c comparator) endsAbove() bool { return c.version != nil && !c.isLower() }

// endsBelow tells whether there are versions that are too low for c. To npm
// everything is >=0.0.0, which is a lower bound.
func (c comparator) endsBelow() bool { return !c.isUpper() }

// order tells on which side of c v lies when c does not hold it: -1 when v is
// too low, 1 when it is too high, and 0 when c holds it.
func (c comparator) order(v *semver.Version) int {
	switch {
	case c.holds(v):
		return 0
	case c.isLower():
		return -1
	case c.isUpper():
		return 1
	}
	return v.Compare(c.version)
}
