package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"transect/testdata/flightgen"
)

// home is an empty home folder with one flight in it.
type home struct {
	t        testing.TB
	dir      string
	program  string
	survey   string
	settings []string // environment
}

func newHome(t testing.TB, photos int, opt flightgen.Options) *home {
	t.Helper()
	program, err := exec.LookPath("transect") // where TestMain put it
	if err != nil {
		t.Fatal(err)
	}
	survey, err := filepath.Abs("../../scripts/survey.lua")
	if err != nil {
		t.Fatal(err)
	}
	h := &home{t: t, dir: t.TempDir(), program: program, survey: survey}
	if photos > 0 {
		if err := flightgen.Write(filepath.Join(h.dir, "flight"), photos, opt); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

// command prepares a run of the program in the home folder.
func (h *home) command(args ...string) *exec.Cmd {
	cmd := exec.Command(h.program, args...)
	cmd.Dir = h.dir
	cmd.Env = append([]string{"HOME=" + h.dir, "USERPROFILE=" + h.dir, "LOCALAPPDATA=" + h.dir, "PATH=" + os.Getenv("PATH"),
		"SystemRoot=" + os.Getenv("SystemRoot"), "TRANSECT_LOCAL_DIR=" + filepath.Join(h.dir, "platform")}, h.settings...)
	return cmd
}

// run runs the program and returns what it printed and its exit code.
func (h *home) run(args ...string) (stdout, stderr string, code int) {
	h.t.Helper()
	cmd := h.command(args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		h.t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// must runs the program and fails the test unless it succeeds.
func (h *home) must(args ...string) string {
	h.t.Helper()
	stdout, stderr, code := h.run(args...)
	if code != 0 {
		h.t.Fatalf("transect %s: exit code %d\n%s%s", strings.Join(args, " "), code, stdout, stderr)
	}
	return stdout
}

// state is what a platform and the output folder hold, without what differs
// from run to run: identifiers and dates.
const state = `
local sdk = require("sdk")
local lines = {}
for p in sdk.projects.search_generator{} do lines[#lines + 1] = "project " .. p.name end
for m in sdk.missions.search_generator{} do lines[#lines + 1] = "mission " .. m.name .. " flights " .. #m.flights end
for d in sdk.datasets.search_generator{} do
  for _, c in ipairs(d.components) do
    local known = d.type == "image" and c.checksum or "made"
    lines[#lines + 1] = table.concat({ "dataset", d.type, d.name, d.ingestion.status, c.name, known }, " ")
  end
end
for p in sdk.products.search_generator{} do lines[#lines + 1] = "product " .. p.status .. " outputs " .. #p.outputs end
for _, file in ipairs(require("fs").list("out")) do lines[#lines + 1] = "file " .. tostring(file.name or file) end
table.sort(lines)
print(table.concat(lines, "\n"))
`
