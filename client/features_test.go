package client

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"transect/client/declare"
	"transect/client/fault"
	"transect/client/schema"
)

const featuresPath = "POST /map-service/features/"

func TestFeaturesOnTheWire(t *testing.T) {
	one := func(call string, args map[string]any, want ...string) wireCase {
		return wireCase{call: call, args: args, want: want, answer: `{"_id":"f1"}`}
	}
	many := func(call string, args map[string]any, want ...string) wireCase {
		return wireCase{call: call, args: args, want: want, answer: `[{"_id":"f1"},{"_id":"f2"}]`}
	}
	testWire(t, []wireCase{
		one("features.create", nil, featuresPath+`create-feature {}`),
		one("features.create", map[string]any{"geometry": point(4, 50), "properties": map[string]any{"a.b": 1}, "collection": "c1"},
			featuresPath+`create-feature {"geometry":{"type":"Point","coordinates":[4,50]},"properties":{"a.b":1},"collection":"c1"}`),
		many("features.create_features", map[string]any{"descriptions": []any{map[string]any{"collection": "c1"}, map[string]any{"geometry": point(4, 50), "type": "Feature"}}},
			featuresPath+`create-features {"features":[{"collection":"c1"},{"geometry":{"type":"Point","coordinates":[4,50]},"type":"Feature"}]}`),
		one("features.add_attachments", map[string]any{"feature": "f1", "attachments": []any{"d1"}}, featuresPath+`add-attachments {"feature":"f1","attachments":["d1"]}`),
		one("features.remove_attachments", map[string]any{"feature": "f1", "attachments": schema.Empty{}}, featuresPath+`remove-attachments {"feature":"f1","attachments":[]}`),
		one("features.delete", map[string]any{"feature": "f1"}, featuresPath+`delete-feature {"feature":"f1"}`),
		one("features.delete", map[string]any{"feature": []any{"f1"}}, featuresPath+`delete-features {"features":["f1"]}`),
		one("features.delete", map[string]any{"feature": "f1", "permanent": true}, featuresPath+`delete-feature-permanently {"feature":"f1"}`),
		one("features.delete", map[string]any{"feature": []any{"f1", "f2"}, "permanent": true}, featuresPath+`delete-features-permanently {"features":["f1","f2"]}`),
		one("features.delete", map[string]any{"feature": schema.Empty{}}),
		one("features.restore", map[string]any{"feature": "f1"}, featuresPath+`restore-feature {"feature":"f1"}`),
		one("features.restore", map[string]any{"feature": []any{"f1"}}, featuresPath+`restore-features {"features":["f1"]}`),
		one("features.describe", map[string]any{"feature": "f1"}, featuresPath+`describe-feature {"feature":"f1"}`),
		many("features.describe", map[string]any{"feature": []any{"f1", "f2"}}, featuresPath+`describe-features {"features":["f1","f2"]}`),
		one("features.delete_feature_properties", map[string]any{"feature": "f1", "properties": []any{"a"}}, featuresPath+`delete-feature-properties {"feature":"f1","properties":["a"]}`),
		many("features.delete_features_properties", map[string]any{"features_properties": map[string]any{"f1": []any{"a", "b"}, "f2": schema.Empty{}}},
			featuresPath+`delete-features-properties {"f1":["a","b"],"f2":[]}`),
		one("features.update_feature_properties", map[string]any{"feature": "f1", "properties": map[string]any{"a": false}}, featuresPath+`update-feature-properties {"feature":"f1","properties":{"a":false}}`),
		many("features.update_features_properties", map[string]any{"features_properties": map[string]any{"f1": map[string]any{"a": 1}, "f2": schema.Empty{}}},
			featuresPath+`update-features-properties {"f1":{"a":1},"f2":{}}`),
		one("features.set_geometry", map[string]any{"feature": "f1", "geometry": point(4, 50)}, featuresPath+`set-feature-geometry {"feature":"f1","geometry":{"type":"Point","coordinates":[4,50]}}`),
		{call: "features.search", want: []string{featuresPath + `search-features {"filter":{}}`}},

		one("collections.create", map[string]any{"name": "c", "features": []any{"f1"}, "properties": schema.Empty{}, "schema": map[string]any{"type": "object"}},
			featuresPath+`create-collection {"name":"c","features":["f1"],"properties":{},"schema":{"type":"object"}}`),
		many("collections.create_collections", map[string]any{"descriptions": []any{map[string]any{"name": "c", "features": schema.Empty{}}}},
			featuresPath+`create-collections {"collections":[{"name":"c","features":[]}]}`),
		one("collections.delete", map[string]any{"collection": []any{"c1"}, "permanent": true, "extra": map[string]any{"force": true}},
			featuresPath+`delete-collections-permanently {"collections":["c1"],"force":true}`),
		one("collections.delete", map[string]any{"collection": "c1"}, featuresPath+`delete-collection {"collection":"c1"}`),
		one("collections.restore", map[string]any{"collection": "c1"}, featuresPath+`restore-collection {"collection":"c1"}`),
		one("collections.describe", map[string]any{"collection": "c1"}, featuresPath+`describe-collection {"collection":"c1"}`),
	})
}

