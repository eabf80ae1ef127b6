package wkt_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"transect/stdlib/internal/wkt"
)

func TestForms(t *testing.T) {
	for _, c := range []struct{ text, geojson, written string }{
		{"POINT(4.5 52)", `{"type":"Point","coordinates":[4.5,52]}`, ""},
		{" point ( 4.5e0  +52 ) ", `{"type":"Point","coordinates":[4.5,52]}`, "POINT(4.5 52)"},
		{"SRID=4326;POINT(4 52)", `{"type":"Point","coordinates":[4,52]}`, "POINT(4 52)"},
		{"POINT Z (4 52 10)", `{"type":"Point","coordinates":[4,52,10]}`, ""},
		{"POINTZ(4 52 10)", `{"type":"Point","coordinates":[4,52,10]}`, "POINT Z (4 52 10)"},
		{"POINT(4 52 10)", `{"type":"Point","coordinates":[4,52,10]}`, "POINT Z (4 52 10)"},
		{"POINT M (4 52 7)", `{"type":"Point","coordinates":[4,52],"measures":7}`, ""},
		{"POINTZM(4 52 10 7)", `{"type":"Point","coordinates":[4,52,10],"measures":7}`, "POINT ZM (4 52 10 7)"},
		{"POINT EMPTY", `{"type":"Point","coordinates":[]}`, ""},
		{"POINT Z EMPTY", `{"type":"Point","coordinates":[]}`, "POINT EMPTY"},
		{"MULTIPOINT(1 2, 3 4)", `{"type":"MultiPoint","coordinates":[[1,2],[3,4]]}`, "MULTIPOINT((1 2),(3 4))"},
		{"MULTIPOINT((1 2),(3 4))", `{"type":"MultiPoint","coordinates":[[1,2],[3,4]]}`, ""},
		{"MULTIPOINT((1 2), 3 4, EMPTY)", `{"type":"MultiPoint","coordinates":[[1,2],[3,4]]}`, "MULTIPOINT((1 2),(3 4))"},
		{"MULTIPOINT EMPTY", `{"type":"MultiPoint","coordinates":[]}`, ""},
		{"LINESTRING M (1 2 0,3 4 250.5)", `{"type":"LineString","coordinates":[[1,2],[3,4]],"measures":[0,250.5]}`, ""},
		{"LINESTRING EMPTY", `{"type":"LineString","coordinates":[]}`, ""},
		{"POLYGON((0 0,1 0,1 1,0 0),(0.1 0.1,0.2 0.1,0.2 0.2,0.1 0.1))", `{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]],[[0.1,0.1],[0.2,0.1],[0.2,0.2],[0.1,0.1]]]}`, ""},
		{"MULTILINESTRING((1 2,3 4),EMPTY)", `{"type":"MultiLineString","coordinates":[[[1,2],[3,4]],[]]}`, ""},
		{"MULTIPOLYGON ZM (((0 0 1 2,1 0 1 3,1 1 1 4,0 0 1 5)))", `{"type":"MultiPolygon","coordinates":[[[[0,0,1],[1,0,1],[1,1,1],[0,0,1]]]],"measures":[[[2,3,4,5]]]}`, ""},
		{"GEOMETRYCOLLECTION(POINT(1 2),LINESTRING(1 2,3 4))", `{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[1,2]},{"type":"LineString","coordinates":[[1,2],[3,4]]}]}`, ""},
		{"GEOMETRYCOLLECTION Z (POINT Z (1 2 3),GEOMETRYCOLLECTION Z EMPTY)", `{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[1,2,3]},{"type":"GeometryCollection","geometries":[]}]}`, ""},
		{"GEOMETRYCOLLECTION EMPTY", `{"type":"GeometryCollection","geometries":[]}`, ""},
		{"POINT(1e-12 -1e20)", `{"type":"Point","coordinates":[1e-12,-1e20]}`, "POINT(1e-12 -1e+20)"},
	} {
		g, err := wkt.Parse(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		got, _ := json.Marshal(g)
		var want any
		if err := json.Unmarshal([]byte(c.geojson), &want); err != nil {
			t.Fatal(err)
		}
		var back any
		_ = json.Unmarshal(got, &back)
		if diff := cmp.Diff(want, back); diff != "" {
			t.Errorf("%s: %s", c.text, diff)
		}
		if c.written == "" {
			c.written = c.text
		}
		if text, err := wkt.Format(g); err != nil || text != c.written {
			t.Errorf("%s came back as %q, %v", c.text, text, err)
		}
	}
}

func TestWrongText(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "character 1 should be a geometry such as POINT or POLYGON, and is the end",
		"PONT(1 2)":               "character 1 should be a geometry",
		"POLYGON((4 52":           "character 14 should be , or ), and is the end",
		"POINT(4)":                "character 8 should be a number",
		"POINT(4 x)":              `character 9 should be a number, and is "x)"`,
		"POINT(4 --5)":            "character 9 should be a number",
		"POINT(4 52) x":           "character 13 should be the end",
		"POINT 4 52":              "character 7 should be ( or EMPTY",
		"LINESTRING(1 2,3 4 5)":   "has 3 numbers, not 2",
		"POINT Z (1 2)":           "has 2 numbers, not 3",
		"POINT(1 2 3 4 5)":        "should be )",
		"CIRCULARSTRING(1 2,3 4)": "GeoJSON has no CIRCULARSTRING",
		"SRID=3857;POINT(1 2)":    "reference system 3857",
		"POINT(1e999 0)":          "should be a number",
		"LINESTRING(1 2,3 4)):":   "should be the end",
		"GEOMETRYCOLLECTION(1 2)": "should be a geometry",
		strings.Repeat("GEOMETRYCOLLECTION(", 40): "more than 32 collections",
	} {
		if _, err := wkt.Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
	mixed := map[string]any{"type": "LineString", "coordinates": []any{[]any{1.0, 2.0}, []any{1.0, 2.0, 3.0}}}
	if _, err := wkt.Format(mixed); !errors.Is(err, wkt.ErrMixed) {
		t.Error(err)
	}
}

// geometry draws any geometry, with one kind of positions throughout.
func geometry(t *rapid.T, dimensions string, depth int) map[string]any {
	kinds := []string{"Point", "MultiPoint", "LineString", "MultiLineString", "Polygon", "MultiPolygon"}
	if depth > 0 {
		kinds = append(kinds, "GeometryCollection")
	}
	typ := rapid.SampledFrom(kinds).Draw(t, "type")
	if typ == "GeometryCollection" {
		members := make([]any, rapid.IntRange(0, 3).Draw(t, "members"))
		for i := range members {
			members[i] = geometry(t, dimensions, depth-1)
		}
		return map[string]any{"type": typ, "geometries": members}
	}
	place := rapid.Float64Range(-1e9, 1e9)
	var nested func(depth int) (any, any)
	nested = func(depth int) (any, any) {
		if depth == 0 {
			p := []any{place.Draw(t, "x"), place.Draw(t, "y")}
			if strings.Contains(dimensions, "Z") {
				p = append(p, place.Draw(t, "z"))
			}
			return p, place.Draw(t, "m")
		}
		list, marks := []any{}, []any{}
		for range rapid.IntRange(1, 3).Draw(t, "length") {
			c, m := nested(depth - 1)
			list, marks = append(list, c), append(marks, m)
		}
		return list, marks
	}
	c, m := nested(map[string]int{"MultiPoint": 1, "LineString": 1, "MultiLineString": 2, "Polygon": 2, "MultiPolygon": 3}[typ])
	if rapid.IntRange(0, 9).Draw(t, "empty") == 0 {
		return map[string]any{"type": typ, "coordinates": []any{}}
	}
	g := map[string]any{"type": typ, "coordinates": c}
	if strings.Contains(dimensions, "M") {
		g["measures"] = m
	}
	return g
}

func TestGeometriesComeBackAsTheyWent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := geometry(t, rapid.SampledFrom([]string{"", "Z", "M", "ZM"}).Draw(t, "dimensions"), 2)
		text, err := wkt.Format(g)
		if err != nil {
			t.Fatal(err)
		}
		got, err := wkt.Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		unmeasured(got) // nothing has measures that has no positions
		if diff := cmp.Diff(g, got); diff != "" {
			t.Fatalf("%s: %s", text, diff)
		}
	})
}

