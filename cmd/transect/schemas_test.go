package main

import (
	"encoding/json"
	"errors"
	"flag"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/rogpeppe/go-internal/testscript"

	"transect/runtime"
	"transect/runtime/reference"
	"transect/runtime/unattended/history"
	"transect/scripts"
	"transect/stdlib"
)

const referenceFolder = "../../docs/reference"

var writeSchemas = flag.Bool("write", false, "TestSchemas writes the schemas, as go generate does")

// The committed schemas are those of the types that are encoded, and the script tests hold each against real output.
func TestSchemas(t *testing.T) {
	files, err := schemasOf(newCommandLine(equip(&runtime.Process{Env: func(string) (string, bool) { return "", false }})))
	if err != nil {
		t.Fatal(err)
	}
	if *writeSchemas {
		if err := reference.Replace(filepath.Join(referenceFolder, "schemas"), nil, ".json", ""); err != nil {
			t.Fatal(err)
		}
		if err := reference.Write(referenceFolder, files); err != nil {
			t.Fatal(err)
		}
	}
	checked, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(checked) == 0 {
		t.Fatal(checked, err)
	}
	var lines strings.Builder
	for _, path := range append(checked, "serve_test.go", "attach_test.go") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(text)
	}
	want, got := map[string]string{}, map[string]string{}
	for _, f := range files {
		want[f.Path] = f.Text
		name, isSchema := strings.CutSuffix(filepath.Base(f.Path), ".json")
		use := regexp.MustCompile(`(?m)^schema ` + name + ` |\tconforms\(t, "` + name + `"`)
		if isSchema && name != "exit-codes" && !use.MatchString(lines.String()) {
			t.Errorf("no output is held against %s: a script test needs a line schema %s FILE", f.Path, name)
		}
	}
	committed, err := filepath.Glob(filepath.Join(referenceFolder, "schemas", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range committed {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		got["schemas/"+filepath.Base(path)] = string(text)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/reference/schemas is stale; run: go generate ./runtime/reference\n(-declared +committed)\n%s", diff)
	}
}

// The page of the exit codes has the codes of the program, in its order.
func TestExitCodes(t *testing.T) {
	text, err := os.ReadFile("../../docs/surviving.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented, have []string
	for _, row := range regexp.MustCompile(`(?m)^\| (\d+) \|`).FindAllStringSubmatch(string(text), -1) {
		documented = append(documented, row[1])
	}
	valid := resolved(t.Fatalf, "exit-codes")
	for _, c := range history.Codes {
		number, _ := json.Marshal(c.Number)
		have = append(have, string(number))
	}
	if diff := cmp.Diff(have, documented); diff != "" {
		t.Errorf("docs/surviving.md (-program +page)\n%s", diff)
	}
	for value, want := range map[any]bool{0.0: true, 143.0: true, 77.0: true, 256.0: false, "0": false} {
		if err := valid.Validate(value); (err == nil) != want {
			t.Errorf("%v: %v", value, err)
		}
	}
}

// resolved reads a committed schema.
func resolved(fatalf func(string, ...any), name string) *jsonschema.Resolved {
	text, err := os.ReadFile(filepath.Join(referenceFolder, "schemas", name+".json"))
	if err != nil {
		fatalf("%v", err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		fatalf("%s: %v", name, err)
	}
	valid, err := s.Resolve(nil)
	if err != nil {
		fatalf("%s: %v", name, err)
	}
	return valid
}

// conforms holds each JSON value of a text against a schema.
func conforms(t *testing.T, name, text string) {
	t.Helper()
	hold(t.Fatalf, name, text)
}

func hold(fatalf func(string, ...any), name, text string) {
	valid, values, n := resolved(fatalf, name), json.NewDecoder(strings.NewReader(text)), 0
	for {
		var v any
		if err := values.Decode(&v); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			fatalf("value %d is not JSON: %v\n%s", n+1, err, text)
		}
		n++
		if err := valid.Validate(v); err != nil {
			fatalf("value %d does not conform to %s.json: %v\n%v", n, name, err, v)
		}
		sameIDs(fatalf, name, v)
	}
	if n == 0 {
		fatalf("there is no JSON to hold against %s.json", name)
	}
}

// sameIDs reports a record without both of its identifiers.
func sameIDs(fatalf func(string, ...any), name string, v any) {
	record, _ := v.(map[string]any)
	if own, ok := record["_id"]; ok && own != record["id"] {
		fatalf("%s: _id is %v, id %v", name, own, record["id"])
	}
}

// schema NAME FILE holds the JSON values in a file, stdout or stderr, against a schema of docs/reference/schemas.
func schema(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: schema NAME FILE")
	}
	hold(ts.Fatalf, args[0], ts.ReadFile(args[1]))
}

// The help of @import_season names the columns that the script reads, and each argument of a ready script is explained.
func TestHelpOfReadyScripts(t *testing.T) {
	for _, s := range scripts.List() {
		spec, err := stdlib.DeclaredArgs(s.Ref(), s.Code)
		if err != nil || spec == nil {
			t.Fatal(s.Name, err)
		}
		usage := spec.Usage()
		for name, arg := range spec.Args {
			if strings.TrimSpace(arg.Doc) == "" || !strings.Contains(strings.Join(strings.Fields(usage), " "), strings.Join(strings.Fields(arg.Doc), " ")) {
				t.Errorf("%s: the help does not explain %s", s.Name, name)
			}
		}
		if s.Name != "import_season" {
			continue
		}
		read := map[string]bool{}
		for _, m := range regexp.MustCompile(`row\.(\w+)`).FindAllStringSubmatch(string(s.Code), -1) {
			read[m[1]] = true
		}
		for _, list := range regexp.MustCompile(`for _, column in ipairs\(\{(.*)\}\)`).FindAllStringSubmatch(string(s.Code), -1) {
			for _, m := range regexp.MustCompile(`"(\w+)"`).FindAllStringSubmatch(list[1], -1) {
				read[m[1]] = true
			}
		}
		named, _, _ := strings.Cut(spec.Args["file"].Doc, ";")
		_, named, _ = strings.Cut(named, "columns ")
		columns := regexp.MustCompile(`\w+`).FindAllString(strings.ReplaceAll(named, "perhaps ", ""), -1)
		slices.Sort(columns)
		if diff := cmp.Diff(slices.Sorted(maps.Keys(read)), columns); diff != "" {
			t.Errorf("columns of @import_season (-read +in its help)\n%s", diff)
		}
	}
}
