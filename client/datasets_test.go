package client

import (
	"crypto/md5"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"transect/client/fault"
	"transect/client/schema"
)

const dataPath = "POST /data-manager/"

// datasetCase is a creation in a project, and what the body holds beside name
// and project.
func datasetCase(kind string, args object, want string) wireCase {
	all := object{"name": "n", "project": "p1"}
	maps.Copy(all, args)
	return wireCase{call: "datasets.create_" + kind + "_dataset", args: all,
		want: one(dataPath + `create-dataset {"name":"n","project":"p1","type":"` + kind + `",` + want + `}`)}
}

func TestDatasetCreationOnTheWire(t *testing.T) {
	components := func(names ...string) string {
		for i, n := range names {
			names[i] = fmt.Sprintf(`{"name":%q}`, n)
		}
		return `"components":[` + strings.Join(names, ",") + `]`
	}
	common := object{"categories": list{"a"}, "company": "c1", "mission": "m1", "hidden": false, "published": true, "horizontal_srs_wkt": "H", "vertical_srs_wkt": "V",
		"dataset_format": "f", "geometry": polygon, "properties": object{"a.b": object{"$c": 1}}}
	const commonJSON = `"categories":["a"],"company":"c1","mission":"m1","hidden":false,"published":true,"horizontal_srs_wkt":"H","vertical_srs_wkt":"V",
		"format":"f","geometry":` + polygonJSON + `,"properties":{"a.b":{"$c":1}},`
	var everyKind []wireCase
	for _, kind := range []string{"file", "image", "pcl", "raster", "vector"} {
		name := kind
		everyKind = append(everyKind, datasetCase(kind, common, commonJSON+components(name)))
	}
	testWire(t, append(everyKind,
		datasetCase("mesh", common, commonJSON+components("mesh", "texture", "material")),
		wireCase{call: "datasets.create_pcl_dataset", args: object{"name": "n", "company": "c1"}, want: one(dataPath + `create-dataset {"name":"n","company":"c1","type":"pcl","components":[{"name":"pcl"}]}`)},

		datasetCase("file", object{"file_count": 0}, `"components":[]`),
		datasetCase("file", object{"file_count": 3}, components("file_0", "file_1", "file_2")),
		datasetCase("file", object{"file_count": 3, "components": list{"a", object{"name": "b", "optional": true}}}, `"components":[{"name":"a"},{"name":"b","optional":true}]`),
		datasetCase("file", object{"components": schema.Empty{}}, `"components":[]`),
		datasetCase("file", object{"extra": object{"source_name": "drone", "type": "other", "note": nil}}, `"source":{"name":"drone"},"note":null,`+components("file")),
		datasetCase("mesh", object{"texture_count": 2, "material_count": 0, "offset": list{1, 2.5, -3}}, `"offset":[1,2.5,-3],`+components("mesh", "texture_0", "texture_1")),

		datasetCase("raster", object{"has_headerfile": true, "has_worldfile": true, "has_projection_file": true}, components("raster", "projection", "worldfile", "header")),
		datasetCase("raster", object{"bands": list{object{"name": "red"}}, "has_worldfile": true}, `"bands":[{"name":"red"}],`+components("raster", "worldfile")),
		datasetCase("raster", object{"bands": schema.Empty{}}, components("raster")),
		datasetCase("vector", object{"is_archive": true, "dataset_format": "zip"}, `"format":"zip",`+components("archive")),
		datasetCase("vector", object{"is_shape_file": true, "has_projection_file": true}, components("vector", "database", "index", "projection")),
		datasetCase("vector", object{"has_projection_file": true}, components("vector", "projection")),
		datasetCase("vector", object{"collection": "k1"}, `"source":{"name":"map-service"},"components":[{"name":"collection","collection":{"id":"k1"}}]`),
		datasetCase("vector", object{"collection": "k1", "origin": "d1"}, `"source":{"name":"map-service"},"components":[{"name":"collection","collection":{"id":"k1"},"origin":{"id":"d1"}}]`),

		datasetCase("image", object{"flight": "f1", "acquisition_date": time.Date(2026, 5, 31, 8, 0, 0, 5e6, time.UTC), "width": 4000, "height": 3000, "sensor": object{"maker": "S"}, "lens": object{"f": 8},
			"camera_parameters": object{"model": "m"}, "reflectance_calibration_panel": object{"id": 1}, "parse_metadata": false, "extra": object{"ingestion": object{"parameters": object{"a": 1}, "b": 2}}},
			`"flight":"f1","acquisition_date":"2026-05-31T08:00:00.005Z","width":4000,"height":3000,"sensor":{"maker":"S"},"lens":{"f":8},
			"camera_parameters":[{"model":"m"}],"reflectance_calibration_panel":{"id":1},"ingestion":{"parameters":{"a":1,"parse_metadata":false},"b":2},`+components("image")),
		datasetCase("image", object{"camera_parameters": list{object{"model": "a"}, object{"model": "b"}}}, `"camera_parameters":[{"model":"a"},{"model":"b"}],`+components("image")),
		datasetCase("image", object{"width": 0, "height": 0, "sensor": schema.Empty{}, "lens": schema.Empty{}, "camera_parameters": schema.Empty{}, "reflectance_calibration_panel": schema.Empty{}}, components("image")),

		wireCase{call: "datasets.create_datasets", args: object{"datasets": schema.Empty{}}, answer: "[]", want: one(dataPath + `create-datasets {"datasets":[]}`)},
		wireCase{call: "datasets.create_datasets", args: object{"datasets": list{object{"name": "a", "components": schema.Empty{}, "properties": schema.Empty{}}}},
			answer: `[{"_id":"a"}]`, want: one(dataPath + `create-datasets {"datasets":[{"components":[],"name":"a","properties":{}}]}`)},
		wireCase{call: "datasets.search", args: object{"sort": schema.Empty{}, "limit": 1}, answer: `{"results":[]}`, want: one(dataPath + `search-datasets {"filter":{},"limit":1,"sort":{}}`)},
		wireCase{call: "datasets.create_datasets", answer: `[{"_id":"a"},{"_id":"b"}]`,
			args: object{"datasets": list{object{"name": "a", "type": "image", "dataset_format": "stays", "components": list{object{"name": "image"}}}, object{"vertical_srs_wkt": "as it is"}}},
			want: one(dataPath + `create-datasets {"datasets":[{"name":"a","type":"image","dataset_format":"stays","components":[{"name":"image"}]},{"vertical_srs_wkt":"as it is"}]}`)},
	))
}

