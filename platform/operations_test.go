package platform

import (
	"strings"
	"testing"

	"transect/client"
	"transect/client/declare"
)

// operations are those of the client, by method and path.
func declared() map[string]*operation {
	all := map[string]*operation{}
	for _, op := range operations(client.Declarations()) {
		all[op.Method+" "+op.Path] = op
	}
	return all
}

func TestOperations(t *testing.T) {
	all := declared()
	for _, c := range []struct {
		route, list string
		creates     string
		first       int64
	}{
		{"POST /project-manager/describe-project", "", "", 0},
		{"POST /project-manager/describe-projects", "projects", "", 0},
		{"POST /project-manager/search-projects", "", "", 1},
		{"POST /season-planner/asset-management/describe-fields", "fields", "", 0},
		{"POST /map-service/features/delete-features-permanently", "features", "", 0},
		{"POST /map-service/features/delete-feature-permanently", "", "", 0},
		{"POST /map-service/annotations/create-annotation", "", "annotation", 0},
		{"DELETE /project-manager/tags/{tag}", "", "", 0},
	} {
		op := all[c.route]
		if op == nil {
			t.Errorf("no operation %s", c.route)
			continue
		}
		if op.List() != c.list || int64(op.FirstPage) != c.first || c.creates != "" && !op.Creates(c.creates) {
			t.Errorf("%s: list %q, first page %d", c.route, op.List(), op.FirstPage)
		}
	}
	if op := all["POST /project-manager/search-projects"]; op.Limit() != 100 || op.Effect != declare.Read {
		t.Errorf("search-projects: %d a page, effect %s", op.Limit(), op.Effect)
	}
	// Operations that share a path require what all of them require.
	if op := all["POST /data-manager/create-dataset"]; !op.arg("name").Required || op.arg("flight").Required {
		t.Error("create-dataset: name must be required and flight must not")
	}
}

func TestArguments(t *testing.T) {
	const id = "0123456789abcdef01234567"
	all := declared()
	for _, c := range []struct {
		route string
		body  map[string]any
		want  string // part of the message; "" for none
	}{
		{"search-projects", map[string]any{"filter": map[string]any{}}, ""},
		{"search-projects", map[string]any{"filtre": map[string]any{}}, "filtre: is not an argument of this request; did you mean filter?"},
		{"search-projects", map[string]any{"filter": []any{}}, "filter: must be an object, not a list"},
		{"describe-project", map[string]any{}, "project: is required"},
		{"describe-project", map[string]any{"project": []any{id}}, "project: must be an identifier of 24 hexadecimal digits, not a list"},
		{"describe-project", map[string]any{"project": id, "fields": map[string]any{}}, ""},
		{"describe-projects", map[string]any{"projects": id}, "projects: must be a list of identifiers"},
		{"describe-projects", map[string]any{"projects": []any{id, "x"}}, `projects[1]: must be an identifier of 24 hexadecimal digits, not "x"`},
		{"describe-projects", map[string]any{"projects": slice(1001, id)}, "has 1001 identifiers; at most 1000 are accepted"},
		{"delete-datasets", map[string]any{"datasets": slice(101, id)}, "at most 100"},
		{"restore-datasets", map[string]any{"datasets": slice(1001, id)}, ""},
		{"update-flight-status", map[string]any{"flight": id, "status": "complete"}, "did you mean completed?"},
		{"update-project-name", map[string]any{"project": id, "name": ""}, "name: must not be empty"},
		{"update-project-geometry", map[string]any{"project": id, "geometry": map[string]any{"type": "Circle"}}, "geometry: "},
		{"comments/mark-as-read", map[string]any{"project_id": id, "target": "x"}, `target: must be an object, not "x"`},
		{"comments/mark-as-read", map[string]any{"project_id": id, "target": map[string]any{"type": "mood"}}, "target.type: "},
	} {
		op := all["POST /project-manager/"+c.route]
		if op == nil {
			op = all["POST /data-manager/"+c.route]
		}
		err := op.CheckKeys(c.body, nil)
		if err == nil {
			err = op.Check(c.body)
		}
		if got := message(err); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s %v: %q, want %q", c.route, c.body, got, c.want)
		}
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func slice(n int, id string) []any {
	list := make([]any, n)
	for i := range list {
		list[i] = id
	}
	return list
}
