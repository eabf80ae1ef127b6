package platform

import (
	"net/http"
	"strings"
	"testing"

	"transect/platform/internal/store"
)

const nothing = "000000000000000000000000" // an identifier of nothing

// list posts and expects an array of objects.
func (s *site) list(route string, body any) []store.Doc {
	s.t.Helper()
	a := s.post(route, body)
	wrapped, err := store.Decode([]byte(`{"all":` + a.text + `}`))
	all, ok := wrapped["all"].([]any)
	if a.status != http.StatusOK || err != nil || !ok {
		s.t.Fatalf("%s %v: %d %s", route, body, a.status, a.text)
	}
	return docsOf(all)
}

func docsOf(list []any) (docs []store.Doc) {
	for _, v := range list {
		docs = append(docs, v.(store.Doc))
	}
	return docs
}

// found searches and returns the texts under a key of the results.
func (s *site) found(route string, body store.Doc, key string) string {
	s.t.Helper()
	var all []string
	for _, doc := range docsOf(s.ok(route, body)["results"].([]any)) {
		all = append(all, store.Text(doc, key))
	}
	return strings.Join(all, " ")
}

func (s *site) remove(path string) answer {
	s.t.Helper()
	return s.do(s.request(http.MethodDelete, path, nil))
}

func point(longitude, latitude float64) store.Doc {
	return store.Doc{"type": "Point", "coordinates": []any{longitude, latitude}}
}

const annotationRoot = "map-service/annotations/"

func TestAnnotations(t *testing.T) {
	s := start(t, Options{})
	project := s.project("quarry")
	mission, _ := s.survey(project, 1)
	raster := s.dataset("raster", store.Doc{"project": project}, "raster")
	file := s.dataset("file", store.Doc{"project": project}, "file")
	doc := s.ok(annotationRoot+"create-annotation", store.Doc{
		"project": project, "mission": mission, "geometry": point(1, 2), "stroke": []any{1, 2, 255}, "stroke_width": 1.5,
		"fill": []any{0, 0, 0, 128}, "fill_opacity": 0, "target": store.Doc{"type": "dataset", "id": raster}, "name": "crack",
		"followers": []any{s.p.secrets.UserID}, "attachments": []any{file, file}, "site": "north",
	})
	id := store.Text(doc, "_id")
	if doc["type"] != "2d" || doc["company"] != s.company || doc["site"] != "north" || len(doc["attachments"].([]any)) != 1 || store.Text(doc, "creation_user") == "" {
		t.Errorf("annotation %v", doc)
	}
	two := s.list(annotationRoot+"create-annotations", store.Doc{"annotations": []any{
		store.Doc{"project": project, "geometry": nil, "name": "a", "type": "3d", "normals": []any{[]any{0, 0, 1}}},
		store.Doc{"project": project, "name": "b", "type": "image"},
	}})
	if len(two) != 2 || two[0]["name"] != "a" || two[1]["type"] != "image" {
		t.Fatalf("annotations %v", two)
	}

	for route, body := range map[string]store.Doc{
		"add-attachments": {"attachments": []any{raster}}, "remove-attachments": {"attachments": file},
		"rename-annotation": {"name": "gap"}, "set-annotation-description": {"description": ""},
		"set-annotation-geometry": {"geometry": point(3, 4)}, "set-annotation-icon": {"icon": nil},
		"set-annotation-fill": {"fill": []any{9, 9, 9, 0.5}}, "set-annotation-fill-opacity": {"fill_opacity": 1},
		"set-annotation-stroke": {"stroke": []any{1, 1, 1}}, "set-annotation-stroke-dasharray": {"stroke_dasharray": []any{2, 1.5}},
		"set-annotation-stroke-opacity": {"stroke_opacity": 0.2}, "set-annotation-stroke-width": {"stroke_width": 3},
		"set-annotation-normals": {"normals": []any{[]any{0, 1, 0}}},
	} {
		body["annotation"] = id
		s.ok(annotationRoot+route, body)
		body["annotation"] = nothing
		s.refused(404, nothing, annotationRoot+route, body)
		s.refused(400, "annotation", annotationRoot+route, store.Doc{"annotation": "short"})
	}
	doc = s.ok(annotationRoot+"describe-annotation", store.Doc{"annotation": id})
	if list := doc["attachments"].([]any); len(list) != 1 || list[0] != raster || doc["name"] != "gap" || doc["description"] != "" || store.Text(doc, "modification_date") == "" {
		t.Errorf("changed annotation %v", doc)
	}
	if all := s.list(annotationRoot+"describe-annotations", store.Doc{"annotations": []any{two[1]["_id"], id}}); len(all) != 2 || all[1]["_id"] != id {
		t.Errorf("described %v", all)
	}

	const search = annotationRoot + "search-annotations"
	other := s.project("other")
	s.ok(annotationRoot+"create-annotation", store.Doc{"project": other, "name": "elsewhere"})
	of := store.Doc{"project": store.Doc{"$eq": project}}
	if got := s.found(search, store.Doc{"filter": of, "sort": store.Doc{"name": -1}, "limit": 2, "page": 1}, "name"); got != "gap b" {
		t.Errorf("first page %q", got)
	}
	s.refused(400, "page", search, store.Doc{"page": 0})
	s.ok(annotationRoot+"delete-annotations", store.Doc{"annotations": []any{id, two[0]["_id"]}})
	s.refused(404, id, annotationRoot+"delete-annotations", store.Doc{"annotations": []any{id}})
	if got := s.found(search, store.Doc{"filter": of}, "name"); got != "b" {
		t.Errorf("after deletion %q", got)
	}
	s.ok(annotationRoot+"restore-annotations", store.Doc{"annotations": []any{id, two[1]["_id"]}})
	s.refused(404, nothing, annotationRoot+"restore-annotations", store.Doc{"annotations": []any{nothing}})
	if got := s.found(search, store.Doc{"filter": of}, "name"); got != "gap b" {
		t.Errorf("after restoring %q", got)
	}

	// The project takes its annotations with it.
	if a := s.remove("/project-manager/projects/" + project); a.status != 200 {
		t.Fatal(a.text)
	}
	if got := s.found(search, store.Doc{}, "name"); got != "elsewhere" {
		t.Errorf("after the project's deletion %q", got)
	}
	s.refused(409, "is deleted", annotationRoot+"restore-annotations", store.Doc{"annotations": []any{id}})
}

