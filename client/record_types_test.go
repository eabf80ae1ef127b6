package client_test

import (
	"testing"

	"transect/client"
)

func TestRecordFieldsAreDocumented(t *testing.T) {
	for _, r := range client.RecordTypes() {
		if r.Doc == "" {
			t.Errorf("%s has no doc", r.Name)
		}
		everyField(r.Fields, r.Name, func(name string, f client.RecordField) {
			if f.Doc == "" {
				t.Errorf("%s has no doc", name)
			}
		})
	}
}

func everyField(fields []client.RecordField, in string, visit func(name string, f client.RecordField)) {
	for _, f := range fields {
		visit(in+"."+f.Name, f)
		everyField(f.Fields, in+"."+f.Name, visit)
	}
}

func TestRecordField(t *testing.T) {
	for _, c := range []struct {
		manager, name  string
		known          bool
		wire, typ      string
		filter, sorted bool
	}{
		{"datasets", "name", true, "", "string", true, true},
		{"datasets", "id", true, "_id", "id", true, true},
		{"datasets", "_id", true, "_id", "id", true, true},
		{"datasets", "dataset_format", true, "format", "string", true, true},
		{"datasets", "format", true, "", "string", true, true},
		{"datasets", "categories", true, "", "list of string", true, false},
		{"datasets", "ingestion.status", true, "", "string", true, true},
		{"datasets", "ingestion.statsu", false, "", "", false, false},
		{"datasets", "components.name", true, "", "string", true, false},
		{"datasets", "components.0.name", true, "", "string", true, false},
		{"datasets", "properties.anything.below", true, "", "table", true, false},
		{"datasets", "geometry.coordinates.0", true, "", "geometry", true, false},
		{"datasets", "nmae", false, "", "", false, false},
		{"analytics", "container_image", true, "algorithm.docker_image", "string", true, true},
		{"analytics", "algorithm.docker_image", true, "", "string", true, true},
		{"datastreamtemplates", "import_dataset.dataset_parameters.type", true, "", "table", true, false},
		{"trials", "crop", true, "", "id", true, true},
		{"trials", "comment", true, "", "string", false, true}, // the documents list what trials are filtered by
		{"share_tokens", "expiration_date", true, "", "date", true, false},
		{"tags", "name", true, "", "string", false, false},
	} {
		f := client.RecordTypeOf(c.manager).Field(c.name)
		switch {
		case f == nil && c.known, f != nil && !c.known:
			t.Errorf("%s: field %s: got %+v", c.manager, c.name, f)
		case f != nil && (f.Wire != c.wire || f.Type != c.typ || f.Filter != c.filter || f.Sort != c.sorted):
			t.Errorf("%s: field %s: got %+v, want %+v", c.manager, c.name, *f, c)
		}
	}
}
