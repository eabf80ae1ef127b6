package client

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"transect/client/fault"
	"transect/client/schema"
)

const annotationsPath = "POST /map-service/annotations/"

func point(x, y float64) map[string]any {
	return map[string]any{"type": "Point", "coordinates": []any{x, y}}
}

func TestAnnotationsOnTheWire(t *testing.T) {
	call := func(operation string, args map[string]any, want ...string) wireCase {
		return wireCase{call: "annotations." + operation, args: args, want: want, answer: `{"_id":"a1"}`}
	}
	id := map[string]any{"annotation": "a1"}
	with := func(key string, v any) map[string]any { return map[string]any{"annotation": "a1", key: v} }
	testWire(t, []wireCase{
		call("create", map[string]any{"project": "p"}, annotationsPath+`create-annotation {"project":"p","type":"2d","geometry":null}`),
		call("create", map[string]any{"project": "p", "mission": "m", "geometry": point(4, 50), "stroke": []any{1, 2, 3.0}, "stroke_dasharray": []any{4, 2},
			"icon": "CONVEYOR", "stroke_width": 0.0, "stroke_opacity": 0.5, "fill": []any{0, 0, 255, 128}, "fill_opacity": 0, "target": "d1",
			"name": "heap", "description": "", "followers": []any{"u1"}, "attachments": []any{"d2", map[string]any{"_id": "d3"}},
			"normals": []any{[]any{0, 0, 1}}, "extra": map[string]any{"visible": true}},
			annotationsPath+`create-annotation {"project":"p","mission":"m","geometry":{"type":"Point","coordinates":[4,50]},"stroke":[1,2,3],
			"stroke_dasharray":[4,2],"icon":"delair::icon::conveyor","stroke_width":0,"stroke_opacity":0.5,"fill":[0,0,255,128],"fill_opacity":0,
			"type":"2d","target":{"id":"d1","type":"dataset"},"name":"heap","description":"","followers":["u1"],"attachments":["d2","d3"],
			"normals":[[0,0,1]],"visible":true}`),
		call("create", map[string]any{"project": "p", "type": "image", "target": "d1", "geometry": point(1200, 800), "icon": "my own"},
			annotationsPath+`create-annotation {"project":"p","type":"image","geometry":{"type":"Point","coordinates":[1200,800]},"icon":"my own",
			"target":{"id":"d1","type":"dataset"}}`),
		{call: "annotations.create_annotations", answer: `[{"_id":"a1"},{"_id":"a2"}]`, args: map[string]any{"annotations": []any{
			map[string]any{"project": "p", "icon": "SPEEDLIMITUS10", "target": "d1", "attachments": schema.Empty{}, "tint": 7},
			map[string]any{"project": "p", "type": "3d", "geometry": point(500, 900), "target": map[string]any{"type": "photo", "id": "d2"}, "extra": map[string]any{"colr": 1}}},
			"extra": map[string]any{"quiet": true}},
			want: []string{annotationsPath + `create-annotations {"quiet":true,"annotations":[
			{"project":"p","type":"2d","geometry":null,"icon":"delair::icon::speedlimitUS10","target":{"id":"d1","type":"dataset"},"attachments":[],"tint":7},
			{"project":"p","type":"3d","geometry":{"type":"Point","coordinates":[500,900]},"target":{"type":"photo","id":"d2"},"colr":1}]}`}},
		call("create", map[string]any{"project": "p", "mission": schema.Null{}, "name": schema.Null{}},
			annotationsPath+`create-annotation {"project":"p","mission":null,"name":null,"type":"2d","geometry":null}`),
		{call: "annotations.create_annotations", answer: `[{"_id":"a1"}]`, args: map[string]any{"annotations": []any{
			map[string]any{"project": "p", "mission": schema.Null{}, "description": schema.Null{}, "colr": schema.Null{}}}},
			want: []string{annotationsPath + `create-annotations {"annotations":[{"project":"p","mission":null,"description":null,"colr":null,"type":"2d","geometry":null}]}`}},
		call("add_attachments", with("attachments", []any{"d1"}), annotationsPath+`add-attachments {"annotation":"a1","attachments":["d1"]}`),
		call("remove_attachments", with("attachments", "d1"), annotationsPath+`remove-attachments {"annotation":"a1","attachments":"d1"}`),
		call("remove_attachments", with("attachments", []any{"d1", "d2"}), annotationsPath+`remove-attachments {"annotation":"a1","attachments":["d1","d2"]}`),
		call("delete", id, annotationsPath+`delete-annotations {"annotations":["a1"]}`),
		call("restore", map[string]any{"annotation": []any{"a1", "a2"}}, annotationsPath+`restore-annotations {"annotations":["a1","a2"]}`),
		call("describe", id, annotationsPath+`describe-annotation {"annotation":"a1"}`),
		call("rename", with("name", "x"), annotationsPath+`rename-annotation {"annotation":"a1","name":"x"}`),
		call("set_description", with("description", ""), annotationsPath+`set-annotation-description {"annotation":"a1","description":""}`),
		call("set_fill_color", with("color", []any{1, 2, 3}), annotationsPath+`set-annotation-fill {"annotation":"a1","fill":[1,2,3]}`),
		call("set_fill_color", map[string]any{"annotation": "a1", "color": []any{1, 2, 3}, "opacity": 0},
			annotationsPath+`set-annotation-fill {"annotation":"a1","fill":[1,2,3,0]}`),
		call("set_stroke_color", map[string]any{"annotation": "a1", "color": []any{1, 2, 3}, "opacity": 0.5},
			annotationsPath+`set-annotation-stroke {"annotation":"a1","stroke":[1,2,3,0.5]}`),
		call("set_fill_opacity", with("opacity", 0), annotationsPath+`set-annotation-fill-opacity {"annotation":"a1","fill_opacity":0}`),
		call("set_stroke_opacity", with("opacity", 1), annotationsPath+`set-annotation-stroke-opacity {"annotation":"a1","stroke_opacity":1}`),
		call("set_stroke_width", with("width", 2.5), annotationsPath+`set-annotation-stroke-width {"annotation":"a1","stroke_width":2.5}`),
		call("set_stroke_dasharray", with("dasharray", []any{2.5, 1}), annotationsPath+`set-annotation-stroke-dasharray {"annotation":"a1","stroke_dasharray":[2.5,1]}`),
		call("set_geometry", with("geometry", point(1, 2)), annotationsPath+`set-annotation-geometry {"annotation":"a1","geometry":{"type":"Point","coordinates":[1,2]}}`),
		call("set_icon", id, annotationsPath+`set-annotation-icon {"annotation":"a1","icon":"delair::icon::annotate"}`),
		call("set_icon", with("icon", "ANNOTATE"), annotationsPath+`set-annotation-icon {"annotation":"a1","icon":"delair::icon::annotate"}`),
		call("set_normals", with("normals", []any{[]any{0, 0, 1}}), annotationsPath+`set-annotation-normals {"annotation":"a1","normals":[[0,0,1]]}`),
		{call: "annotations.search", args: map[string]any{"project": "p", "filter": map[string]any{"name": map[string]any{"$eq": "x"}}},
			want: []string{annotationsPath + `search-annotations {"filter":{"name":{"$eq":"x"},"project":{"$eq":"p"}}}`}},
	})
}

