package schema

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestCheckJSON(t *testing.T) {
	zero, one := 0.0, 1.0
	params := []Param{
		{Name: "id", Type: "id", Optional: true},
		{Name: "ids", Type: "[]id", Most: 2, Distinct: true, Optional: true},
		{Name: "one_or_many", Type: "id|[]id", Optional: true},
		{Name: "word", Type: "word", Optional: true},
		{Name: "share", Type: "number", Min: &zero, Max: &one, Optional: true},
		{Name: "shares", Type: "[]number", Min: &zero, Optional: true},
		{Name: "kind", Type: "string", Choices: []string{"raster", "vector"}, Optional: true},
		{Name: "labels", Type: "{}{}word", Optional: true},
		{Name: "custom", Type: "string|[]word|{}word", Optional: true},
		{Name: "sum", Type: "md5", Optional: true},
		{Name: "version", Type: "version", Optional: true},
		{Name: "range", Type: "range", Optional: true},
		{Name: "width", Type: "pixels", Optional: true},
		{Name: "at", Type: "position", Optional: true},
		{Name: "fill", Type: "colour", Optional: true},
		{Name: "normals", Type: "[]vector", Optional: true},
		{Name: "place", Type: "features", Optional: true},
		{Name: "slots", Type: "[]object", Distinct: true, Optional: true, Fields: []Param{{Name: "name", Type: "word"}}},
	}
	const id = "0123456789abcdef01234567"
	for text, want := range map[string]string{
		`{"id":"` + id + `","unknown":1}`:     "",
		`{"id":null}`:                         "",
		`{"id":"x"}`:                          `id: must be an identifier of 24 hexadecimal digits, not "x"`,
		`{"id":{"_id":"` + id + `"}}`:         "id: must be an identifier of 24 hexadecimal digits, not an object",
		`{"ids":"` + id + `"}`:                "ids: must be a list of identifiers, not ",
		`{"ids":["` + id + `","` + id + `"]}`: "ids[1]: \"" + id + "\" is listed twice",
		`{"ids":["a","b","c"]}`:               "ids: has 3 identifiers; at most 2 are accepted in one request",
		`{"one_or_many":"` + id + `"}`:        "",
		`{"one_or_many":["` + id + `",1]}`:    "one_or_many[1]: must be an identifier",
		`{"word":""}`:                         "word: must not be empty",
		`{"word":1}`:                          "word: must be a string, not 1",
		`{"share":1.5}`:                       "share: must be between 0 and 1, got 1.5",
		`{"shares":[1,-1]}`:                   "shares[1]: must be at least 0, got -1",
		`{"kind":"rastr"}`:                    "kind: must be one of raster, vector",
		`{"labels":{"a":{"b":"c"}}}`:          "",
		`{"labels":{"a":{"b":1}}}`:            "labels.a.b: must be a string, not 1",
		`{"labels":[]}`:                       "labels: must be an object, not a list",
		`{"custom":"a"}`:                      "",
		`{"custom":["a",""]}`:                 "custom[1]: must not be empty",
		`{"custom":{"a":1}}`:                  "custom.a: must be a string",
		`{"sum":"12"}`:                        "sum: must be an MD5 of 32 hexadecimal digits",
		`{"version":"1.0"}`:                   `version: "1.0" is not a semantic version`,
		`{"range":"a b"}`:                     `range: "a b" is not a range of versions`,
		`{"width":"640","at":[4,50],"fill":[0,0,255,0.5]}`: "",
		`{"width":0}`:         "width: must be a number of pixels",
		`{"at":[400,50]}`:     "at: must be [longitude, latitude] in degrees",
		`{"fill":[0,256,0]}`:  "fill[1]: must be between 0 and 255, not 256",
		`{"normals":[[1,2]]}`: "normals[0]: must be a vector of three numbers",
		`{"place":{"type":"Point","coordinates":[4,50]}}`:                        "",
		`{"place":{"type":"Square"}}`:                                            `place: "Square" is not a GeoJSON`,
		`{"place":{"type":"FeatureCollection","features":[{"type":"Feature"}]}}`: "place.features[0].geometry: is required",
		`{"slots":[{"name":"a"},{"name":"a"}]}`:                                  `slots[1].name: "a" is listed twice`,
		`{"slots":[{}]}`:                                                         "slots[0].name: is required",
	} {
		var body map[string]any
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		if err := d.Decode(&body); err != nil {
			t.Fatal(text, err)
		}
		got := ""
		if err := CheckFields(params, "", body); err != nil {
			got = err.Error()
		}
		if (got == "") != (want == "") || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
