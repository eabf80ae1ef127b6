package semrange

import (
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// Range is a set of versions. The zero value holds none.
type Range struct {
	sets    [][]comparator // alternatives; within one, all must hold
	options Options
}

// comparator is one bound; without a version it holds everything.
type comparator struct {
	op      string // "", "<", "<=", ">" or ">="; "" is equality
	version *semver.Version
}

// nothing is the bound that no version meets, as npm writes it.
const nothing = "<0.0.0-0"

// String writes the comparator as npm does: "" holds everything.
func (c comparator) String() string {
	if c.version == nil {
		return ""
	}
	return c.op + c.version.String()
}

func (c comparator) holds(v *semver.Version) bool {
	if c.version == nil {
		return true
	}
	order := v.Compare(c.version)
	switch c.op {
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	case ">=":
		return order >= 0
	}
	return order == 0
}

// Parse reads a range with the default options. An empty text is the range of
// all versions.
func Parse(text string) (Range, error) { return Options{}.Parse(text) }

// Parse reads a range.
func (o Options) Parse(text string) (Range, error) {
	r := Range{options: o}
	for alternative := range strings.SplitSeq(text, "||") {
		set, err := o.parseSet(alternative)
		if err != nil {
			return Range{}, fmt.Errorf("%q is not a version range: %w", text, err)
		}
		if len(set) > 0 {
			r.sets = append(r.sets, set)
		}
	}
	if len(r.sets) == 0 {
		return Range{}, fmt.Errorf("%q is not a version range: write one such as ^1.2.0, 1.x or >=1.2 <3", text)
	}
	r.simplify()
	return r, nil
}

// simplify drops alternatives that add nothing.
func (r *Range) simplify() {
	first := r.sets[0]
	r.sets = slices.DeleteFunc(r.sets, func(set []comparator) bool { return set[0].String() == nothing })
	if len(r.sets) == 0 {
		r.sets = [][]comparator{first}
		return
	}
	for _, set := range r.sets {
		if len(set) == 1 && set[0].version == nil {
			r.sets = [][]comparator{set}
			return
		}
	}
}

// Matches tells whether the range holds version; false when version is none.
func (r Range) Matches(version string) bool {
	v, err := r.options.ParseVersion(version)
	return err == nil && r.Contains(v)
}

// Contains tells whether the range holds v.
func (r Range) Contains(v *semver.Version) bool {
	return slices.ContainsFunc(r.sets, func(set []comparator) bool { return r.options.holds(set, v) })
}

// holds tells whether all of set hold v.
func (o Options) holds(set []comparator, v *semver.Version) bool {
	return !slices.ContainsFunc(set, func(c comparator) bool { return !c.holds(v) }) &&
		(v.Prerelease() == "" || o.IncludePrerelease || namesPrerelease(set, v))
}

// namesPrerelease tells whether a comparator opts in to prereleases of v's
// major.minor.patch: who writes >1.2.3-alpha.3 expects 1.2.3-beta, but hardly
// 3.0.0-alpha.
func namesPrerelease(set []comparator, v *semver.Version) bool {
	return slices.ContainsFunc(set, func(c comparator) bool {
		return c.version != nil && c.version.Prerelease() != "" &&
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
	if text == "" && len(r.sets) > 0 {
		return "*"
	}
	return text
}
