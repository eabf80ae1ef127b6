package platform

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"transect/platform/internal/store"
)

func (s *site) feature(more store.Doc) string {
	s.t.Helper()
	return store.Text(s.ok(featureRoot+"create-feature", more), "_id")
}

func TestFeatures(t *testing.T) {
	s := start(t, Options{})
	file := s.dataset("file", store.Doc{"company": s.company}, "file")
	id := s.feature(store.Doc{"geometry": point(1, 2), "properties": store.Doc{"height": 3, "kind": "oak"}})
	two := s.list(featureRoot+"create-features", store.Doc{"features": []any{
		store.Doc{"properties": store.Doc{"height": 4}}, store.Doc{"geometry": point(5, 6)},
	}})
	second, third := store.Text(two[0], "_id"), store.Text(two[1], "_id")

	doc := s.ok(featureRoot+"update-feature-properties", store.Doc{"feature": id, "properties": store.Doc{"kind": "ash", "age": 80}})
	if store.Text(doc, "properties.kind") != "ash" || store.Lookup(doc, "properties.height") != json.Number("3") {
		t.Errorf("updated %v", doc)
	}
	changed := s.list(featureRoot+"update-features-properties", store.Doc{id: store.Doc{"age": 81}, second: store.Doc{"age": 9}})
	if len(changed) != 2 {
		t.Errorf("updated %v", changed)
	}
	doc = s.ok(featureRoot+"delete-feature-properties", store.Doc{"feature": id, "properties": []any{"kind", "never"}})
	if properties := doc["properties"].(store.Doc); len(properties) != 2 || properties["age"] != json.Number("81") {
		t.Errorf("properties %v", properties)
	}
	changed = s.list(featureRoot+"delete-features-properties", store.Doc{id: []any{"age"}})
	if len(changed) != 1 || len(changed[0]["properties"].(store.Doc)) != 1 {
		t.Errorf("properties %v", changed)
	}
	s.ok(featureRoot+"set-feature-geometry", store.Doc{"feature": id, "geometry": point(7, 8)})
	s.ok(featureRoot+"add-attachments", store.Doc{"feature": id, "attachments": []any{file}})
	if doc := s.ok(featureRoot+"describe-feature", store.Doc{"feature": id}); doc["attachments"].([]any)[0] != file {
		t.Errorf("attached %v", doc)
	}
	s.ok(featureRoot+"remove-attachments", store.Doc{"feature": id, "attachments": []any{file}})

	const search = featureRoot + "search-features"
	if got := s.found(search, store.Doc{"filter": store.Doc{"properties.height": store.Doc{"$gte": 3}}, "limit": 1, "page": 1}, "_id"); got != id {
		t.Errorf("first page %q", got)
	}
	s.refused(400, "page", search, store.Doc{"page": 0})

	s.ok(featureRoot+"delete-feature", store.Doc{"feature": id})
	s.ok(featureRoot+"delete-features", store.Doc{"features": []any{second}})
	s.refused(404, id, featureRoot+"describe-features", store.Doc{"features": []any{id, third}})
	s.ok(featureRoot+"restore-feature", store.Doc{"feature": id})
	s.ok(featureRoot+"restore-features", store.Doc{"features": []any{second, third}})
	if all := s.list(featureRoot+"describe-features", store.Doc{"features": []any{third, id}}); len(all) != 2 || all[0]["_id"] != third {
		t.Errorf("described %v", all)
	}
	s.ok(featureRoot+"delete-feature", store.Doc{"feature": id})
	s.ok(featureRoot+"delete-feature-permanently", store.Doc{"feature": id})
	s.ok(featureRoot+"delete-features-permanently", store.Doc{"features": []any{second}})
	s.refused(404, id, featureRoot+"restore-feature", store.Doc{"feature": id})
	s.refused(404, second, featureRoot+"delete-features-permanently", store.Doc{"features": []any{third, second}})
	if got := s.found(search, store.Doc{}, "_id"); got != third {
		t.Errorf("left are %q", got)
	}

	for route, body := range map[string]store.Doc{
		"create-feature":             {"collection": nothing},
		"create-features":            {"features": []any{store.Doc{"attachments": []any{nothing}}}},
		"describe-feature":           {"feature": nothing},
		"delete-feature":             {"feature": nothing},
		"delete-features":            {"features": []any{nothing}},
		"restore-features":           {"features": []any{nothing}},
		"set-feature-geometry":       {"feature": nothing, "geometry": point(1, 1)},
		"add-attachments":            {"feature": third, "attachments": []any{nothing}},
		"update-feature-properties":  {"feature": nothing, "properties": store.Doc{}},
		"update-features-properties": {third: store.Doc{"a": 1}, nothing: store.Doc{}},
		"delete-features-properties": {nothing: []any{}},
	} {
		s.refused(404, nothing, featureRoot+route, body)
	}
	for route, body := range map[string]store.Doc{
		"create-feature":             {"geometry": store.Doc{"type": "Circle"}},
		"create-features":            {"features": []any{1}},
		"set-feature-geometry":       {"feature": third},
		"update-feature-properties":  {"feature": third, "properties": []any{}},
		"update-features-properties": {third: 1},
		"delete-features-properties": {"short": []any{}},
		"delete-feature-properties":  {"feature": third, "properties": "a"},
		"delete-features":            {"features": third},
	} {
		s.refused(400, "", featureRoot+route, body)
	}
	if doc := s.ok(featureRoot+"describe-feature", store.Doc{"feature": third}); len(doc["properties"].(store.Doc)) != 0 {
		t.Errorf("a refused request changed %v", doc)
	}
}