func TestAnnotationRefusals(t *testing.T) {
	s := start(t, Options{})
	project, other := s.project("p"), s.project("q")
	mission, _ := s.survey(other, 1)
	elsewhere := s.dataset("raster", store.Doc{"project": other}, "raster")
	for _, c := range []struct {
		status int
		want   string
		body   store.Doc
	}{
		{400, "project: is required", store.Doc{"project": nil}},
		{404, "project", store.Doc{"project": nothing}},
		{400, "is not in project", store.Doc{"mission": mission}},
		{404, "mission", store.Doc{"mission": nothing}},
		{400, "is not in project", store.Doc{"target": store.Doc{"type": "dataset", "id": elsewhere}}},
		{404, "target.id", store.Doc{"target": store.Doc{"type": "dataset", "id": nothing}}},
		{400, "target.type", store.Doc{"target": store.Doc{"type": "mission", "id": mission}}},
		{400, "target.id", store.Doc{"target": store.Doc{"type": "dataset"}}},
		{400, "target", store.Doc{"target": elsewhere}},
		{404, "followers", store.Doc{"followers": []any{nothing}}},
		{404, "attachments", store.Doc{"attachments": []any{nothing}}},
		{400, "attachments", store.Doc{"attachments": []any{1}}},
		{400, "type", store.Doc{"type": "4d"}},
		{400, "geometry", store.Doc{"geometry": store.Doc{"type": "Polygon", "coordinates": []any{[]any{1, 2}}}}},
		{400, "stroke: must be a list of 3 numbers", store.Doc{"stroke": []any{1, 2}}},
		{400, "fill[1]: must be between 0 and 255", store.Doc{"fill": []any{1, 256, 1}}},
		{400, "fill[0]: must be a whole number", store.Doc{"fill": []any{0.5, 0, 0}}},
		{400, "stroke_opacity: must be between 0 and 1", store.Doc{"stroke_opacity": 2}},
		{400, "stroke_width: must be at least 0", store.Doc{"stroke_width": -1}},
		{400, "stroke_width: must be a number", store.Doc{"stroke_width": "1"}},
		{400, "stroke_dasharray", store.Doc{"stroke_dasharray": "1 2"}},
		{400, "normals[0]: must be a vector", store.Doc{"normals": []any{[]any{1, 2}}}},
		{400, "icon", store.Doc{"icon": 1}},
		{400, "name", store.Doc{"name": 1}},
		{400, "creation_date", store.Doc{"creation_date": "x"}},
	} {
		body := store.Doc{"project": project}
		for key, value := range c.body {
			body[key] = value
		}
		s.refused(c.status, c.want, annotationRoot+"create-annotation", body)
		s.refused(c.status, "", annotationRoot+"create-annotations", store.Doc{"annotations": []any{store.Doc{"project": project}, body}})
	}
	s.refused(400, "annotations[0]: must be an object", annotationRoot+"create-annotations", store.Doc{"annotations": []any{"x"}})
	if got := s.found(annotationRoot+"search-annotations", store.Doc{}, "_id"); got != "" {
		t.Errorf("a refused request left %q", got)
	}
}
