package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"transect/runtime"
	"transect/testdata/flightgen"
)

// lookedAt returns a random script that changes files, state and the platform.
func lookedAt(random *rand.Rand) string {
	var b strings.Builder
	b.WriteString(`local sdk, fs, state, ingest, csv, json = require("sdk"), require("fs"), require("state"), require("ingest"), require("csv"), require("json")
local company = sdk.users.describe().company
local project = sdk.projects.find_or_create{ name = "Looks" }
local once = pcall
`)
	files := []string{"card/a.txt", "card/sub/b.txt", "card/sub", "card", "new.txt", "out/list.csv", "notes.txt", "link", "state/state.db"}
	one := func() string { return strconv.Quote(files[random.IntN(len(files))]) }
	for n := range 4 + random.IntN(12) {
		lines := []string{
			fmt.Sprintf(`once(os.remove, %s)`, one()),
			fmt.Sprintf(`once(os.rename, %s, %s)`, one(), one()),
			fmt.Sprintf(`once(fs.remove, %s, { recursive = true })`, one()),
			fmt.Sprintf(`once(fs.move, %s, %s, { overwrite = true })`, one(), one()),
			fmt.Sprintf(`once(fs.copy, %s, %s, { overwrite = true, recursive = true })`, one(), one()),
			fmt.Sprintf(`once(fs.write, %s, "text %d", { overwrite = true })`, one(), n),
			fmt.Sprintf(`once(fs.append, %s, "more %d")`, one(), n),
			fmt.Sprintf(`once(fs.mkdir, %s .. "/deep/er")`, one()),
			fmt.Sprintf(`local f = io.open(%s, "%s") if f then f:write("x") f:close() end`, one(), []string{"w", "a", "r+"}[random.IntN(3)]),
			fmt.Sprintf(`once(function() local w = io.open(%s, "w") w:write("1,2") w:close() end)`, one()),
			fmt.Sprintf(`once(json.write, %s, { n = %d })`, one(), n),
			fmt.Sprintf(`state.set("k%d", %d) assert(state.get("k%d") == %d)`, n%3, n, n%3, n),
			`state.increment("n")`, `state.clear("k")`, `state.delete("kept")`,
			fmt.Sprintf(`os.setenv("LOOK", "%d") assert(os.getenv("LOOK") == "%d")`, n, n),
			fmt.Sprintf(`os.execute("touch executed-%d")`, n),
			fmt.Sprintf(`local p = io.popen("touch opened-%d; echo hi") p:read("*a") p:close()`, n),
			`local t = os.tmpname() os.remove(t)`,
			`once(function() require("script").lock("looks") end)`,
			`once(function() require("jobs").submit{ script = "look.lua" } end)`,
			fmt.Sprintf(`once(function() sdk.projects.create{ name = "P%d", company = company } end)`, n),
			`once(function() ingest.run{ source = "card", kind = "file", project = project } end)`,
			`once(function() sdk.projects.delete(project) end)`,
			`for _, name in ipairs(fs.exists("card") and fs.list("card") or {}) do once(os.remove, "card/" .. name) end`,
		}
		b.WriteString(lines[random.IntN(len(lines))] + "\n")
	}
	return b.String()
}