func TestDatasetCreationRefused(t *testing.T) {
	refused := func(kind string, args object, name, text string) refusedCase {
		all := object{"name": "n", "project": "p1"}
		maps.Copy(all, args)
		return refusedCase{"datasets.create_" + kind + "_dataset", all, name, text}
	}
	cases := []refusedCase{
		refused("file", object{"components": "a"}, "TypeError", "components must be a list"),
		refused("file", object{"components": object{"a": 1}}, "TypeError", "components must be a list"),
		refused("file", object{"components": list{1}}, "TypeError", "item 1 is neither a name nor a table"),
		refused("mesh", object{"offset": list{1, 2}}, "ParameterError", "needs three numbers, got 2"),
		refused("vector", object{"collection": "k1", "is_shape_file": true}, "ParameterError", "collection cannot be combined with"),
		refused("vector", object{"collection": "k1", "is_archive": true}, "ParameterError", "collection cannot be combined with"),
		refused("vector", object{"collection": "k1", "has_projection_file": true}, "ParameterError", "collection cannot be combined with"),
		refused("vector", object{"collection": "k1", "dataset_format": "x"}, "ParameterError", "collection cannot be combined with"),
		refused("vector", object{"is_archive": true, "is_shape_file": true}, "ParameterError", "is_archive cannot be combined with"),
		refused("vector", object{"is_archive": true, "has_projection_file": true}, "ParameterError", "is_archive cannot be combined with"),
		refused("vector", object{"origin": "d1"}, "ParameterError", "collection is missing: origin requires it"),
		refused("image", object{"geometry": object{"type": "Point", "coordinates": list{200, 0}}}, "QueryError", "coordinates[1] is 200"),
		refused("image", object{"acquisition_date": "yesterday"}, "ParameterError", "must be a date"),
	}
	for _, kind := range []string{"file", "image", "mesh", "pcl", "raster", "vector"} {
		cases = append(cases, refusedCase{"datasets.create_" + kind + "_dataset", object{"name": "n"}, "ParameterError", "company or project is missing"})
	}
	testRefused(t, cases)
}

