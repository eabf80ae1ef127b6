package scan

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"transect/client/formats/imagery"
)

// TestListing compares a listing with a plain sorted list of names.
func TestListing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`(DJI_|dji_0|a|é)?[0-9]{0,5}(_V|\.b)?(\.JPG|\.jpg|\.tif|x{130})?`), 0, 100, rapid.ID).Draw(t, "names")
		names = slices.DeleteFunc(names, func(n string) bool { return n == "" })
		var l listing
		for i, name := range names {
			l.add(name, entryType(i%4))
		}
		kinds := map[string]entryType{}
		for i, name := range names {
			kinds[name] = entryType(i % 4)
		}
		l.sort()
		sorted := slices.SortedFunc(slices.Values(names), imagery.NaturalCompare)
		if l.len() != len(sorted) {
			t.Fatalf("%d of %d names", l.len(), len(sorted))
		}
		for i, name := range sorted {
			if l.name(i) != name || l.kind(i) != kinds[name] {
				t.Fatalf("entry %d is %q (%d), want %q (%d)", i, l.name(i), l.kind(i), name, kinds[name])
			}
			if got := l.find(name); got != i {
				t.Fatalf("%q found at %d, want %d", name, got, i)
			}
		}
		prefix := rapid.OneOf(rapid.SampledFrom(append([]string{"nothing"}, names...)), rapid.StringMatching(`(DJI_|a)[0-9]{0,2}`)).Draw(t, "prefix")
		prefix = prefix[:rapid.IntRange(1, len(prefix)).Draw(t, "length")]
		var got, want []int
		for i := range l.withPrefix(prefix) {
			got = append(got, i)
		}
		for i, name := range sorted {
			if len(name) >= len(prefix) && strings.EqualFold(name[:len(prefix)], prefix) {
				want = append(want, i)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("with prefix %q: %v, want %v of %q", prefix, got, want, sorted)
		}
	})
}
