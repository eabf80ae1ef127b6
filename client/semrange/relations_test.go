package semrange_test

import (
	"fmt"
	"testing"

	"github.com/Masterminds/semver/v3"
	"pgregory.net/rapid"

	"transect/client/semrange"
)

func parse(t testing.TB, o semrange.Options, text string) semrange.Range {
	t.Helper()
	r, err := o.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestIntersectsAroundPrereleases(t *testing.T) {
	for _, c := range []struct {
		a, b               string
		strict, prerelease bool // without and with IncludePrerelease
	}{
		{"1.3.0-beta", ">=1.0.0", false, true},
		{"1.3.0-beta", ">=1.3.0-alpha <2", true, true},
		{">=1.3.0-alpha <2", "1.3.0-beta", true, true},
		{"<0.0.0", "*", false, true},
		{"<0.0.0-beta", "<0.0.0-gamma", true, true},
		{"<0.0.0-0", "*", false, false},
		{">1.0.0", "<1.0.1", true, true},
		{">=1.0.0 1.2.3", "<=1.2.3", true, true},
		{"1.2.3 1.2.4", "*", false, false},
	} {
		for _, prerelease := range []bool{false, true} {
			want := c.strict
			if prerelease {
				want = c.prerelease
			}
			o := semrange.Options{IncludePrerelease: prerelease}
			if got := parse(t, o, c.a).Intersects(parse(t, o, c.b)); got != want {
				t.Errorf("%s and %s, IncludePrerelease %v: got %v, want %v", c.a, c.b, prerelease, got, want)
			}
		}
	}
	if all := parse(t, semrange.Options{}, "*"); all.Intersects(semrange.Range{}) || (semrange.Range{}).Intersects(all) {
		t.Error("the zero range intersects another")
	}
}

func TestAboveAndBelow(t *testing.T) {
	for _, c := range []struct {
		rng, version string
		above, below bool
	}{
		{">=1.0.0 <=1.0.0", "2.0.0", true, false},
		{">1.0.0 >=2.0.0 <3.0.0", "1.5.0", false, true},
		{"1.x || 3.x", "2.0.0", false, false},
		{"1.x || 3.x", "4.0.0", true, false},
		{"1.x || >=3", "2.0.0", false, false},
		{"*", "1.0.0", false, false},
		{"1.x", "1.5.0-beta", true, true},
	} {
		r, v := parse(t, semrange.Options{}, c.rng), semver.MustParse(c.version)
		if above, below := r.Above(v), r.Below(v); above != c.above || below != c.below {
			t.Errorf("%s of %s: above %v, below %v, want %v, %v", c.version, c.rng, above, below, c.above, c.below)
		}
	}
	if v := semver.MustParse("1.0.0"); (semrange.Range{}).Above(v) || (semrange.Range{}).Below(v) {
		t.Error("a version is outside the zero range")
	}
}

func TestIncrement(t *testing.T) {
	for _, c := range []struct {
		version, release string
		identifier       string
		want             string // "" where it is refused
	}{
		{"v1.2.3+build", "minor", "", "1.3.0"},
		{"1.2.3", "prerelease", "alpha.beta", "1.2.4-alpha.beta.0"},
		{"1.2.3-01a.9007199254740991", "prerelease", "", "1.2.3-01a.9007199254740991.0"},
		{"1.2.3-rc.1", "release", "not a name", "1.2.3"},
		{"1.2.3", "prepatch", "not a name", ""},
		{"1.2.3", "prerelease", "01", ""},
		{"1.2.3", "release", "", ""},
		{"1.2.9007199254740991", "patch", "", ""},
		{"1.2.3-rc.1", "pre", "", ""},
		{"1.2", "major", "", ""},
	} {
		got, err := semrange.Options{}.Increment(c.version, c.release, semrange.Prerelease{Identifier: c.identifier})
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("Increment(%q, %q, %q) = %q, %v, want %q", c.version, c.release, c.identifier, got, err, c.want)
		}
	}
}

// drawVersion draws from few versions, so that bounds and versions coincide.
func drawVersion(t *rapid.T, label string) string {
	n := rapid.IntRange(0, 2)
	pre := rapid.SampledFrom([]string{"", "", "-0", "-alpha", "-alpha.1"}).Draw(t, label+" prerelease")
	return fmt.Sprintf("%d.%d.%d%s", n.Draw(t, label), n.Draw(t, label), n.Draw(t, label), pre)
}

func drawRange(t *rapid.T, o semrange.Options, label string) semrange.Range {
	text := ""
	for i := range rapid.IntRange(1, 3).Draw(t, label+" length") {
		if i > 0 {
			text += rapid.SampledFrom([]string{" ", " || "}).Draw(t, label)
		}
		text += rapid.SampledFrom([]string{"", "<", "<=", ">", ">=", "^", "~"}).Draw(t, label) + drawVersion(t, label)
	}
	r, err := o.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRelationsAgreeWithWhatRangesHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := semrange.Options{IncludePrerelease: rapid.Bool().Draw(t, "prereleases")}
		a, b := drawRange(t, o, "a"), drawRange(t, o, "b")
		v := semver.MustParse(drawVersion(t, "v"))
		held := semver.MustParse(drawVersion(t, "held"))
		if a.Contains(v) && b.Contains(v) && !a.Intersects(b) {
			t.Fatalf("%s and %s both hold %s but do not intersect", a, b, v)
		}
		if a.Intersects(b) != b.Intersects(a) {
			t.Fatalf("%s and %s: the order matters", a, b)
		}
		if a.Contains(v) && (a.Above(v) || a.Below(v)) {
			t.Fatalf("%s is in %s and outside of it", v, a)
		}
		// A prerelease within the bounds counts as outside of them.
		if (v.Prerelease() == "" || o.IncludePrerelease) && a.Contains(held) {
			if a.Above(v) && !v.GreaterThan(held) || a.Below(v) && !v.LessThan(held) {
				t.Fatalf("%s is on the wrong side of %s in %s", v, held, a)
			}
		}
	})
}

func TestIncrementGoesUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		version := drawVersion(t, "version")
		release := rapid.SampledFrom(semrange.Releases).Draw(t, "release")
		next, err := semrange.Options{}.Increment(version, release, semrange.Prerelease{FromOne: rapid.Bool().Draw(t, "from one")})
		if err != nil {
			if release != "release" {
				t.Fatal(err)
			}
			return
		}
		if !semver.MustParse(next).GreaterThan(semver.MustParse(version)) {
			t.Fatalf("%s of %s is %s", release, version, next)
		}
	})
}
