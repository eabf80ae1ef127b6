package platform

import (
	"testing"

	"transect/platform/internal/store"
)

func (s *site) template(name string) string {
	s.t.Helper()
	return store.Text(s.ok(dataflowRoot+"create-datastream-template", store.Doc{
		"name": name, "source": store.Doc{"type": "object-storage"}, "aggregate": store.Doc{"type": "none"},
		"import": store.Doc{"dataset_parameters": store.Doc{"type": "pcl", "categories": []any{"scan"}}},
	}), "_id")
}

func TestDatastreamTemplates(t *testing.T) {
	s := start(t, Options{})
	id, other := s.template("scans"), s.template("others")
	doc := s.ok(dataflowRoot+"describe-datastream-template", store.Doc{"datastreamtemplate": id})
	if store.Text(doc, "import.dataset_parameters.type") != "pcl" || doc["company"] != s.company {
		t.Errorf("template %v", doc)
	}
	if all := s.list(dataflowRoot+"describe-datastream-templates", store.Doc{"datastreamtemplates": []any{other, id}}); len(all) != 2 || all[1]["_id"] != id {
		t.Errorf("described %v", all)
	}
	const search = dataflowRoot + "search-datastream-templates"
	if got := s.found(search, store.Doc{"sort": store.Doc{"name": 1}, "limit": 1, "page": 0}, "name"); got != "others" {
		t.Errorf("first page %q", got)
	}
	for _, key := range []string{"exclude", "exlude"} {
		found := docsOf(s.ok(search, store.Doc{key: []any{"source", "import"}})["results"].([]any))
		if len(found) != 2 || found[0]["source"] != nil || found[0]["import"] != nil || found[0]["name"] != "scans" {
			t.Errorf("%s: %v", key, found)
		}
		s.refused(400, key, search, store.Doc{key: "source"})
		s.refused(400, key, search, store.Doc{key: []any{"source"}, "fields": store.Doc{"include": []any{"name"}}})
	}
	const create = dataflowRoot + "create-datastream-template"
	for want, more := range map[string]store.Doc{
		"name: is required":              {"name": nil},
		"source.type: is required":       {"source": store.Doc{}},
		"import: must be an object":      {"import": "x"},
		"import.dataset_parameters.type": {"import": store.Doc{"dataset_parameters": store.Doc{"type": "film"}}},
		"aggregate: must be an object":   {"aggregate": 1},
	} {
		body := store.Doc{"name": "n", "source": store.Doc{"type": "t"}, "import": store.Doc{}}
		for key, value := range more {
			body[key] = value
		}
		s.refused(400, want, create, body)
	}
	s.refused(409, "already", create, store.Doc{"name": "scans", "source": store.Doc{"type": "t"}, "import": store.Doc{}})
	s.refused(404, nothing, create, store.Doc{"name": "n", "source": store.Doc{"type": "t"}, "import": store.Doc{}, "company": nothing})
	s.ok(dataflowRoot+"delete-datastream-template", store.Doc{"datastreamtemplate": other})
	for _, route := range []string{"delete-datastream-template", "describe-datastream-template"} {
		s.refused(404, other, dataflowRoot+route, store.Doc{"datastreamtemplate": other})
	}
	s.refused(404, other, dataflowRoot+"describe-datastream-templates", store.Doc{"datastreamtemplates": []any{id, other}})
	s.template("others") // the name is free again
}

func TestDatastreams(t *testing.T) {
	s := start(t, Options{})
	template := s.template("scans")
	body := func(more store.Doc) store.Doc {
		all := store.Doc{"name": "daily", "start_date": "2024-05-01", "end_date": "2024-06-01", "template": template,
			"source": store.Doc{"url": "s3://bucket/scans", "regex": ".*", "synchronisation": store.Doc{"type": "continuous"}}}
		for key, value := range more {
			all[key] = value
		}
		return all
	}
	doc := s.ok(dataflowRoot+"create-datastream", body(nil))
	id := store.Text(doc, "_id")
	if doc["company"] != s.company || doc["start_date"] != "2024-05-01T00:00:00.000Z" || store.Text(doc, "source.synchronisation.type") != "continuous" {
		t.Errorf("datastream %v", doc)
	}
	other := store.Text(s.ok(dataflowRoot+"create-datastream", body(store.Doc{"name": "weekly"})), "_id")
	if doc := s.ok(dataflowRoot+"describe-datastream", store.Doc{"datastream": id}); doc["name"] != "daily" {
		t.Errorf("described %v", doc)
	}
	if got := s.found(dataflowRoot+"search-datastreams", store.Doc{"filter": store.Doc{"template": template}, "limit": 1, "page": 1}, "name"); got != "weekly" {
		t.Errorf("second page %q", got)
	}
	for want, more := range map[string]store.Doc{
		"end_date: 2024-04-01T00:00:00.000Z is before": {"end_date": "2024-04-01"},
		"start_date: must be a date":                   {"start_date": "now"},
		"source.url: is required":                      {"source": store.Doc{}},
		"source.synchronisation: must":                 {"source": store.Doc{"url": "u", "synchronisation": "always"}},
		"template: must be an identifier":              {"template": "scans"},
		"is not the company of template":               {"company": nothing},
	} {
		s.refused(400, want, dataflowRoot+"create-datastream", body(more))
	}
	s.refused(404, "template", dataflowRoot+"create-datastream", body(store.Doc{"template": nothing}))

	// What is noted of a source is searched like anything else, and goes with
	// the datastream.
	if err := s.p.store.Write(t.Context(), func(tx *store.Tx) error {
		for i, status := range []string{"pending", "imported", "imported"} {
			stream := []any{id, id, other}[i]
			if err := tx.Insert(datastreamFiles.plural, store.Doc{"_id": s.p.ids.Next(s.p.options.Now()), "datastream": stream, "status": status}); err != nil {
				return err
			}
		}
		return tx.Insert(datastreamAssets.plural, store.Doc{"_id": s.p.ids.Next(s.p.options.Now()), "datastream": id, "asset": template})
	}); err != nil {
		t.Fatal(err)
	}
	const files, assets = dataflowRoot + "search-datastreams-files", dataflowRoot + "search-datastreams-assets-monitoring"
	of := store.Doc{"filter": store.Doc{"datastream": store.Doc{"$eq": id}}, "page": 0}
	if got := s.found(files, of, "status"); got != "pending imported" {
		t.Errorf("files %q", got)
	}
	if got := s.found(assets, of, "asset"); got != template {
		t.Errorf("assets %q", got)
	}
	s.refused(400, "page", files, store.Doc{"page": -1})
	s.refused(400, "filter", assets, store.Doc{"filter": "x"})

	s.refused(409, "is in use by datastream ", dataflowRoot+"delete-datastream-template", store.Doc{"datastreamtemplate": template})
	s.ok(dataflowRoot+"delete-datastream", store.Doc{"datastream": id})
	s.refused(404, id, dataflowRoot+"delete-datastream", store.Doc{"datastream": id})
	s.refused(404, id, dataflowRoot+"describe-datastream", store.Doc{"datastream": id})
	if got := s.found(files, store.Doc{}, "datastream"); got != other {
		t.Errorf("files left of %q", got)
	}
	if got := s.found(assets, store.Doc{}, "asset"); got != "" {
		t.Errorf("assets left %q", got)
	}
	s.ok(dataflowRoot+"delete-datastream", store.Doc{"datastream": other})
	s.ok(dataflowRoot+"delete-datastream-template", store.Doc{"datastreamtemplate": template})
}