// unmeasured takes empty measures away.
func unmeasured(g map[string]any) {
	if list, ok := g["measures"].([]any); ok && len(list) == 0 {
		delete(g, "measures")
	}
	members, _ := g["geometries"].([]any)
	for _, m := range members {
		unmeasured(m.(map[string]any))
	}
}

// What can be read can be written and is then read as the same.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"POINT(4.5 52)", "MULTIPOINT(1 2, 3 4)", "MULTIPOINT((1 2),EMPTY)", "POLYGON ZM ((0 0 1 2,1 0 1 3,1 1 1 4,0 0 1 5))",
		"GEOMETRYCOLLECTION(POINT EMPTY,LINESTRING M (1 2 3,4 5 6))", "SRID=4326;POINT(1e-7 -.5)", "LINESTRING(1 2,3"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		g, err := wkt.Parse(text)
		if err != nil {
			return
		}
		written, err := wkt.Format(g)
		if errors.Is(err, wkt.ErrMixed) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		again, err := wkt.Parse(written)
		if err != nil {
			t.Fatalf("%q was written as %q: %v", text, written, err)
		}
		unmeasured(g)
		unmeasured(again)
		if diff := cmp.Diff(g, again); diff != "" {
			t.Fatalf("%q was written as %q: %s", text, written, diff)
		}
	})
}
