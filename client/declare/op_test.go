package declare

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Each package that mentions the client compiles every method of a generic type here for each of some 330 operations.
func TestGenericTypesHaveFewMethods(t *testing.T) {
	method := regexp.MustCompile(`(?m)^func \((?:\w+ )?\*?(\w+\[[\w, ]+\])\) (\w+)`)
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range method.FindAllStringSubmatch(string(text), -1) {
			if !strings.HasSuffix(name, "_test.go") {
				found = append(found, m[1]+"."+m[2])
			}
		}
	}
	slices.Sort(found)
	if want := []string{"Cursor[T].Close", "Cursor[T].Next", "Search[In, T].All", "Some[T].One"}; !slices.Equal(found, want) {
		t.Errorf("methods %v, want %v: what callers do not need is found by reflection", found, want)
	}
}

// A Go method may return nothing where its result is any value.
func TestNothingIsAResult(t *testing.T) {
	if v := wrap(&Spec{Shape: ShapeGo}, Args{}, nil); v.Shape != ShapeGo || v.Go != nil {
		t.Errorf("%+v", v)
	}
}