// A look leaves the world as it was, whatever the script does that is looked at.
func TestLooksChangeNothing(t *testing.T) {
	t.Parallel()
	scripts, seed := 8, rand.Uint64()
	if n, err := strconv.Atoi(os.Getenv("TRANSECT_LOOKS")); err == nil {
		scripts = n
	}
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	h := newHome(t, 0, flightgen.Options{})
	h.settings = []string{"TRANSECT_LOCAL=1", "TRANSECT_STATE_DIR=" + filepath.Join(h.dir, "state")}
	if err := os.MkdirAll(filepath.Join(h.dir, "card/sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	h.file("card/a.txt", "first")
	h.file("card/sub/b.txt", "second")
	h.file("notes.txt", "mine")
	if err := os.Symlink("card/sub", filepath.Join(h.dir, "link")); err != nil {
		t.Fatal(err)
	}
	h.file("begin.lua", `require("state").set("kept", 1) require("sdk").projects.find_or_create{ name = "Before" }`)
	h.must("run", "begin.lua")
	planned := 0
	for range scripts {
		text := lookedAt(random)
		h.file("look.lua", text)
		world := fingerprint(t, h.dir)
		for _, words := range []string{"plan look.lua", "plan -o p.plan look.lua", "plan show p.plan", "run --dry-run look.lua",
			"run --plan look.lua", "check look.lua", "doc datasets.search"} {
			stdout, stderr, code := h.run(strings.Fields(words)...)
			if code != runtime.ExitOK && code != runtime.ExitPlanned && code != runtime.ExitRaised && code != runtime.ExitPartial &&
				code != runtime.ExitUsage {
				t.Errorf("%s: exit code %d\n%s%s", words, code, stdout, stderr)
			}
			if code == runtime.ExitPlanned {
				planned++
			}
			sameWorld(t, world, fingerprint(t, h.dir), "p.plan")
			if t.Failed() {
				t.Fatalf("%s of\n%s\n%s%s", words, text, stdout, stderr)
			}
		}
		lookAround(t, h, text)
		sameWorld(t, world, fingerprint(t, h.dir), "p.plan")
		if t.Failed() {
			t.Fatalf("the page, an assistant or an editor, of\n%s", text)
		}
	}
	if planned == 0 {
		t.Error("no script was planned to its end")
	}
}

// lookAround shows the plan p.plan on the page, has an assistant plan look.lua and the
// person decline, and opens the script in an editor.
func lookAround(t *testing.T, h *home, script string) {
	t.Helper()
	p := start(t, h.dir, h.settings, "ui", "--local-dir", filepath.Join(h.dir, "platform"), ".")
	browser, at := browse(t, p.line())
	_, plans := fetch(t, browser, at+"/plans")
	if _, id, found := strings.Cut(plans, `<a href="/plans/`); found {
		id, _, _ = strings.Cut(id, `"`)
		for _, path := range []string{"/plans/" + id, "/plans/" + id + "?compare=1", "/api/plans/" + id, "/folder", "/runs", "/"} {
			if status, body := fetch(t, browser, at+path); status != http.StatusOK {
				t.Errorf("%s answers %d %s", path, status, body)
			}
		}
	}
	_ = p.cmd.Process.Signal(os.Interrupt)
	p.end()

	a := assist(h, true, "--allow", "apply", "--allow", "read=.,write=.")
	a.answer = "decline"
	a.use("plan", map[string]any{"script": "look.lua"})
	if a.lastPlan != "" {
		a.says("apply", map[string]any{"plan": a.lastPlan}, "did not agree")
	}
	_ = a.session.Close()

	text, err := json.Marshal(script)
	if err != nil {
		t.Fatal(err)
	}
	editor := h.command("lsp")
	var input strings.Builder
	for _, body := range []string{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}`,
		`{"jsonrpc":"2.0","method":"initialized","params":{}}`,
		`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"file://` + filepath.ToSlash(h.dir) +
			`/look.lua","languageId":"lua","version":1,"text":` + string(text) + `}}}`,
		`{"jsonrpc":"2.0","id":2,"method":"shutdown"}`, `{"jsonrpc":"2.0","method":"exit"}`} {
		fmt.Fprintf(&input, "Content-Length: %d\r\n\r\n%s", len(body), body)
	}
	editor.Stdin = strings.NewReader(input.String())
	if out, err := editor.CombinedOutput(); err != nil || !strings.Contains(string(out), "publishDiagnostics") {
		t.Errorf("the editor's server: %v\n%s", err, out)
	}
}

// A plan on a machine without a local platform makes none, and can be carried out by the one that apply makes.
func TestPlanMakesNoPlatform(t *testing.T) {
	t.Parallel()
	h := newHome(t, 2, flightgen.Options{})
	h.settings = []string{"TRANSECT_LOCAL=1"}
	if stdout, stderr, code := h.run("plan", h.survey, "flight", "-o", "s.plan"); code != runtime.ExitPlanned {
		t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
	}
	if _, err := os.Stat(filepath.Join(h.dir, "platform")); !os.IsNotExist(err) {
		t.Errorf("planning made the local platform: %v", err)
	}
	h.must("apply", "s.plan")
	if out := h.must("ls", "Surveys"); !strings.Contains(out, "flight") {
		t.Errorf("the plan was not carried out:\n%s", out)
	}
}
