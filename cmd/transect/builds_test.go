package main

import (
	"context"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"transect/platform"
)

// Programs with fewer parts link none of those they leave out, stay small, and run scripts against a platform.
func TestBuilds(t *testing.T) {
	p, err := platform.Open(context.Background(), platform.Options{Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(p.Handler())
	t.Cleanup(func() {
		server.Close()
		_ = p.Close()
	})
	login, dir := p.Credentials(), t.TempDir()
	env := append(os.Environ(), "HOME="+dir, "TRANSECT_STATE_DIR="+filepath.Join(dir, "state"), "TRANSECT_URL="+server.URL,
		"TRANSECT_USER="+login.User, "TRANSECT_PASSWORD="+login.Password, "TRANSECT_CLIENT_ID="+login.ClientID,
		"TRANSECT_CLIENT_SECRET="+login.ClientSecret)
	write(t, dir, "card.txt", "windy")
	for _, c := range []struct {
		program string
		most    int64 // bytes
		without []string
		args    []string
		script  string
		want    string
	}{
		{"testdata/embed/core", 25_000_000, parts, []string{"script.lua"}, `
			local sdk = require("sdk")
			local project = sdk.projects.create("Quarry", sdk.users.describe().company)
			print(sdk.projects.describe(project.id).name, pcall(require, "ingest"))`, "Quarry\tfalse"},
		{"testdata/embed/upload", 40_000_000, []string{"platform", "runtime/jobs", "runtime/jobs/worker", "runtime/jobs/schedule",
			"runtime/jobrun", "runtime/web", "runtime/repl", "runtime/lint", "runtime/plan"}, []string{"script.lua"}, `
			local project = require("lookup").project("Quarry")
			local all = require("ingest").run{ source = "card.txt", project = project }
			print("uploaded", all.uploaded)`, "uploaded\t1"},
		{"testdata/embed/lean", 40_000_000, []string{"runtime/jobs", "runtime/jobs/worker", "runtime/jobs/schedule", "runtime/jobrun",
			"runtime/web", "cmd/transect/jobcmd", "cmd/transect/pagecmd", "cmd/transect/platformcmd"}, []string{"run", "script.lua"}, `
			local project = require("lookup").project("Quarry")
			print("missions", #require("missions").search{ filter = { project = project } })`, "missions\t0"},
		{"testdata/embed/counting", 40_000_000, []string{"runtime/jobs", "runtime/web"}, []string{"run", "--count-calls", "script.lua"}, `
			require("missions").search{}
			print(require("calls").count("missions.search"))`, "1\nmissions.search: 1\n"},
		{"testdata/embed/counting", 40_000_000, nil, []string{"check", "script.lua"}, `print(require("calls").count("x"))`, ""},
		{"testdata/embed/counting", 40_000_000, nil, []string{"doc", "calls.count"}, ``, "Returns how often an operation was called."},
		{"cmd/transect", 45 << 20, nil, []string{"--version"}, ``, "transect"},
	} {
		t.Run(filepath.Base(c.program), func(t *testing.T) {
			binary := filepath.Join(dir, filepath.Base(c.program))
			build := exec.Command("go", "build", "-ldflags", "-s -w", "-o", binary, "transect/"+c.program)
			build.Env = append(os.Environ(), "CGO_ENABLED=0")
			out, err := build.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			info, err := os.Stat(binary)
			if err != nil {
				t.Fatal(err)
			}
			if t.Logf("%d MB", info.Size()/1_000_000); info.Size() > c.most {
				t.Errorf("%d bytes, more than %d", info.Size(), c.most)
			}
			deps, err := exec.Command("go", "list", "-deps", "transect/"+c.program).Output()
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range strings.Fields(string(deps)) {
				if own, ok := strings.CutPrefix(name, "transect/"); ok && slices.Contains(c.without, own) {
					t.Errorf("%s is linked", name)
				}
			}
			write(t, dir, "script.lua", c.script)
			run := exec.Command(binary, c.args...)
			run.Dir, run.Env = dir, env
			if out, err = run.CombinedOutput(); err != nil || !strings.Contains(string(out), c.want) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
