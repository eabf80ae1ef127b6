package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"transect/testdata/flightgen"
)

// The workflows of scripts/ pass their own tests and raise no alarm.
func TestWorkflows(t *testing.T) {
	t.Parallel()
	h := newHome(t, 0, flightgen.Options{})
	scripts := filepath.Dir(h.survey)
	h.must("check", scripts)
	workflows, err := filepath.Glob(filepath.Join(scripts, "*.lua"))
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range workflows {
		name := strings.TrimSuffix(filepath.Base(w), ".lua")
		if name == "survey" || strings.HasSuffix(name, "_test") {
			continue // the tests of survey.lua are in Go: they kill it
		}
		t.Run(name, func(t *testing.T) {
			if _, err := os.Stat(filepath.Join(scripts, name+"_test.lua")); err != nil {
				t.Fatal("a workflow without a test")
			}
			for _, how := range [][]string{nil, {"--planned"}} { // as it is, and by a plan that is carried out
				words := append([]string{"test"}, append(how, filepath.Join(scripts, name+"_test.lua"))...)
				if stdout, stderr, code := h.run(words...); code != 0 {
					t.Errorf("%v: exit code %d\n%s%s", how, code, stdout, stderr)
				}
			}
		})
	}
}
