package analytic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"transect/testdata/flightgen"
)

func TestCheck(t *testing.T) {
	for _, c := range []struct{ scheme, value, want string }{
		{`{}`, `{"anything": 1}`, ""},
		{`{"type": "string"}`, `1`, "x: must be of type string"},
		{`{"type": ["string", "null"]}`, `null`, ""},
		{`{"type": ["string", "null"]}`, `1`, "x: must be of type string or null"},
		{`{"type": "integer"}`, `2.0`, ""},
		{`{"type": "integer"}`, `2.5`, "type integer"},
		{`{"type": "boolean"}`, `"true"`, "type boolean"},
		{`{"type": "number", "minimum": 1, "maximum": 2}`, `0.5`, "at least 1"},
		{`{"type": "number", "minimum": 1, "maximum": 2}`, `3`, "at most 2"},
		{`{"enum": ["a", 1]}`, `1.0`, ""},
		{`{"enum": ["a", 1]}`, `"b"`, `one of ["a",1]`},
		{`{"type": "string", "pattern": "^a+$"}`, `"ab"`, "must match"},
		{`{"type": "string", "minLength": 2}`, `"é"`, "at least 2 characters"},
		{`{"type": "array", "minItems": 1, "items": {"type": "number"}}`, `[]`, "at least 1 elements"},
		{`{"type": "array", "items": {"type": "number"}}`, `[1, "a"]`, "x[1]: must be of type number"},
		{`{"type": "object", "required": ["a"]}`, `{}`, "x.a: is required"},
		{`{"type": "object", "properties": {"a": {"type": "number"}}}`, `{"a": "1"}`, "x.a: must be of type number"},
		{`{"type": "object", "properties": {}, "additionalProperties": false}`, `{"a": 1}`, "x.a: is unknown"},
	} {
		var scheme map[string]any
		var value any
		for text, into := range map[string]any{c.scheme: &scheme, c.value: &value} {
			d := json.NewDecoder(strings.NewReader(text))
			d.UseNumber()
			if err := d.Decode(into); err != nil {
				t.Fatal(err)
			}
		}
		err := Check(scheme, "x", value)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s with %s: %v, want %q", c.scheme, c.value, err, c.want)
		}
	}
}

// order runs a program over files, and returns what it logged.
func order(t *testing.T, version string, parameters map[string]any, files ...string) ([]Deliverable, string, error) {
	t.Helper()
	p, ok := Find("flight_report", version)
	if !ok {
		t.Fatalf("no version %s", version)
	}
	var log strings.Builder
	made, err := p.Run(t.Context(), &Order{
		Inputs: map[string]any{"mission": "m"}, Parameters: parameters,
		Wanted: func(string) bool { return false },
		Images: func(context.Context, string) (images []Image, err error) {
			for i, content := range files {
				path := filepath.Join(t.TempDir(), fmt.Sprint(i))
				if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
					return nil, err
				}
				images = append(images, Image{Filename: "a.jpg", Size: int64(len(content)), Open: func() (*os.File, error) { return os.Open(path) }})
			}
			return images, nil
		},
		Log: func(level, message string, _ map[string]any) error {
			log.WriteString(level + " " + message + "\n")
			return nil
		},
	})
	return made, log.String(), err
}

func TestReportOfBadImages(t *testing.T) {
	if _, _, err := order(t, "1.0.0", nil); !errors.Is(err, ErrRejected) {
		t.Errorf("no images: %v", err)
	}
	if _, log, err := order(t, "1.0.0", nil, "no picture"); err == nil || errors.Is(err, ErrRejected) || !strings.Contains(log, "warning a.jpg") {
		t.Errorf("no readable image: %v, %s", err, log)
	}
	photos := t.TempDir()
	if err := flightgen.Write(photos, 1, flightgen.Options{WithoutPosition: []int{0}}); err != nil {
		t.Fatal(err)
	}
	photo, err := os.ReadFile(filepath.Join(photos, "FLIGHT_0001.JPG"))
	if err != nil {
		t.Fatal(err)
	}
	made, _, err := order(t, "1.0.0", nil, string(photo), "no picture")
	if err != nil || len(made) != 2 {
		t.Fatalf("%v %v", made, err)
	}
	if string(made[1].Files[0].Content) != `{"features":[],"type":"FeatureCollection"}` {
		t.Errorf("footprints of a photo without position: %s", made[1].Files[0].Content)
	}
	if _, _, err := order(t, "1.0.0", map[string]any{"tolerate": json.Number("0.4")}, string(photo), "no picture"); err == nil {
		t.Error("half of the images is more than tolerated")
	}
	if made, _, err := order(t, "2.0.0", nil, string(photo)); err != nil || made[0].Name != "report" || !strings.Contains(string(made[0].Files[0].Content), "altitude_m") {
		t.Errorf("version 2: %v", err)
	}
}