// The tables of the caller stay as they are: ingestion is completed, a name of
// a vertical system replaced, in a copy.
func TestDatasetCreationKeepsTheCallersTables(t *testing.T) {
	c, _ := record(t, map[string]string{"": `{"_id":"d1"}`})
	ingestion := object{"parameters": object{"a": 1}}
	if _, err := invoke(t, c, "datasets.create_image_dataset", object{"name": "n", "project": "p1", "parse_metadata": true, "extra": object{"ingestion": ingestion}}); err != nil {
		t.Fatal(err)
	}
	if len(ingestion["parameters"].(object)) != 1 {
		t.Errorf("ingestion was changed: %v", ingestion)
	}
	c, r := record(t, map[string]string{"": `[{"_id":"a"}]`})
	dataset := object{"vertical_srs_wkt": "egm96"}
	if _, err := invoke(t, c, "datasets.create_datasets", object{"datasets": list{dataset}}); err != nil {
		t.Fatal(err)
	}
	if dataset["vertical_srs_wkt"] != "egm96" || !strings.Contains(r.last(t).Body, `VERT_CS[\"EGM96`) {
		t.Errorf("the caller's dataset is %v, sent %s", dataset, r.last(t))
	}
}

func TestDatasetsOnTheWire(t *testing.T) {
	testWire(t, []wireCase{
		{call: "datasets.delete", args: object{"dataset": "d1"}, want: one(dataPath + `delete-datasets {"datasets":["d1"]}`)},
		{call: "datasets.delete", args: object{"dataset": list{"d1", "d2"}, "extra": object{"permanent": true}}, want: one(dataPath + `delete-datasets {"datasets":["d1","d2"],"permanent":true}`)},
		{call: "datasets.delete", args: object{"dataset": schema.Empty{}}},
		{call: "datasets.restore", args: object{"dataset": "d1"}, want: one(dataPath + `restore-datasets {"datasets":["d1"]}`)},
		{call: "datasets.describe", args: object{"dataset": "d1", "extra": object{"fields": object{"include": list{"name"}}}}, want: one(dataPath + `describe-dataset {"dataset":"d1","fields":{"include":["name"]}}`)},
		{call: "datasets.describe", args: object{"dataset": list{"d1"}}, answer: "[]", want: one(dataPath + `describe-datasets {"datasets":["d1"]}`)},
		{call: "datasets.rename", args: object{"dataset": "d1", "name": "x"}, want: one(dataPath + `rename-dataset {"dataset":"d1","name":"x"}`)},
		{call: "datasets.add_categories", args: object{"dataset": "d1", "categories": list{"a"}}, want: one(dataPath + `add-dataset-categories {"dataset":"d1","categories":["a"]}`)},
		{call: "datasets.remove_categories", args: object{"dataset": "d1", "categories": schema.Empty{}}, want: one(dataPath + `delete-dataset-categories {"dataset":"d1","categories":[]}`)},
		{call: "datasets.update_properties", args: object{"dataset": "d1", "properties": object{"a.b": 1, "$c": nil}}, want: one(dataPath + `update-dataset-properties {"dataset":"d1","properties":{"a.b":1,"$c":null}}`)},
		{call: "datasets.delete_properties", args: object{"dataset": "d1", "properties": list{"a"}}, want: one(dataPath + `delete-dataset-properties {"dataset":"d1","properties":["a"]}`)},
		{call: "datasets.search", want: one(dataPath + `search-datasets {"filter":{}}`)},
	})
}

// anyAnswerMD5 is the MD5 of anyAnswer.
var anyAnswerMD5 = fmt.Sprintf("%x", md5.Sum([]byte(anyAnswer)))

// The checksum of a component is asked for while its download begins, unless it
// is given.
func TestDownloadsOnTheWire(t *testing.T) {
	folder := t.TempDir()
	testWire(t, []wireCase{
		{call: "datasets.download_component", args: object{"dataset": "d1", "component": "a b", "target_path": folder, "target_name": "1"},
			sorted: true, want: []string{"GET /data-manager/download-component?component=a+b&dataset=d1", `POST /data-manager/describe-datasets {"datasets":["d1"]}`}},
		{call: "datasets.download_component", args: object{"dataset": "d1", "component": "a b", "target_path": folder, "target_name": "5", "md5hash": anyAnswerMD5},
			want: one("GET /data-manager/download-component?component=a+b&dataset=d1")},
		{call: "datasets.download_image_as_jpeg", args: object{"dataset": "d1", "target_path": folder, "target_name": "2"}, want: one("GET /data-manager/download-image-as-jpeg?dataset=d1")},
		{call: "datasets.download_preview", args: object{"dataset": "d1", "target_path": folder, "target_name": "3"}, want: one("GET /data-manager/download-preview?dataset=d1")},
		{call: "datasets.download_preview", args: object{"dataset": "d1", "kind": "tiny", "target_path": folder, "target_name": "4"}, want: one("GET /data-manager/download-preview?dataset=d1&kind=tiny")},
	})
	testRefused(t, []refusedCase{
		{"datasets.download_preview", object{"dataset": "d1", "kind": "large"}, "ParameterError", "tiny, small"},
		{"datasets.upload_file", object{"dataset": "d1", "component": "image", "file_path": "no such file"}, "UploadError", "no such file"},
		{"datasets.upload_file", object{"dataset": "d1", "component": "image", "file_path": "datasets_test.go", "chunk_size": 1}, "ValueError", ""},
	})
}

