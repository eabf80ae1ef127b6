package imagery

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestNaturalOrder(t *testing.T) {
	sorted := []string{"a", "DJI_2.JPG", "dji_2.jpg", "DJI_010.JPG", "DJI_10_1.JPG", "DJI_100.JPG", "IMG_1"}
	mixed := slices.Clone(sorted)
	slices.Reverse(mixed)
	slices.SortFunc(mixed, func(a, b string) int {
		if naturalLess(a, b) {
			return -1
		}
		return 1
	})
	if !slices.Equal(mixed, sorted) {
		t.Errorf("got %v", mixed)
	}
}

func TestNaturalOrderIsTotal(t *testing.T) {
	name := rapid.StringMatching(`[aAb0-2_.]{0,6}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := name.Draw(t, "a"), name.Draw(t, "b"), name.Draw(t, "c")
		if naturalLess(a, a) || naturalLess(a, b) && naturalLess(b, a) {
			t.Fatal("not asymmetric")
		}
		if a != b && !naturalLess(a, b) && !naturalLess(b, a) {
			t.Fatal("different names tie")
		}
		if naturalLess(a, b) && naturalLess(b, c) && !naturalLess(a, c) {
			t.Fatal("not transitive")
		}
	})
}
