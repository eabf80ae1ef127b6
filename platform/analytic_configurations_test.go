package platform

import (
	"testing"

	"transect/platform/internal/store"
)

const configurationRoot = "analytics-service/"

func TestAnalyticConfigurations(t *testing.T) {
	s := start(t, Options{})
	set := func(name, analytic string) store.Doc {
		return store.Doc{"name": name, "analytic_name": analytic, "versions": []any{
			store.Doc{"analytic_version_range": "1.x", "value": store.Doc{"threshold": 3}}}}
	}
	const create = configurationRoot + "create-analytic-configuration"
	doc := s.ok(create, set("strict", "flight_report"))
	id := store.Text(doc, "_id")
	if doc["company"] != s.company || len(doc["versions"].([]any)) != 1 || store.Text(doc, "creation_date") == "" {
		t.Errorf("set %v", doc)
	}
	lax := store.Text(s.ok(create, set("lax", "flight_report")), "_id")
	rehearsal := store.Text(s.ok(create, set("rehearse", "rehearsal")), "_id")
	s.refused(409, "already", create, set("lax", "rehearsal"))
	s.refused(404, "analytic_name", create, set("new", "nothing_known"))
	for want, versions := range map[string]any{
		"versions: is required":                   nil,
		"versions: must be a list":                "1.x",
		"at least one":                            []any{},
		"versions[0].value: is required":          []any{store.Doc{"analytic_version_range": "*"}},
		"versions[0].analytic_version_range: \"a": []any{store.Doc{"analytic_version_range": "a b", "value": store.Doc{}}},
		"versions[0]: must be an object":          []any{1},
	} {
		body := set("new", "rehearsal")
		body["versions"] = versions
		s.refused(400, want, create, body)
	}

	const update = configurationRoot + "update-analytic-configuration"
	key := "analytic_configuration"
	two := []any{
		store.Doc{"analytic_version_range": "1.x", "value": store.Doc{}}, store.Doc{"analytic_version_range": ">=2", "value": store.Doc{"a": 1}},
	}
	doc = s.ok(update, store.Doc{key: id, "name": "strictest", "description": "d", "versions": two})
	if doc["name"] != "strictest" || doc["description"] != "d" || len(doc["versions"].([]any)) != 2 {
		t.Errorf("updated %v", doc)
	}
	s.ok(update, store.Doc{key: id, "name": "strictest"}) // its own name is no conflict
	s.refused(409, "already", update, store.Doc{key: id, "name": "lax"})
	s.refused(400, "nothing to change", update, store.Doc{key: id})
	s.refused(400, "versions", update, store.Doc{key: id, "versions": []any{store.Doc{}}})
	s.refused(404, nothing, update, store.Doc{key: nothing, "name": "n"})

	const search = configurationRoot + "search-analytic-configurations"
	by := store.Doc{"filter": store.Doc{"analytic_name": "flight_report"}, "sort": store.Doc{"name": -1}, "limit": 1, "page": 0, "fields": store.Doc{"include": []any{"name"}}}
	if got := s.found(search, by, "name"); got != "strictest" {
		t.Errorf("first page %q", got)
	}

	const assign, unassign = configurationRoot + "assign-analytic-configuration-to-company", configurationRoot + "unassign-analytic-configuration-from-company"
	to := func(id string) store.Doc { return store.Doc{key: id, "company": s.company} }
	for range 2 { // once more changes nothing
		relation := s.ok(assign, to(id))
		if relation[key] != id || relation["company"] != s.company || relation["analytic"] != s.analyticID("flight_report", "2.0.0") || len(relation) != 3 {
			t.Errorf("relation %v", relation)
		}
	}
	s.ok(assign, to(rehearsal)) // another analytic
	s.refused(409, "unassign that first", assign, to(lax))
	s.refused(404, "not assigned", unassign, to(lax))
	s.ok(unassign, to(id))
	s.refused(404, "not assigned", unassign, to(id))
	s.ok(assign, to(lax))
	s.refused(404, nothing, assign, to(nothing))
	s.refused(404, "company", assign, store.Doc{key: lax, "company": nothing})
	s.refused(400, "company", assign, store.Doc{key: lax})

	// A deleted set is used by nobody.
	s.ok(configurationRoot+"delete-analytic-configuration", store.Doc{key: lax})
	s.refused(404, lax, configurationRoot+"delete-analytic-configuration", store.Doc{key: lax})
	s.refused(404, lax, configurationRoot+"describe-analytic-configuration", store.Doc{key: lax})
	s.ok(assign, to(id))
	if doc := s.ok(configurationRoot+"describe-analytic-configuration", store.Doc{key: id}); doc["name"] != "strictest" {
		t.Errorf("described %v", doc)
	}
	s.ok(create, set("lax", "rehearsal")) // the name is free again
}
