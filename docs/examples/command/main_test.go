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
print(project.name, new, tariffs.price(40), tariffs.price(40, { rate = 10 }))
`

// What a script creates is there for the next one, and the module of this command checks its arguments.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "price.lua")
	for text, want := range map[string]string{
		script: "", `require("tariffs").price(40, { rates = 10 })`: "rate", "x = = 1": "price.lua:1"} {
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
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout := os.Stdout
	os.Stdout = in
	err = run(t.Context(), []string{filepath.Join(dir, "data"), file, "North quarry"})
	os.Stdout = stdout
	in.Close()
	if text, readErr := io.ReadAll(out); err != nil || readErr != nil || string(text) != "North quarry\tfalse\t500\t400\n" {
		t.Errorf("%q, %v, %v", text, err, readErr)
	}
}
