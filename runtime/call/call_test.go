package call

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"transect/client/fault"
	"transect/runtime"
	"transect/runtime/local"
)

// memory is a process whose output is kept.
type memory struct {
	runtime.Process
	out bytes.Buffer
}

func newMemory(t *testing.T) *memory {
	m := &memory{}
	m.Process = runtime.Process{Stdin: strings.NewReader(""), Stdout: &m.out, Stderr: &bytes.Buffer{},
		Env: func(string) (string, bool) { return "", false }, Now: time.Now, Dir: t.TempDir(),
		IsTerminal: func(any) bool { return false }, Backend: local.Backend}
	return m
}

// called calls an operation on a local platform that lives as long as the test.
func called(t *testing.T, m *memory, operation, arguments string) (string, error) {
	t.Helper()
	m.out.Reset()
	manager, name, _ := strings.Cut(operation, ".")
	job := runtime.Job{Connection: runtime.Connection{Local: true, LocalDir: "local"}}
	err := Call(context.Background(), &m.Process, job, Request{manager, name, []byte(arguments)})
	return m.out.String(), err
}

func TestCall(t *testing.T) {
	t.Parallel()
	m := newMemory(t)
	must := func(operation, arguments string) string {
		t.Helper()
		text, err := called(t, m, operation, arguments)
		if err != nil {
			t.Fatalf("%s %s: %v", operation, arguments, err)
		}
		return text
	}
	id := func(text string) string {
		var record struct {
			ID string `json:"_id"`
		}
		if err := json.Unmarshal([]byte(text), &record); err != nil || record.ID == "" {
			t.Fatalf("%v in %s", err, text)
		}
		return record.ID
	}
	var me struct{ Company string }
	if err := json.Unmarshal([]byte(must("users.describe", "")), &me); err != nil {
		t.Fatal(err)
	}
	text := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	north := id(must("projects.create", text(map[string]any{"name": "North", "company": me.Company, "extra": map[string]any{"shade": 0.5}})))
	south := id(must("projects.create", text(map[string]any{"name": "South", "company": me.Company})))

	if got := must("projects.describe", text(map[string]any{"project": north})); !strings.Contains(got, `"name":"North"`) ||
		!strings.Contains(got, `"shade":0.5`) || strings.Count(got, "\n") != 1 {
		t.Errorf("describe: %s", got)
	}
	if got := must("projects.describe", text(map[string]any{"project": []string{north, south}})); !strings.HasPrefix(got, `[{"_id"`) {
		t.Errorf("describe of a list: %s", got)
	}
	if got := must("projects.search", `{"filter": {}, "limit": 1, "return_total": true}`); !strings.Contains(got, `"total":2`) {
		t.Errorf("search: %s", got)
	}
	if got := must("projects.search_generator", `{"limit": 1}`); strings.Count(got, "\n") != 2 || !strings.HasPrefix(got, "{") {
		t.Errorf("search_generator: %s", got)
	}
	survey := must("missions.create", text(map[string]any{"project": north, "survey_date": "2026-05-31", "number_of_images": 0}))
	if !strings.HasPrefix(survey, `[null,{"_id"`) {
		t.Errorf("two results: %s", survey)
	}
	if got := must("projects.delete", text(map[string]any{"project": south})); got != "" {
		t.Errorf("delete printed %q", got)
	}
	if got := must("analytics.describe_by_name", `{"name": "nothing of that name"}`); got != "null\n" {
		t.Errorf("nothing found: %q", got)
	}
}

func TestCallMistakes(t *testing.T) {
	t.Parallel()
	m := newMemory(t)
	for _, c := range []struct{ operation, arguments, name, message string }{
		{"projects.search", `{"limt": 1}`, "ParameterError", "unknown argument limt"},
		{"projects.search", `{"limit": 1.5}`, "ParameterError", "must be an integer"},
		{"projects.search", `{"limit": 99999999999999999999}`, "ParameterError", "must be an integer"},
		{"projects.describe", `{"project": null}`, "ParameterError", "project is missing"},
		{"projects.search", `[]`, "UsageError", "not a JSON object"},
		{"projects.search", `null`, "UsageError", "not a JSON object"},
		{"projects.search", `{"limit": 1} 2`, "UsageError", "not a JSON object"},
		{"projects.search", `{`, "UsageError", "not a JSON object"},
		{"projects.serch", ``, "UnsupportedOperationError", "no operation projects.serch"},
	} {
		text, err := called(t, m, c.operation, c.arguments)
		f := fault.Find(err)
		if f == nil || f.Name() != c.name || !strings.Contains(err.Error(), c.message) || text != "" {
			t.Errorf("%s %s: %v, printed %q", c.operation, c.arguments, err, text)
		}
	}
}

// On a terminal, what is printed is for people.
func TestCallIndentsForPeople(t *testing.T) {
	t.Parallel()
	m := newMemory(t)
	m.IsTerminal = func(stream any) bool { return stream == m.Stdout }
	text, err := called(t, m, "users.describe", "")
	if err != nil || !strings.HasPrefix(text, "{\n  \"_id\"") {
		t.Errorf("%v in %s", err, text)
	}
}