func TestAnnotationsRefused(t *testing.T) {
	create := func(key string, v any, name, text string) refusedCase {
		return refusedCase{"annotations.create", map[string]any{"project": "p", key: v}, name, text}
	}
	testRefused(t, []refusedCase{
		create("type", "4d", "ValueError", `must be one of 2d, 3d, image`),
		create("stroke", []any{1, 2}, "ParameterError", "argument stroke: needs red, green, blue"),
		create("fill", []any{1, 2, 256}, "ValueError", "argument fill: number 3 is 256"),
		create("stroke", []any{1, 2, 0.5}, "ParameterError", "stroke[3] must be an integer"),
		create("stroke_opacity", 1.5, "ValueError", "argument stroke_opacity: 1.5 is outside 0 to 1"),
		create("fill_opacity", -1, "ValueError", "argument fill_opacity: -1"),
		create("icon", "CONVEYER", "ParameterError", "no icon CONVEYER"),
		create("geometry", point(1200, 800), "QueryError", "argument geometry: coordinates[1] is 1200"),
		create("geometry", map[string]any{"type": "Point"}, "QueryError", "needs coordinates"),
		create("normals", []any{[]any{1, 2}}, "ParameterError", "argument normals: item 1 needs three numbers"),
		create("file_paths", []any{"no such file"}, "UploadError", "there is no file no such file"),
		{"annotations.create_annotations", map[string]any{"annotations": []any{map[string]any{"project": "p"}, map[string]any{"name": "x"}}},
			"ParameterError", "annotations[2]: project is missing"},
		{"annotations.create_annotations", map[string]any{"annotations": []any{map[string]any{"project": "p", "strok": []any{1, 2, 3}}}},
			"ParameterError", "annotations[1]: unknown key strok"},
		{"annotations.create_annotations", map[string]any{"annotations": []any{map[string]any{"project": "p", "fill": []any{1}}}},
			"ParameterError", "annotations[1]: argument fill"},
		{"annotations.add_attachments", map[string]any{"annotation": "a"}, "ParameterError", "attachments or file_paths is missing"},
		{"annotations.set_fill_color", map[string]any{"annotation": "a", "color": []any{1, 2, 3, 4}, "opacity": 0.5}, "ParameterError", "four numbers already"},
		{"annotations.set_stroke_color", map[string]any{"annotation": "a", "color": []any{1, 2, 3}, "opacity": 2}, "ValueError", "argument opacity: 2"},
		{"annotations.set_fill_opacity", map[string]any{"annotation": "a", "opacity": 2}, "ValueError", "argument opacity: 2"},
		{"annotations.set_stroke_opacity", map[string]any{"annotation": "a", "opacity": -0.1}, "ValueError", "argument opacity: -0.1"},
		{"annotations.set_icon", map[string]any{"annotation": "a", "icon": "ANOTATE"}, "ParameterError", "no icon ANOTATE"},
		{"annotations.search", map[string]any{"project": "p", "filter": map[string]any{"project": map[string]any{"$eq": "q"}}}, "ParameterError", "cannot be combined"},
	})
}

