package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const script = `
local sdk, tariffs = require("sdk"), require("tariffs")
local project, new = sdk.projects.find_or_create{ name = arg[1] }
print(project.name, new, tariffs.price(40), tariffs.price{ hectares = 40, rate = 10 })
`

// What a script creates is there for the next one, and the module of this command checks its arguments.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "price.lua")
	for text, want := range map[string]string{
		script: "", `require("tariffs").price{ hectares = 40, rates = 10 }`: "did you mean rate?", "x = = 1": "price.lua:1"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := run(t.Context(), []string{filepath.Join(dir, "data"), file, "North quarry"})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := printed(t, filepath.Join(dir, "data"), file, "North quarry")
	if err != nil || text != "North quarry\tfalse\t500\t400\n" {
		t.Errorf("%q, %v", text, err)
	}
}

// What the command says of a script, of its module and to editors comes from the declaration that checks calls.
func TestDeclarations(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "wrong.lua")
	wrong := `local tariffs = require("tariffs")
print(tariffs.price(), tariffs.price("x"), tariffs.price{ hectares = 4, rates = 1 }, tariffs.prize(1))
print(tariffs.price(4), tariffs.price{ hectares = 4 })
`
	if err := os.WriteFile(file, []byte(wrong), 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := printed(t, "check", file)
	if err == nil || strings.Count(text, ":2:") != 4 || strings.Count(text, "\n") != 4 {
		t.Errorf("%v, %s", err, text)
	}
	text, err = printed(t, "doc", "tariffs.price")
	if err != nil || !strings.Contains(text, "Prices a survey.") || !strings.Contains(text, "euros a hectare") {
		t.Errorf("%v, %s", err, text)
	}
	if _, err := printed(t, "stubs", dir); err != nil {
		t.Fatal(err)
	}
	stub, err := os.ReadFile(filepath.Join(dir, "tariffs.lua"))
	if err != nil || !strings.Contains(string(stub), "@overload fun(args: { hectares: number, rate?: number }): any") {
		t.Errorf("%v, %s", err, stub)
	}
}

// printed runs the command and returns what it printed.
func printed(t *testing.T, args ...string) (string, error) {
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout := os.Stdout
	os.Stdout = in
	text := make(chan string)
	go func() {
		all, _ := io.ReadAll(out)
		text <- string(all)
	}()
	err = run(t.Context(), args)
	os.Stdout = stdout
	in.Close()
	return <-text, err
}