func TestCollections(t *testing.T) {
	s := start(t, Options{})
	oak, ash := s.feature(store.Doc{"geometry": point(1, 2)}), s.feature(store.Doc{"geometry": point(3, 4)})
	doc := s.ok(featureRoot+"create-collection", store.Doc{"name": "trees", "features": []any{oak}, "schema": store.Doc{"type": "object"}})
	id := store.Text(doc, "_id")
	if list := doc["features"].([]any); len(list) != 1 || list[0] != oak || doc["company"] != s.company {
		t.Errorf("collection %v", doc)
	}
	elm := s.feature(store.Doc{"collection": id, "geometry": nil, "properties": store.Doc{"dead": true}})
	many := s.list(featureRoot+"create-collections", store.Doc{"collections": []any{store.Doc{"name": "empty"}, store.Doc{"features": []any{ash}}}})
	if got := s.found(featureRoot+"search-features", store.Doc{"filter": store.Doc{"collection": store.Doc{"$eq": id}}}, "_id"); got != oak+" "+elm {
		t.Errorf("features of the collection: %q", got)
	}
	all := s.list(featureRoot+"describe-collections", store.Doc{"collections": []any{many[0]["_id"], id}})
	if len(all[0]["features"].([]any)) != 0 || len(all[1]["features"].([]any)) != 2 {
		t.Errorf("described %v", all)
	}
	doc = s.ok(featureRoot+"describe-collection", store.Doc{"collection": id, "fields": store.Doc{"include": []any{"name"}}})
	if len(doc) != 2 || doc["name"] != "trees" {
		t.Errorf("two keys: %v", doc)
	}

	s.refused(409, "already", featureRoot+"create-collection", store.Doc{"features": []any{oak}})
	s.refused(404, nothing, featureRoot+"create-collection", store.Doc{"features": []any{nothing}})
	s.refused(400, "schema", featureRoot+"create-collections", store.Doc{"collections": []any{store.Doc{"schema": 1}}})
	s.refused(404, nothing, featureRoot+"describe-collection", store.Doc{"collection": nothing})
	eleven := []any{}
	for range 11 {
		eleven = append(eleven, id)
	}
	s.refused(400, "at most 10", featureRoot+"describe-collections", store.Doc{"collections": eleven})

	// Restoring brings back what the deletion hid, not what was deleted before.
	s.ok(featureRoot+"delete-feature", store.Doc{"feature": elm})
	s.ok(featureRoot+"delete-collection", store.Doc{"collection": id})
	s.refused(404, id, featureRoot+"delete-collections", store.Doc{"collections": []any{id}})
	s.refused(404, oak, featureRoot+"describe-feature", store.Doc{"feature": oak})
	s.refused(409, "collection", featureRoot+"restore-feature", store.Doc{"feature": oak})
	s.ok(featureRoot+"restore-collections", store.Doc{"collections": []any{id}})
	s.ok(featureRoot+"restore-collection", store.Doc{"collection": id})
	if doc := s.ok(featureRoot+"describe-feature", store.Doc{"feature": oak}); doc[deletedWith] != nil || doc["deletion_date"] != nil {
		t.Errorf("restored %v", doc)
	}
	s.refused(404, elm, featureRoot+"describe-feature", store.Doc{"feature": elm})

	// A vector dataset shows a collection that is there.
	vector := func(id string) store.Doc {
		return store.Doc{"type": "vector", "name": "trees", "company": s.company, "source": store.Doc{"name": "map-service"},
			"components": []any{store.Doc{"name": "collection", "collection": store.Doc{"id": id}}}}
	}
	s.refused(404, "collection", "data-manager/create-dataset", vector(nothing))
	doc = s.ok("data-manager/create-dataset", vector(id))
	if store.Text(doc, "ingestion.status") != "completed" {
		t.Errorf("vector dataset %v", doc)
	}
	s.refused(409, "vector dataset", featureRoot+"delete-collection-permanently", store.Doc{"collection": id})
	s.ok("data-manager/delete-datasets", store.Doc{"datasets": []any{doc["_id"]}})
	s.ok(featureRoot+"delete-collection-permanently", store.Doc{"collection": id})
	s.ok(featureRoot+"delete-collections-permanently", store.Doc{"collections": []any{many[0]["_id"]}})
	s.refused(404, id, featureRoot+"delete-collection-permanently", store.Doc{"collection": id})
	s.refused(404, id, featureRoot+"restore-collection", store.Doc{"collection": id})
	for _, gone := range []string{oak, elm} {
		s.refused(404, gone, featureRoot+"restore-feature", store.Doc{"feature": gone})
	}
	s.ok(featureRoot+"describe-feature", store.Doc{"feature": ash})
}

