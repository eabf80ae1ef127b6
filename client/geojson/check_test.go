package geojson

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const cases = "../../../shared/data/geojson-conformance"

// advice are the linter's messages in the cases about matters that RFC 7946 leaves open.
var advice = []string{"right-hand rule", "should avoid nested", "should be avoided", "cannot contain", "more than 3 elements", "precision"}

func TestConformance(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(cases, "bad-expected.json"))
	if err != nil {
		t.Skip("the shared GeoJSON cases are not here: ", err)
	}
	var complaints map[string][]struct{ Message, Level string }
	if err := json.Unmarshal(text, &complaints); err != nil {
		t.Fatal(err)
	}
	for name, list := range complaints {
		wrong := slices.ContainsFunc(list, func(c struct{ Message, Level string }) bool {
			return !slices.ContainsFunc(advice, func(a string) bool { return strings.Contains(c.Message, a) })
		})
		if err := checkFile(t, "bad", name); (err != nil) != wrong {
			t.Errorf("%s: got %v, linter %v", name, err, list)
		}
	}
	good, err := os.ReadDir(filepath.Join(cases, "good"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range good {
		if err := checkFile(t, "good", f.Name()); err != nil {
			t.Errorf("%s: %v", f.Name(), err)
		}
	}
	t.Logf("%d bad and %d good cases", len(complaints), len(good))
}

func checkFile(t *testing.T, folder, name string) error {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(cases, folder, name))
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		return err
	}
	// The linter checks the form only; one of its good files is off the globe.
	return Check(v, Options{AnyNumber: true})
}

func TestMessagesNameTheCoordinate(t *testing.T) {
	for text, want := range map[string]string{
		`{"type":"Point","coordinates":[4,91]}`:                                 "coordinates[2] is 91, outside -90 to 90 degrees; positions are [longitude, latitude]",
		`{"type":"Point","coordinates":[4]}`:                                    "coordinates has 1 numbers",
		`{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,1]]]}`:          "coordinates[1]: the ring is not closed, its last position [0 1] differs from its first [0 0]",
		`{"type":"MultiPolygon","coordinates":[[[[0,0],[1,0],[1,"x"],[0,0]]]]}`: `coordinates[1][1][3][2] is text "x", not a number`,
		`{"type":"LineString","coordinates":[[0,0]]}`:                           "a line needs two positions",
		`{"type":"GeometryCollection","geometries":[{"type":"Pont"}]}`:          `geometries[1]: "Pont" is not a GeoJSON geometry type`,
		`{"type":"FeatureCollection","features":[{"type":"Feature","properties":{},"geometry":{"type":"Point","coordinates":[200,0]}}]}`: "features[1]: coordinates[1] is 200",
	} {
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		if err := Check(v, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}
