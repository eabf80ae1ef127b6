package reference_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"transect/client"
	"transect/client/fault"
	"transect/runtime/reference"
)

// TestEverythingIsThere compares the reference with the declarations, and wants
// of each entry all that documentation shows.
func TestEverythingIsThere(t *testing.T) {
	t.Parallel()
	c := reference.New()
	declared := 0
	for _, m := range client.Declarations() {
		declared += len(m.Ops())
		for _, s := range m.Ops() {
			_, e, err := c.Find(s.FullName())
			if err != nil {
				t.Error(err)
				continue
			}
			if len(e.Parameters) != len(s.Params) || e.Effect != string(s.Effect) || e.Doc == "" || e.Returns == "" {
				t.Errorf("%s: %+v", s.FullName(), e)
			}
		}
	}
	if n := len(c.Operations()); n != declared {
		t.Errorf("%d operations, declared are %d", n, declared)
	}
	for _, g := range c.Groups() {
		for _, e := range g.Entries() {
			if e.Example == "" {
				t.Errorf("%s has no example", e.FullName())
			}
			for _, r := range e.Raises {
				if fault.Named(r.Name).Name() != r.Name {
					t.Errorf("%s raises %s, which is no error", e.FullName(), r.Name)
				}
			}
		}
	}
}

func TestRaises(t *testing.T) {
	t.Parallel()
	c := reference.New()
	for operation, want := range map[string][]string{
		"projects.create":                 {"ParameterError", "QueryError", "ResponseError", "TokenRenewalError", "ConnectionError"},
		"projects.update_status":          {"ParameterError", "RuntimeError", "QueryError", "ResponseError", "TokenRenewalError", "ConnectionError"},
		"datasets.delete":                 {"ParameterError", "ResponseError", "TokenRenewalError", "ConnectionError"},
		"datasets.download_preview":       {"ParameterError", "FileExistsError", "FileError", "DownloadError", "QueryError", "ResponseError", "TokenRenewalError", "ConnectionError"},
		"flights.create":                  {"ParameterError", "UnsupportedOperationError"},
		"analytics.share_with_company":    {"ParameterError"},
		"missions.complete_survey_upload": {"ParameterError", "ResponseError", "TokenRenewalError", "ConnectionError"},
	} {
		_, e, err := c.Find(operation)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range e.Raises {
			got = append(got, r.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s raises %v, want %v", operation, got, want)
		}
	}
}

// The errors that operations and functions are documented with exist.
func TestDocumentedErrorsExist(t *testing.T) {
	t.Parallel()
	raised := 0
	for _, g := range reference.New().Groups() {
		for _, e := range g.Entries() {
			for _, r := range e.Raises {
				if raised++; !slices.Contains(fault.Names(), r.Name) || r.When == "" {
					t.Errorf("%s raises %+v", e.FullName(), r)
				}
			}
		}
	}
	if raised == 0 {
		t.Error("no errors are documented")
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	c := reference.New()
	for name, want := range map[string]string{
		"projects": "projects", "sensor_models": "sensors_models", "projects.create": "projects.create",
		"sdk.projects.create": "projects.create", "sdk": "sdk", "sdk.connect": "sdk.connect", "json.encode": "json.encode",
		"task:await": "task:await", "task.await": "task.await", "sensor_models.search": "sensors_models.search",
		"analytics.set_docker_credentials": "analytics.set_container_credentials",
	} {
		g, e, err := c.Find(name)
		if err != nil {
			t.Error(err)
			continue
		}
		got := g.Name
		if e != nil {
			got = e.FullName()
		}
		if got != want {
			t.Errorf("%s finds %s, want %s", name, got, want)
		}
	}
	for name, hint := range map[string]string{
		"projcts": "did you mean projects?", "projects.crate": "did you mean projects.create?", "jsn.encode": "did you mean json.encode?",
		"rename": "there is missions.", "projects.zzzzzzzzzzzz": "transect doc projects lists its entries", "": "transect doc lists all names",
		"order": "there is analytics.order", "qqqqqqqqqqqqqq.x": "transect doc lists all names",
	} {
		_, _, err := c.Find(name)
		f := fault.Find(err)
		if f == nil || f.Name() != "UsageError" {
			t.Errorf("%q: %v", name, err)
			continue
		}
		if hint == "there is missions." { // several managers have a rename
			hint = "there is "
		}
		if !strings.Contains(f.Facts().Hint, hint) {
			t.Errorf("%q: hint %q, want %q", name, f.Facts().Hint, hint)
		}
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	c := reference.New()
	var list, group, entry strings.Builder
	g, e, err := c.Find("datasets.download_preview")
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{c.Overview().WriteText(&list), g.Document().WriteText(&group), e.Document().WriteText(&entry)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for text, wants := range map[string][]string{
		list.String():  {"Managers:", "projects ", "Modules:", "sdk ", "json "},
		group.String(): {"manager datasets", "datasets.share_tiles "},
		entry.String(): {"datasets.download_preview(dataset, [kind], ", "id, required, by position", "boolean, by position, default false",
			"one of tiny, small", "path of the file", "FileExistsError", "reads; changes nothing", "GET /data-manager/download-preview",
			"Example:\n  local photo", "The example begins with:\n  local sdk"},
	} {
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%q is missing in\n%s", want, text)
			}
		}
	}
}

// The call comes before the arguments, what the example needs comes last.
func TestCallFirst(t *testing.T) {
	t.Parallel()
	for _, g := range reference.New().Groups() {
		for _, e := range g.Entries() {
			var text strings.Builder
			if err := e.Document().WriteText(&text); err != nil {
				t.Fatal(err)
			}
			var order []string
			for _, title := range regexp.MustCompile(`(?m)^\w[\w ]*:$`).FindAllString(text.String(), -1) {
				order = append(order, strings.TrimSuffix(title, ":"))
			}
			setup := slices.Index(order, "The example begins with")
			if len(order) < 2 || order[0] != "Example" || setup >= 0 && setup != len(order)-1 {
				t.Errorf("%s:\n%s", e.FullName(), text.String())
			}
		}
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(reference.New())
	if err != nil {
		t.Fatal(err)
	}
	var decoded struct {
		Managers []struct {
			Name       string
			Operations []struct {
				Manager, Operation, Method, Effect, Returns, Example string
				Paths                                                []string
				Parameters                                           []struct {
					Name, Type           string
					Required, Positional bool
					Default              any
				}
			}
		}
	}
	if err := json.Unmarshal(text, &decoded); err != nil {
		t.Fatal(err)
	}
	projects := decoded.Managers[0]
	create := projects.Operations[0]
	if projects.Name != "projects" || create.Manager != "projects" || create.Operation != "create" || create.Method != "POST" ||
		create.Effect != "create" || !slices.Equal(create.Paths, []string{"/project-manager/projects"}) || create.Example == "" ||
		!create.Parameters[0].Required || !create.Parameters[0].Positional || create.Parameters[0].Type != "string" {
		t.Errorf("%+v", create)
	}
}