func TestExportCollection(t *testing.T) {
	s := start(t, Options{})
	id := store.Text(s.ok(featureRoot+"create-collection", store.Doc{"name": "été"}), "_id")
	const count = 2*exportPage + 1
	var list []any
	for i := range count {
		list = append(list, store.Doc{"collection": id, "geometry": point(float64(i%180), 1), "properties": store.Doc{"n": i}})
	}
	s.list(featureRoot+"create-features", store.Doc{"features": list})
	a := s.post(featureRoot+"export-collection", store.Doc{"collection": id, "format": "geojson"})
	if a.doc["type"] != "FeatureCollection" || a.doc["name"] != "été" || !strings.Contains(a.header.Get("Content-Type"), "geo+json") {
		t.Fatalf("export: %d %.200s", a.status, a.text)
	}
	features := docsOf(a.doc["features"].([]any))
	if len(features) != count {
		t.Fatalf("%d features", len(features))
	}
	for i, feature := range features {
		if feature["type"] != "Feature" || store.Text(feature, "id") == "" || store.Lookup(feature, "properties.n") != json.Number(fmt.Sprint(i)) {
			t.Fatalf("feature %d: %v", i, feature)
		}
	}
	empty := store.Text(s.ok(featureRoot+"create-collection", store.Doc{}), "_id")
	if a := s.post(featureRoot+"export-collection", store.Doc{"collection": empty}); a.text != `{"type":"FeatureCollection","features":[]}` {
		t.Errorf("empty export %s", a.text)
	}
	s.refused(404, nothing, featureRoot+"export-collection", store.Doc{"collection": nothing})
	s.refused(400, "format", featureRoot+"export-collection", store.Doc{"collection": id, "format": "dwg"})
}
