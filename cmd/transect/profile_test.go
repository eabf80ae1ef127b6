package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"transect/platform"
)

// profiled are scripts, what most of their time is, and how much of it at least. Each
// prints how long it took.
var profiled = map[string]struct {
	code, kind string
	least      float64
}{
	"lua": {`local s = {}
local function work(n) for i = 1, n do s[i % 100] = (s[i % 100] or 0) + i % 7 end end
while time.clock() - began < 1.2 do work(20000) pcall(work, 20000) coroutine.wrap(work)(20000) local _ = ("x"):rep(1e5):find("y") end`, "Lua", 0.9},
	"platform": {`local project = sdk.projects.find_or_create{ name = "North quarry" }
for i = 1, 25 do sdk.missions.find_or_create{ project = project, name = "m" .. i } end
for m in sdk.missions.search_generator{ limit = 2 } do local _ = m.name end`, "platform", 0.8},
	"sending": {`local project = sdk.projects.find_or_create{ name = "North quarry" }
ingest.run{ source = "flight", include = "*.bin", project = project }`, "sending", 0.6},
	"sleeping": {`for _ = 1, 12 do task.sleep(0.1) end`, "sleeping", 0.9},
	"tasks": {`local function work(n) local s = 0 while time.clock() - began < n do s = s + 1 end end
task.map({ 0.5, 0.8, 1.1, 1.2 }, function(n) work(n) task.sleep(0.1) sdk.projects.search{} end)
local t = task.spawn(function() task.sleep(0.2) end)
t:await()`, "tasks", 0.8},
}

// The times that a profile tells are those that a script takes, to a twentieth: by the
// script, of each task, in the file for pprof and on the page.
func TestProfileAddsUp(t *testing.T) {
	t.Parallel()
	p, err := platform.Open(context.Background(), platform.Options{Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(20 * time.Millisecond)
		p.Handler().ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		server.Close()
		_ = p.Close()
	})
	login := p.Credentials()
	env := []string{"TRANSECT_URL=" + server.URL, "TRANSECT_USER=" + login.User, "TRANSECT_PASSWORD=" + login.Password,
		"TRANSECT_CLIENT_ID=" + login.ClientID, "TRANSECT_CLIENT_SECRET=" + login.ClientSecret}
	for name, c := range profiled {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "s.lua", `local began = require("time").clock() local ingest, sdk, task, time = require("ingest"), require("sdk"), require("task"), require("time")
`+c.code+"\nprint(time.clock() - began)\n")
			if err := os.Mkdir(filepath.Join(dir, "flight"), 0o700); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, "flight"), "big.bin", strings.Repeat("0123456789", 200_000))
			run := start(t, dir, env, "run", "--bwlimit", "1M", "--cpu-profile", "cpu.pb.gz", "--timeline", "page.html", "s.lua")
			out, code := run.end()
			lines := strings.Fields(out)
			if code != 0 || len(lines) == 0 {
				t.Fatal(out, code, run.stderr.String())
			}
			took, err := strconv.ParseFloat(lines[len(lines)-1], 64)
			if err != nil || took < 1 {
				t.Fatalf("%q, %v", out, err)
			}
			said := run.stderr.String()
			near := func(what string, got, want float64) {
				t.Helper()
				if got < want*0.95 || got > want*1.05 {
					t.Errorf("%s is %.3f s, want %.3f s\n%s", what, got, want, said)
				}
			}

			page := readProfilePage(t, filepath.Join(dir, "page.html"))
			all := 0.0 // of all tasks
			for i, task := range page.Tasks {
				near("task "+strconv.Itoa(i), sumOf(task.Spent), float64(task.End-task.Start)/1e9)
				all += sumOf(task.Spent)
			}
			main := page.Tasks[0].Spent
			near("the script", sumOf(main), took)
			if main[c.kind] < c.least*took {
				t.Errorf("%s is %.3f s of %.3f s\n%s", c.kind, main[c.kind], took, said)
			}
			near("the tree of calls", page.Calls.sum(), all)
			near("the file for pprof", sumOfPprof(t, filepath.Join(dir, "cpu.pb.gz")), all)
			if rows := regexp.MustCompile(`(?m)^s\.lua:[1-9]\d* +\d`).FindAllString(said, -1); len(rows) == 0 || len(rows) > 10 ||
				strings.Contains(said, "s.lua:0") || !strings.Contains(said, "the script took ") {
				t.Errorf("the screen shows %s", said)
			}
		})
	}
}

type profileCall struct {
	Spent map[string]float64
	Below []profileCall
}

func (c profileCall) sum() float64 {
	s := sumOf(c.Spent)
	for _, b := range c.Below {
		s += b.sum()
	}
	return s
}

type profilePage struct {
	Tasks []struct {
		Start, End int64
		Spent      map[string]float64
	}
	Calls profileCall
}

// readProfilePage reads the data of a page, which loads nothing.
func readProfilePage(t *testing.T, path string) (page profilePage) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if loads := regexp.MustCompile(`(?i)\b(?:src|href|action)=|url\(|@import|\bfetch\(|XMLHttpRequest|<(?:link|iframe|img)\b`).
		Find(text); loads != nil {
		t.Errorf("the page loads %q", loads)
	}
	for _, address := range regexp.MustCompile(`\w+://[^\s"'<]+`).FindAllString(string(text), -1) {
		if address != "http://www.w3.org/2000/svg" { // the name of a language
			t.Errorf("the page names %s", address)
		}
	}
	_, data, _ := strings.Cut(string(text), `<script type="application/json" id="data">`)
	data, _, _ = strings.Cut(data, "</script>")
	if err := json.Unmarshal([]byte(data), &page); err != nil || len(page.Tasks) == 0 {
		t.Fatal(err, data)
	}
	return page
}

func sumOf(spent map[string]float64) (s float64) {
	for _, d := range spent {
		s += d
	}
	return s
}

// sumOfPprof adds up the kinds of time of all samples as go tool pprof reads them, in seconds.
func sumOfPprof(t *testing.T, path string) (s float64) {
	t.Helper()
	out, err := exec.Command("go", "tool", "pprof", "-raw", path).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "Lua/nanoseconds[dflt]") {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, sample := range regexp.MustCompile(`(?m)^((?: +\d+)+) +\d+: [\d ]+$`).FindAllSubmatch(out, -1) {
		for _, d := range strings.Fields(string(sample[1])) {
			n, _ := strconv.ParseFloat(d, 64)
			s += n / 1e9
		}
	}
	return s
}