// Long lists of ids become several requests, in order.
func TestListsAreCut(t *testing.T) {
	ids := make([]any, 2500)
	for i := range ids {
		ids[i] = fmt.Sprintf("d%04d", i)
	}
	cut := func(t *testing.T, requests []sent, key string, sizes ...int) {
		t.Helper()
		if len(requests) != len(sizes) {
			t.Fatalf("%d requests, want %d", len(requests), len(sizes))
		}
		next := 0
		for i, r := range requests {
			texts := make([]string, sizes[i])
			for j := range texts {
				texts[j] = fmt.Sprintf(`"%s"`, ids[next])
				next++
			}
			if want := fmt.Sprintf(`"%s":[%s]`, key, strings.Join(texts, ",")); !strings.Contains(r.Body, want) {
				t.Errorf("request %d does not hold its %d ids: %.80s", i+1, sizes[i], r.Body)
			}
		}
	}
	t.Run("describe", func(t *testing.T) {
		c, r := record(t, map[string]string{"": `[{"_id":"first"}]` + "\n" + `[{"_id":"second"},{"_id":"third"}]` + "\n[]"})
		v, err := invoke(t, c, "datasets.describe", object{"dataset": ids})
		if err != nil {
			t.Fatal(err)
		}
		cut(t, r.all(), "datasets", 1000, 1000, 500)
		var got []string
		for _, item := range v.Items {
			got = append(got, string(item))
		}
		if want := []string{`{"_id":"first"}`, `{"_id":"second"}`, `{"_id":"third"}`}; !slices.Equal(got, want) {
			t.Errorf("results %v, want %v", got, want)
		}
	})
	for _, name := range []string{"projects", "missions", "flights", "companies"} {
		t.Run(name, func(t *testing.T) {
			c, r := record(t, map[string]string{"": "[]"})
			manager := c.Manager(name)
			if _, err := invoke(t, c, name+".describe", object{manager.Op("describe").Params[0].Name: ids[:1001]}); err != nil {
				t.Fatal(err)
			}
			cut(t, r.all(), name, 1000, 1)
		})
	}
	t.Run("delete", func(t *testing.T) {
		c, r := record(t, nil)
		if _, err := invoke(t, c, "datasets.delete", object{"dataset": ids[:250]}); err != nil {
			t.Fatal(err)
		}
		cut(t, r.all(), "datasets", 100, 100, 50)
	})
	t.Run("restore", func(t *testing.T) {
		c, r := record(t, nil)
		if _, err := invoke(t, c, "datasets.restore", object{"dataset": ids}); err != nil {
			t.Fatal(err)
		}
		cut(t, r.all(), "datasets", 2500)
	})
	t.Run("a chunk fails", func(t *testing.T) {
		c, r := record(t, map[string]string{"": "{}\n{}\n" + `403 {"code":"Forbidden","message":"not yours"}`})
		_, err := invoke(t, c, "datasets.delete", object{"dataset": ids[:450]})
		f := failure(t, err)
		if len(f.Done) != 200 || len(f.Pending) != 250 || f.Done[199] != "d0199" || f.Pending[0] != "d0200" || len(r.all()) != 3 {
			t.Errorf("%d done, %d pending, %d requests", len(f.Done), len(f.Pending), len(r.all()))
		}
		if fault.Find(err).Name() != "ResponseError" || !strings.Contains(err.Error(), "200 of 450 ids were done") {
			t.Errorf("the error is %v", err)
		}
	})
	t.Run("one request an id", func(t *testing.T) {
		c, r := record(t, map[string]string{"": "{}\n404 {}"})
		_, err := invoke(t, c, "analytics.delete", object{"analytic": list{"a1", "a2", "a3"}})
		if f := failure(t, err); !slices.Equal(f.Done, []string{"a1"}) || !slices.Equal(f.Pending, []string{"a2", "a3"}) || len(r.all()) != 2 {
			t.Errorf("done %v, pending %v, requests %v", f.Done, f.Pending, r.all())
		}
	})
}
