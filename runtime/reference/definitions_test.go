package reference_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/gopher-lua/parse"

	"transect/runtime/reference"
)

var (
	definedType = regexp.MustCompile(`(?m)^---@(?:class (?:\(exact\) )?|alias )([\w.]+)`)
	usedIn      = regexp.MustCompile(`(?m)^---@(?:field \S+|param \S+|return|overload|class(?: \(exact\))? \S+:) (.*)$`)
	typeName    = regexp.MustCompile(`\b([A-Z]\w*|[a-z_]\w*(?:\.\w+)+)\b`)
)

// TestDefinitions wants definition files that parse, and use no type that none
// of them defines.
func TestDefinitions(t *testing.T) {
	t.Parallel()
	files := reference.New().Definitions()
	known, seen := map[string]bool{}, map[string]bool{}
	for _, f := range files {
		if seen[f.Path] {
			t.Errorf("%s is there twice", f.Path)
		}
		seen[f.Path] = true
		if _, err := parse.Parse(strings.NewReader(f.Text), f.Path); err != nil {
			t.Errorf("%s: %v", f.Path, err)
		}
		for _, m := range definedType.FindAllStringSubmatch(f.Text, -1) {
			if known[m[1]] {
				t.Errorf("%s defines %s again", f.Path, m[1])
			}
			known[m[1]] = true
		}
	}
	for _, f := range files {
		for _, m := range usedIn.FindAllStringSubmatch(f.Text, -1) {
			for _, name := range typeName.FindAllString(annotation(m[1]), -1) {
				if !known[name] && name != "R" { // a type parameter
					t.Errorf("%s uses %s, which is not defined, in %s", f.Path, name, m[0])
				}
			}
		}
	}
}

// annotation is what of a line is types: words behind the first type are for
// people, but for those of functions.
func annotation(rest string) string {
	rest = regexp.MustCompile(`"[^"]*"`).ReplaceAllString(rest, "nil")
	if strings.HasPrefix(rest, "fun(") {
		before, _, _ := strings.Cut(rest, " #")
		return regexp.MustCompile(`\w+\??: `).ReplaceAllString(before, "")
	}
	first, _, _ := strings.Cut(rest, " ")
	return first
}

func TestDefinitionOfAnOperation(t *testing.T) {
	t.Parallel()
	text := file(t, "projects.lua")
	for _, want := range []string{`---@meta projects
`, `
---@class (exact) projects.create.args: projects.create.opts
---@field name string name of the project
`, `
---@return Project # Project
---@overload fun(name: string, opts: projects.create.opts): Project
---@overload fun(args: projects.create.args): Project
function projects.create(name, company, geometry, opts) end
`, `
---@overload fun(project: ID[], opts?: projects.describe.opts): Project[]
`, `
---@return fun(): Project? # iterator of Project
function projects.search_generator(args) end
`, `"pending"|"available"|"failed"|"maintenance"`, `
return projects
`} {
		if !strings.Contains(text, want) {
			t.Errorf("missing:\n%s", want)
		}
	}
	for path, want := range map[string]string{
		"sensor_models.lua": `return require("sensors_models")`,
		"sdk.lua":           "---@field projects projects ",
		"missions.lua":      "---@return Flight? # flight, mission",
		"resources.lua":     "---@field survey_date string",
		"task.lua":          "function Task:await() end",
		"analytics.lua":     "analytics.set_docker_credentials = analytics.set_container_credentials",
	} {
		if !strings.Contains(file(t, path), want) {
			t.Errorf("%s: %q is missing", path, want)
		}
	}
}

func file(t *testing.T, path string) string {
	t.Helper()
	for _, f := range reference.New().Definitions() {
		if f.Path == path {
			return f.Text
		}
	}
	t.Fatalf("there is no %s", path)
	return ""
}

// What is written anew takes away what is left of before, and nothing else.
func TestRefresh(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "meta")
	if err := reference.Refresh(dir); err != nil {
		t.Fatal(err)
	}
	fresh, err := os.ReadFile(filepath.Join(dir, "projects.lua"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"gone.lua": string(fresh), "mine.lua": "---@meta mine\n", "projects.lua": "changed"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := reference.Refresh(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "gone.lua")); err == nil {
		t.Error("gone.lua is still there")
	}
	for name, want := range map[string]string{"mine.lua": "---@meta mine\n", "projects.lua": string(fresh)} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: %v\n%.80s", name, err, got)
		}
	}
}
