package filters

import (
	"strings"
	"testing"

	"transect/client"
	"transect/client/declare"
)

func search(manager string) *declare.Spec {
	for _, m := range client.Declarations() {
		if m.Name == manager {
			return m.Op("search")
		}
	}
	return nil
}

func TestMistakes(t *testing.T) {
	const id = "5f2b3c4d5e6f7a8b9c0d1e2f"
	type object = map[string]any
	for _, c := range []struct {
		manager string
		filter  object
		want    string // the text of the only mistake; "" for none
	}{
		{"datasets", object{"name": "a", "type": "image", "flight": id, "width": int64(3)}, ""},
		{"datasets", object{"naem": object{"$ne": "a"}}, "a dataset has no field naem"},
		{"datasets", object{"naem": object{"$exists": true, "$ne": "a"}}, ""},
		{"datasets", object{"properties.naem": "a", "components.0.name": "file"}, ""},
		{"datasets", object{"weather": object{"$ne": "rain"}}, ""},
		{"datasets", object{"$and": []any{object{"$or": []any{object{"_id": object{"$nin": []any{id, "x"}}}}}}},
			`_id is an id, got "x"`},
		{"datasets", object{"mission": "May", "project": "North"}, ""}, // names are resolved
		{"datasets", object{"id": int64(5)}, "id is an id, got 5"},
		{"datasets", object{"type": "points"}, ""}, // the platform may know more types
		{"datasets", object{"type": "rastr"}, `type is never "rastr"`},
		{"datasets", object{"name": object{"$match": "5"}, "hidden": true}, ""},
		{"datasets", object{"hidden": nil, "width": object{"$gt": nil}}, ""}, // unknown so far
		{"datasets", object{"size": "10"}, ""},
		{"datasets", object{"size": object{"$gt": "10 MB"}}, `size is a number, got "10 MB"`},
		{"datasets", object{"acquisition_date": object{"$gte": "2026-05"}}, ""},
		{"datasets", object{"acquisition_date": object{"$gte": "31.05.2026"}},
			`acquisition_date is a date as text, such as 2026-05-31T00:00:00.000Z, got "31.05.2026"`},
		{"users", object{"company": "ACME"}, `company is an id, got "ACME"`},
		{"features", object{"properties.depth": object{"$gt": int64(10)}}, ""},
	} {
		found := Mistakes(search(c.manager), object{"filter": c.filter})
		var texts []string
		for _, m := range found {
			texts = append(texts, m.Text)
		}
		if got := strings.Join(texts, "; "); got != c.want {
			t.Errorf("%s %v: got %q, want %q", c.manager, c.filter, got, c.want)
		}
	}
}

// TestUnlikely: a possible reason for an empty result is reported.
func TestUnlikely(t *testing.T) {
	type object = map[string]any
	for _, c := range []struct {
		manager string
		filter  object
		want    string // how the text begins
	}{
		{"datasets", object{"status": "done"}, "a dataset is not known to have a field status; did you mean components.status or ingestion.status"},
		{"datasets", object{"weather": object{"$exists": true}}, ""},
		{"datasets", object{"type": "points"}, `"points" is not a known value of type, the kind of dataset: file, image,`},
		{"datasets", object{"type": "image", "properties.x": "done", "name": "done", "ingestion.status": "complete"}, ""},
		{"products", object{"$or": []any{object{"status": object{"$eq": "done"}}}}, `"done" is not a known value of status, the state`},
		{"products", object{"status": "available"}, ""},
		{"datasets", object{"name": object{"$match": "^raw_"}}, `name is compared with the literal text, without patterns`},
		{"datasets", object{"name": "raw_*"}, `name is compared with the literal text`},
		{"datasets", object{"name": "IMG (100%).jpg", "search": object{"$match": "x"}}, ""},
		{"products", object{"status": "canceled"}, ""},
		{"flights", object{"status.name": "done"}, ""},
		{"products", object{"status": object{"$ne": "done"}}, ""},
	} {
		if got := Unlikely(search(c.manager), object{"filter": c.filter}); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s %v: got %q, want %q", c.manager, c.filter, got, c.want)
		}
	}
}

func TestDoubtful(t *testing.T) {
	type object = map[string]any
	for _, c := range []struct {
		values object
		want   string
	}{
		{object{}, ""}, // everything is intended
		{object{"filter": object{}}, "empty"},
		{object{"filter": object{"weather": "rain"}}, ""}, // finds too little at most
		{object{"filter": object{"weather": object{"$ne": "rain"}}}, "weather is not a known field"},
		{object{"filter": object{"$or": []any{object{"weather": object{"$nin": []any{"rain"}}}}}}, "weather is not a known field"},
		{object{"filter": object{"weather": object{"$exists": false}}}, "weather is not a known field"},
		{object{"filter": object{"$and": []any{object{"weather": object{"$exists": true}},
			object{"weather": object{"$ne": "rain"}}}}}, ""},
		{object{"filter": object{"properties.weather": object{"$ne": "rain"}, "name": object{"$ne": "a"}}}, ""},
	} {
		got := Doubtful(search("datasets"), c.values, false)
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%v: got %q, want %q", c.values, got, c.want)
		}
	}
}
