package semrange_test

import (
	"fmt"
	"testing"

	"github.com/Masterminds/semver/v3"
	"pgregory.net/rapid"

	"transect/client/semrange"
	"transect/client/semrange/release"
)

func parse(t testing.TB, text string) semrange.Range {
	t.Helper()
	r, err := semrange.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestIntersectsAroundPrereleases(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"1.3.0-beta", ">=1.0.0", false},
		{"1.3.0-beta", ">=1.3.0-alpha <2", true},
		{">=1.3.0-alpha <2", "1.3.0-beta", true},
		{"<0.0.0", "*", false},
		{"<0.0.0-beta", "<0.0.0-gamma", true},
		{"<0.0.0-0", "*", false},
		{">1.0.0", "<1.0.1", true},
		{">=1.0.0 1.2.3", "<=1.2.3", true},
		{"1.2.3 1.2.4", "*", false},
	} {
		if got := parse(t, c.a).Intersects(parse(t, c.b)); got != c.want {
			t.Errorf("%s and %s: got %v, want %v", c.a, c.b, got, c.want)
		}
	}
	if all := parse(t, "*"); all.Intersects(semrange.Range{}) || (semrange.Range{}).Intersects(all) {
		t.Error("the zero range intersects another")
	}
}

func TestIncrement(t *testing.T) {
	for _, c := range []struct {
		version, release string
		identifier       string
		want             string // "" if refused
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
		got, err := release.Next(c.version, c.release, c.identifier)
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

func drawRange(t *rapid.T, label string) semrange.Range {
	text := ""
	for i := range rapid.IntRange(1, 3).Draw(t, label+" length") {
		if i > 0 {
			text += rapid.SampledFrom([]string{" ", " || "}).Draw(t, label)
		}
		text += rapid.SampledFrom([]string{"", "<", "<=", ">", ">=", "^", "~"}).Draw(t, label) + drawVersion(t, label)
	}
	r, err := semrange.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRelationsAgreeWithWhatRangesHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawRange(t, "a"), drawRange(t, "b")
		v := semver.MustParse(drawVersion(t, "v"))
		if a.Contains(v) && b.Contains(v) && !a.Intersects(b) {
			t.Fatalf("%s and %s both hold %s but do not intersect", a, b, v)
		}
		if a.Intersects(b) != b.Intersects(a) {
			t.Fatalf("%s and %s: the order matters", a, b)
		}
	})
}

func TestIncrementGoesUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		version := drawVersion(t, "version")
		kind := rapid.SampledFrom(release.Kinds).Draw(t, "release")
		next, err := release.Next(version, kind, "")
		if err != nil {
			if kind != "release" {
				t.Fatal(err)
			}
			return
		}
		if !semver.MustParse(next).GreaterThan(semver.MustParse(version)) {
			t.Fatalf("%s of %s is %s", kind, version, next)
		}
	})
}
