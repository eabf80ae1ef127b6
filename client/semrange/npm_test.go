package semrange_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"

	"transect/client/semrange"
	"transect/client/semrange/release"
)

// tables is the folder of npm's own test tables, next to the repository.
var tables = filepath.Join("..", "..", "..", "shared", "data", "semver")

// npmCase is one case of npm's tables; each file uses some of the fields.
type npmCase struct {
	Range, Greater, Less, Left, Right string
	Version                           any
	Expected, Result                  *string // nil where npm refuses
	Satisfies, Intersects             bool
	Loose, IncludePrerelease          bool
	Major, Minor, Patch               uint64
	Prerelease                        []any
	Build                             []string
	Release, Truncation, Identifier   string
	IdentifierBase                    any // a number, its text, or false for no number
}

// checks has a function per table: it returns the error in a case, or nil.
var checks = map[string]func(c npmCase) error{
	"range-include":           checkSatisfies,
	"range-exclude":           checkSatisfies,
	"range-parse":             checkRangeText,
	"valid-versions":          checkValid,
	"invalid-versions":        checkInvalid,
	"comparisons":             func(c npmCase) error { return checkOrder(c, c.Greater, c.Less, 1) },
	"equality":                func(c npmCase) error { return checkOrder(c, c.Left, c.Right, 0) },
	"comparator-intersection": checkIntersects,
	"range-intersection":      checkIntersects,
	"increments":              checkIncrement,
}

func TestTablesOfNPM(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(tables, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skipf("no shared test data in %s", tables)
	}
	ran, failed := 0, 0
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		check := checks[name]
		if check == nil {
			continue // no function corresponds to this table
		}
		t.Run(name, func(t *testing.T) {
			for _, c := range readTable(t, file) {
				if c.Loose || c.IncludePrerelease || c.IdentifierBase != nil && fmt.Sprint(c.IdentifierBase) != "0" {
					continue // unsupported options of npm
				}
				ran++
				if err := check(c); err != nil {
					failed++
					t.Errorf("%+v: %v", c, err)
				}
			}
		})
	}
	t.Logf("%d cases of %d tables ran, %d failed", ran, len(files), failed)
	if len(files) < len(checks) {
		t.Errorf("%d tables are there, want %d", len(files), len(checks))
	}
}

func readTable(t *testing.T, file string) []npmCase {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var cases []npmCase
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) == 0 {
		t.Fatal("the table is empty")
	}
	return cases
}

func checkSatisfies(c npmCase) error {
	r, err := semrange.Parse(c.Range)
	if err != nil {
		return err
	}
	return differs(matches(r, fmt.Sprint(c.Version)), c.Satisfies)
}

// matches reports whether a range holds the version in a text; false for an invalid one.
func matches(r semrange.Range, version string) bool {
	v, err := semrange.ParseVersion(version)
	return err == nil && r.Contains(v)
}

func checkRangeText(c npmCase) error {
	r, err := semrange.Parse(c.Range)
	return checkText(r.String(), err, c.Expected)
}

func checkValid(c npmCase) error {
	v, err := semrange.ParseVersion(c.Version.(string))
	if err != nil {
		return err
	}
	ids := make([]string, len(c.Prerelease))
	for i, id := range c.Prerelease {
		ids[i] = fmt.Sprint(id)
	}
	want := semver.New(c.Major, c.Minor, c.Patch, strings.Join(ids, "."), strings.Join(c.Build, "."))
	return differs(v.String(), want.String())
}

func checkInvalid(c npmCase) error {
	if v, err := semrange.ParseVersion(c.Version.(string)); err == nil {
		return fmt.Errorf("read as %s, want an error", v)
	}
	return nil
}

func checkOrder(c npmCase, left, right string, want int) error {
	l, err := semrange.ParseVersion(left)
	if err != nil {
		return err
	}
	r, err := semrange.ParseVersion(right)
	if err != nil {
		return err
	}
	if err := differs(l.Compare(r), want); err != nil {
		return err
	}
	return differs(r.Compare(l), -want)
}

func checkIntersects(c npmCase) error {
	l, err := semrange.Parse(c.Left)
	if err != nil {
		return err
	}
	r, err := semrange.Parse(c.Right)
	if err != nil {
		return err
	}
	if err := differs(l.Intersects(r), c.Intersects); err != nil {
		return err
	}
	return differs(r.Intersects(l), c.Intersects)
}

func checkIncrement(c npmCase) error {
	got, err := release.Next(c.Version.(string), c.Release, c.Identifier)
	return checkText(got, err, c.Result)
}

// checkText compares a text, or an error, with npm's result.
func checkText(got string, err error, want *string) error {
	switch {
	case want == nil && err == nil:
		return fmt.Errorf("got %s, want an error", got)
	case want == nil:
		return nil
	case err != nil:
		return err
	}
	return differs(got, *want)
}

func differs[T comparable](got, want T) error {
	if got != want {
		return fmt.Errorf("got %v, want %v", got, want)
	}
	return nil
}
