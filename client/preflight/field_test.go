package preflight_test

import (
	"os"
	"path/filepath"
	"testing"

	"transect/client/preflight"
	"transect/client/scan"
	"transect/client/verdict"
)

// TestDamageOfTheField: neither check reports good files of the field as damaged, but both report
// truncated ones.
func TestDamageOfTheField(t *testing.T) {
	field := filepath.Join("..", "..", "..", "shared", "field")
	if _, err := os.Stat(field); err != nil {
		t.Skip("further files beside the checkout (shared) are not there")
	}
	cut := map[string]bool{"gpx/cut_elem.gpx": true, "geojson/cut_at_brace.geojson": true}
	for _, deep := range []bool{false, true} {
		seen := 0
		for item, err := range scan.Items(t.Context(), scan.Source{Root: field, Exclude: []string{"pager", "*.md"}}) {
			if err != nil {
				continue // filtered
			}
			c := preflight.New(preflight.Options{SkipDuplicates: true})
			p := c.Add(item, nil, nil)
			if deep {
				p = c.AddDecoded(t.Context(), item, nil, nil)
			}
			if seen++; (p != nil) != cut[item.Name] || p != nil && p.Verdict != verdict.Damaged {
				t.Errorf("%s, deep %v: %+v", item.Name, deep, p)
			}
			c.Close()
		}
		if seen < 40 {
			t.Errorf("only %d items", seen)
		}
	}
}