func TestFeaturesRefused(t *testing.T) {
	testRefused(t, []refusedCase{
		{"features.create", map[string]any{"geometry": point(1200, 1)}, "QueryError", "argument geometry: coordinates[1]"},
		{"features.create_features", map[string]any{"descriptions": []any{map[string]any{}, map[string]any{"geometry": point(0, 91)}}}, "QueryError", "descriptions[2]: geometry"},
		{"features.create_features", map[string]any{"descriptions": []any{map[string]any{"propertes": 1}}}, "ParameterError", "descriptions[1]: unknown key propertes"},
		{"features.update_features_properties", map[string]any{"features_properties": map[string]any{"f1": 3}}, "ParameterError", "feature f1 needs a table"},
		{"features.update_features_properties", map[string]any{"features_properties": map[string]any{}, "extra": map[string]any{"x": 1}}, "ParameterError", "no extra arguments"},
		{"features.delete_features_properties", map[string]any{"features_properties": map[string]any{"f1": "a"}}, "ParameterError", "feature f1 needs a list"},
		{"features.add_attachments", map[string]any{"feature": "f1"}, "ParameterError", "attachments is missing"},
		{"collections.create_collections", map[string]any{"descriptions": []any{map[string]any{"features": 1}}}, "ParameterError", "descriptions[1]: features"},
		{"collections.export", map[string]any{"collection": "c1", "target_path": "."}, "ParameterError", "target_name is missing"},
		{"collections.export", map[string]any{"collection": "c1", "target_path": ".", "target_name": "../x"}, "ParameterError", "not a plain file name"},
	})
}

func TestChunksOfIDs(t *testing.T) {
	for _, test := range []struct {
		call, argument string
		ids, requests  int
	}{
		{"collections.describe", "collection", 21, 3},
		{"collections.delete", "collection", 101, 2},
		{"collections.restore", "collection", 300, 1},
		{"features.describe", "feature", 1001, 2},
		{"features.delete", "feature", 250, 3},
		{"annotations.describe", "annotation", 1001, 2},
		{"annotations.delete", "annotation", 201, 3},
		{"annotations.restore", "annotation", 201, 1},
		{"analytic_configurations.describe", "configuration_set", 3, 3},
		{"analytic_configurations.delete", "configuration_set", 3, 3},
		{"datastreamtemplates.describes", "templates", 1500, 1},
	} {
		ids := make([]any, test.ids)
		for i := range ids {
			ids[i] = "id" + strconv.Itoa(i)
		}
		answer := `[{"_id":"x"}]`
		if test.call == "analytic_configurations.describe" {
			answer = `{"_id":"x"}`
		}
		c, r := record(t, map[string]string{"": answer})
		v, err := invoke(t, c, test.call, map[string]any{test.argument: ids})
		if err != nil || len(r.all()) != test.requests {
			t.Errorf("%s of %d ids: %d requests, want %d; %v", test.call, test.ids, len(r.all()), test.requests, err)
		}
		if v.Shape == declare.ShapeResources && len(v.Items) != test.requests {
			t.Errorf("%s: %d records, one a request expected", test.call, len(v.Items))
		}
	}
}

func TestCollectionExport(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new")
	args := map[string]any{"collection": "c1", "target_path": folder, "target_name": "c.geojson"}
	c, r := record(t, map[string]string{"": `{"type":"FeatureCollection"}` + "\n" + `second` + "\n" + `404 {"message":"none"}`})
	for _, want := range []string{`{"type":"FeatureCollection"}`, "second"} { // the second replaces the first
		v, err := invoke(t, c, "collections.export", args)
		if err != nil || v.Go != Path(filepath.Join(folder, "c.geojson")) {
			t.Fatal(v.Go, err)
		}
		if got, err := os.ReadFile(filepath.Join(folder, "c.geojson")); string(got) != want {
			t.Errorf("the file holds %q, want %q; %v", got, want, err)
		}
	}
	if want := featuresPath + `export-collection {"collection":"c1","format":"geojson"}`; !sameRequest(t, r.last(t).String(), want) {
		t.Errorf("got %s, want %s", r.last(t), want)
	}
	_, err := invoke(t, c, "collections.export", args)
	if f := fault.Find(err); f == nil || f.Name() != "ResponseError" {
		t.Errorf("a refusal gives %v", err)
	}
	if got, _ := os.ReadFile(filepath.Join(folder, "c.geojson")); string(got) != "second" {
		t.Errorf("a refusal changed the file to %q", got)
	}
}