func TestIcons(t *testing.T) {
	if n := len(Icons()); n != 105 || !slices.IsSorted(Icons()) {
		t.Errorf("%d icons, sorted %t", n, slices.IsSorted(Icons()))
	}
	for name, want := range map[string]string{
		"ANNOTATE": "delair::icon::annotate", "CROSSROADS": "delair::icon::crossroads", "CROSSROADSUS": "delair::icon::crossroadsUS",
		"SPEEDLIMITUS15": "delair::icon::speedlimitUS15", "PRIORITY10": "delair::icon::priority10", "delair::icon::new": "delair::icon::new", "conveyor": "conveyor", "": "",
	} {
		if got, err := IconText(name); got != want || err != nil {
			t.Errorf("IconText(%q) = %q, %v; want %q", name, got, err, want)
		}
	}
	_, err := IconText("CONVEYER")
	if f := fault.Find(err); f == nil || f.Facts().Hint != "did you mean CONVEYOR?" {
		t.Errorf("the nearest name is not suggested: %v", err)
	}
}

// attachable writes a TIFF, whose extension does not say so, and a text.
func attachable(t *testing.T) (image, text string) {
	t.Helper()
	folder := t.TempDir()
	image, text = filepath.Join(folder, "heap.dat"), filepath.Join(folder, "notes.jpg")
	for path, content := range map[string]string{image: "II*\x00 and so on", text: "plain words"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return image, text
}

// attachmentAnswers let two files become the datasets d1 and d2.
func attachmentAnswers() map[string]string {
	return map[string]string{
		"POST /data-manager/create-dataset":                 `{"_id":"d1"}` + "\n" + `{"_id":"d2"}`,
		"POST /data-manager/init-upload-component":          `{"put_url":"/storage"}`,
		"POST /map-service/annotations/describe-annotation": `{"_id":"a1","project":"p1"}`,
		"POST /map-service/annotations/create-annotations":  `[{"_id":"a1"},{"_id":"a2"}]`,
		"POST /data-manager/complete-upload-component":      `{}`,
		"POST /map-service/annotations/create-annotation":   `{"_id":"a1"}`,
		"POST /map-service/annotations/add-attachments":     `{}`,
	}
}

func routes(requests []sent) []string {
	var list []string
	for _, r := range requests {
		list = append(list, r.Method+" "+r.Path[strings.LastIndex(r.Path, "/")+1:])
	}
	return list
}

var twoUploads = []string{
	"POST create-dataset", "POST init-upload-component", "PUT storage", "POST complete-upload-component",
	"POST create-dataset", "POST init-upload-component", "PUT storage", "POST complete-upload-component",
}

func checkUploads(t *testing.T, requests []sent) {
	t.Helper()
	for i, want := range map[int]string{
		0: `POST /data-manager/create-dataset {"name":"heap.dat","project":"p1","type":"image","components":[{"name":"image"}]}`,
		4: `POST /data-manager/create-dataset {"name":"notes.jpg","project":"p1","type":"file","components":[{"name":"file"}]}`,
	} {
		if !sameRequest(t, requests[i].String(), want) {
			t.Errorf("request %d:\n got %s\nwant %s", i+1, requests[i], want)
		}
	}
	if body := requests[1].Body; !strings.Contains(body, `"component":"image"`) {
		t.Errorf("the image goes to %s", body)
	}
}

func TestAnnotationWithFiles(t *testing.T) {
	image, text := attachable(t)
	t.Run("create", func(t *testing.T) {
		c, r := record(t, attachmentAnswers())
		v, err := invoke(t, c, "annotations.create", map[string]any{"project": "p1", "attachments": []any{"d0"}, "file_paths": []any{image, text}})
		if err != nil || string(v.JSON) != `{"_id":"a1"}` {
			t.Fatal(string(v.JSON), err)
		}
		requests := r.all()
		if got, want := routes(requests), append(slices.Clone(twoUploads), "POST create-annotation"); !reflect.DeepEqual(got, want) {
			t.Fatalf("requests %v, want %v", got, want)
		}
		checkUploads(t, requests)
		if want := annotationsPath + `create-annotation {"project":"p1","type":"2d","geometry":null,"attachments":["d0","d1","d2"]}`; !sameRequest(t, r.last(t).String(), want) {
			t.Errorf("got %s, want %s", r.last(t), want)
		}
	})
	t.Run("create_annotations", func(t *testing.T) {
		c, r := record(t, attachmentAnswers())
		list := []CreateAnnotation{
			{Project: "p1", Attachments: []ID{"d0"}, FilePaths: []Path{Path(image)}},
			{Project: "p1", FilePaths: []Path{Path(text)}},
		}
		made, err := c.Annotations.CreateAnnotations(t.Context(), CreateAnnotations{Annotations: list})
		if err != nil || len(made) != 2 || made[1].ID != "a2" {
			t.Fatal(made, err)
		}
		checkUploads(t, r.all())
		want := annotationsPath + `create-annotations {"annotations":[{"project":"p1","type":"2d","geometry":null,"attachments":["d0","d1"]},
			{"project":"p1","type":"2d","geometry":null,"attachments":["d2"]}]}`
		if !sameRequest(t, r.last(t).String(), want) {
			t.Errorf("got %s, want %s", r.last(t), want)
		}
		if len(list[0].Attachments) != 1 || list[0].FilePaths == nil {
			t.Error("the caller's own table was changed")
		}
	})
	t.Run("add_attachments", func(t *testing.T) {
		c, r := record(t, attachmentAnswers())
		if _, err := invoke(t, c, "annotations.add_attachments", map[string]any{"annotation": "a1", "file_paths": []any{image, text}}); err != nil {
			t.Fatal(err)
		}
		requests := r.all()
		if want := slices.Concat([]string{"POST describe-annotation"}, twoUploads, []string{"POST add-attachments"}); !reflect.DeepEqual(routes(requests), want) {
			t.Fatalf("requests %v, want %v", routes(requests), want)
		}
		checkUploads(t, requests[1:])
		if want := annotationsPath + `add-attachments {"annotation":"a1","attachments":["d1","d2"]}`; !sameRequest(t, r.last(t).String(), want) {
			t.Errorf("got %s, want %s", r.last(t), want)
		}
	})
	t.Run("failure after the uploads", func(t *testing.T) {
		answers := attachmentAnswers()
		answers["POST /map-service/annotations/create-annotation"] = `400 {"message":"no"}`
		c, _ := record(t, answers)
		_, err := invoke(t, c, "annotations.create", map[string]any{"project": "p1", "file_paths": []any{image, text}})
		if f := fault.Find(err); f == nil || !strings.Contains(f.Facts().Hint, "datasets d1, d2") || f.Facts().Operation != "annotations.create" {
			t.Errorf("the datasets made are not named: %+v", f)
		}
	})
	t.Run("an empty file leaves nothing behind", func(t *testing.T) {
		empty := filepath.Join(t.TempDir(), "empty.txt")
		if err := os.WriteFile(empty, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		c, r := record(t, attachmentAnswers())
		_, err := invoke(t, c, "annotations.create", map[string]any{"project": "p1", "file_paths": []any{image, empty}})
		if err == nil || !strings.Contains(err.Error(), "empty.txt is empty") || len(r.all()) > 0 {
			t.Errorf("%v, requests %v", err, routes(r.all()))
		}
	})
	t.Run("an annotation without a project", func(t *testing.T) {
		c, r := record(t, map[string]string{"": `{"_id":"a1"}`})
		_, err := invoke(t, c, "annotations.add_attachments", map[string]any{"annotation": "a1", "file_paths": []any{image}})
		if f := fault.Find(err); f == nil || f.Name() != "QueryError" || len(r.all()) != 1 {
			t.Errorf("%v, requests %v", err, r.all())
		}
	})
}

func TestAnnotationTyped(t *testing.T) {
	c, r := record(t, map[string]string{"": `{"_id":"a1","project":"p","type":"2d","stroke":[1,2,3,0.5],"target":{"type":"dataset","id":"d"},"normals":[[0,0,1]],"creation_date":"2026-01-01T00:00:00.000Z"}`})
	zero := 0.0
	a, err := c.Annotations.Create(t.Context(), CreateAnnotation{Project: "p", FillOpacity: &zero, Normals: [][]float64{{0, 0, 1}}})
	if err != nil || a.Target.ID != "d" || a.Stroke[3] != 0.5 || a.CreationDate == "" {
		t.Fatal(a, err)
	}
	if want := annotationsPath + `create-annotation {"project":"p","type":"2d","geometry":null,"fill_opacity":0,"normals":[[0,0,1]]}`; !sameRequest(t, r.last(t).String(), want) {
		t.Errorf("got %s", r.last(t))
	}
	if _, err := c.Annotations.SetFillOpacity(t.Context(), SetAnnotationFillOpacity{Ref: Ref{ID: "a1"}}); err != nil {
		t.Errorf("an opacity of 0: %v", err)
	}
}
