package semrange_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"transect/client/semrange"
)

func TestParse(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "*"},
		{" \t ", "*"},
		{"^1.2.3", ">=1.2.3 <2.0.0-0"},
		{"^0.2.3", ">=0.2.3 <0.3.0-0"},
		{"^0.0.3", ">=0.0.3 <0.0.4-0"},
		{"^0.0.x", "<0.1.0-0"},
		{"^x", "*"},
		{"~1.2", ">=1.2.0 <1.3.0-0"},
		{"1.x", ">=1.0.0 <2.0.0-0"},
		{"v1.2.3", "1.2.3"},
		{"= 1.2.3", "1.2.3"},
		{"1.0.0 - x", ">=1.0.0"},
		{"x - 1.0.0", "<=1.0.0"},
		{"* - *", "*"},
		{"1.x ||", "*"},
		{"|| 1.x", "*"},
		{">=1.2 <2 || 3", ">=1.2.0 <2.0.0-0||>=3.0.0 <4.0.0-0"},
		{">=1.0.0 >=1.0.0", ">=1.0.0"},
	} {
		r, err := semrange.Parse(c.text)
		if err != nil {
			t.Errorf("Parse(%q): %v", c.text, err)
		} else if r.String() != c.want {
			t.Errorf("Parse(%q) = %s, want %s", c.text, r, c.want)
		}
	}
	for _, text := range []string{"latest", "1.x.3", ">", "^", "~", "1.2.3.4", "1..2", "- 1.0", "1.2.3-", "1.2.3+", "|", "1.x-alpha", "99999999999999999999"} {
		if r, err := semrange.Parse(text); err == nil {
			t.Errorf("Parse(%q) = %s, want an error", text, r)
		} else if !strings.Contains(err.Error(), text) {
			t.Errorf("Parse(%q): the error does not name it: %v", text, err)
		}
	}
}

func TestHighest(t *testing.T) {
	versions := []string{"1.0.0", "2.0.0", "v1.10.0", "1.9.0", "3.0.0-rc.1", "nightly"}
	for _, c := range []struct{ rng, want string }{
		{"1.x", "v1.10.0"}, {"", "2.0.0"}, {">=3.0.0-0", "3.0.0-rc.1"}, {"^2", "2.0.0"}, {"1.9", "1.9.0"},
	} {
		if got, ok := semrange.Highest(versions, c.rng); !ok || got != c.want {
			t.Errorf("Highest(%q) = %q, %v, want %q", c.rng, got, ok, c.want)
		}
	}
	for _, rng := range []string{"4.x", "not a range"} {
		if got, ok := semrange.Highest(versions, rng); ok || got != "" {
			t.Errorf("Highest(%q) = %q, %v, want none", rng, got, ok)
		}
	}
	if matches(semrange.Range{}, "1.0.0") {
		t.Error("the zero range holds a version")
	}
}

func TestIsExact(t *testing.T) {
	for text, want := range map[string]bool{"1.2.3": true, "v1.2.3-rc.1+b": true, " 1.2.3 ": true, "1.2": false, "1.x.x": false, "^1.2.3": false, "=1.2.3": false, "": false} {
		if got := semrange.IsExact(text); got != want {
			t.Errorf("IsExact(%q) = %v", text, got)
		}
	}
}

func TestRangeHoldsItsVersion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Range(0, 1000)
		v := fmt.Sprintf("%d.%d.%d", n.Draw(t, "major"), n.Draw(t, "minor"), n.Draw(t, "patch"))
		for _, prefix := range []string{"", "^", "~", ">=", "<=", "=", "v"} {
			r, err := semrange.Parse(prefix + v)
			if err != nil {
				t.Fatal(err)
			}
			if !matches(r, v) {
				t.Fatalf("%s%s does not hold %s", prefix, v, v)
			}
		}
		for _, prefix := range []string{"<", ">"} {
			if r, err := semrange.Parse(prefix + v); err != nil || matches(r, v) {
				t.Fatalf("%s%s: error %v, or holds %s", prefix, v, err, v)
			}
		}
	})
}

// FuzzParse checks that parsing never panics and that a range's own text means the same range.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"", "^1.2.3 || ~2", "1.0 - 2.x", ">= 1.x.x-alpha+b", "==1 || foo", "<*", "1.2.3beta", ">=0.0.0-0"} {
		f.Add(text, "1.2.3")
		f.Add(text, "1.2.3-beta")
	}
	f.Fuzz(func(t *testing.T, text, version string) {
		r, err := semrange.Parse(text)
		if err != nil {
			return
		}
		again, err := semrange.Parse(r.String())
		if err != nil {
			t.Fatalf("%q became %q: %v", text, r, err)
		}
		if again.String() != r.String() {
			t.Fatalf("%q became %q became %q", text, r, again)
		}
		if matches(again, version) != matches(r, version) {
			t.Fatalf("%q and %q disagree on %q", text, r, version)
		}
	})
}
