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
	slices.SortFunc(mixed, NaturalCompare)
	if !slices.Equal(mixed, sorted) {
		t.Errorf("got %v", mixed)
	}
}

func TestNaturalOrderIsTotal(t *testing.T) {
	name := rapid.StringMatching(`[aAb0-2_.]{0,6}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := name.Draw(t, "a"), name.Draw(t, "b"), name.Draw(t, "c")
		if NaturalCompare(a, a) < 0 || NaturalCompare(a, b) < 0 && NaturalCompare(b, a) < 0 {
			t.Fatal("not asymmetric")
		}
		if a != b && NaturalCompare(a, b) >= 0 && NaturalCompare(b, a) >= 0 {
			t.Fatal("different names tie")
		}
		if NaturalCompare(a, b) < 0 && NaturalCompare(b, c) < 0 && NaturalCompare(a, c) >= 0 {
			t.Fatal("not transitive")
		}
	})
}
