package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"transect/platform"
)

// reachable is a platform whose network can be taken away.
type reachable struct {
	env    []string
	server *httptest.Server
	away   atomic.Bool
	logins atomic.Int64
}

func newReachable(t *testing.T) *reachable {
	p, err := platform.Open(context.Background(), platform.Options{Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	n := &reachable{}
	served := p.Handler()
	n.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n.away.Load() {
			panic(http.ErrAbortHandler)
		}
		if strings.HasSuffix(r.URL.Path, "/oauth/token") {
			n.logins.Add(1)
		}
		served.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		n.server.Close()
		_ = p.Close()
	})
	login := p.Credentials()
	n.env = []string{"TRANSECT_URL=" + n.server.URL, "TRANSECT_USER=" + login.User, "TRANSECT_PASSWORD=" + login.Password,
		"TRANSECT_CLIENT_ID=" + login.ClientID, "TRANSECT_CLIENT_SECRET=" + login.ClientSecret}
	return n
}

// Many tasks at once log in once. Who looks at a run is told that it waits for the
// network, and that it goes on; Ctrl-C ends the wait, and so does --max-outage.
func TestOutage(t *testing.T) {
	t.Parallel()
	n := newReachable(t)
	dir := t.TempDir()
	write(t, dir, "work.lua", `local sdk, task = require("sdk"), require("task")
local tasks = {}
for i = 1, 20 do tasks[i] = task.spawn(function() return sdk.projects.search{ limit = 1 } end) end
for _, t in ipairs(tasks) do t:await() end
print("all " .. "there")
while true do sdk.projects.search{ limit = 1 } task.sleep(0.02) end`)
	tm := onTerminal(t, dir, n.env, "run", "work.lua")
	tm.sees("all there")
	if logins := n.logins.Load(); logins != 1 {
		t.Errorf("20 tasks logged in %d times", logins)
	}
	n.away.Store(true)
	tm.sees("waiting for the network, retry ")
	n.away.Store(false)
	tm.sees("the connection is back")
	n.away.Store(true)
	tm.sees("waiting for the network, retry ")
	tm.keys(ctrlC)
	if code := tm.ends(); code != 130 {
		t.Errorf("exit code %d", code)
	}

	n.away.Store(false)
	tm = onTerminal(t, dir, n.env, "run", "--max-outage", "1s", "work.lua")
	tm.sees("all there")
	n.away.Store(true)
	tm.sees("ConnectionError: projects.search: ")
	tm.sees("given up after an outage of 1s")
	if code := tm.ends(); code != 5 {
		t.Errorf("exit code %d", code)
	}
}

func TestOutageAtThePrompt(t *testing.T) {
	t.Parallel()
	n := newReachable(t)
	tm := onTerminal(t, t.TempDir(), n.env, "repl")
	tm.sees("Ctrl-D leaves")
	tm.prompts("127.0.0.1")
	tm.keys("'logged ' .. 'in', sdk.users.describe()\r")
	tm.sees("logged in")
	tm.prompts("127.0.0.1")
	n.away.Store(true)
	tm.keys("#sdk.projects.search{}\r")
	tm.sees("waiting for the network, retry ")
	tm.keys(ctrlC)
	tm.sees("interrupted")
	tm.prompts("127.0.0.1")
	n.away.Store(false)
	tm.keys("'and ' .. 'back', #sdk.projects.search{}\r")
	tm.sees("and back")
	tm.prompts("127.0.0.1")
	tm.leaves()
}

// Of writes that found no platform nothing is unknown, whether their time ran out or
// somebody stopped them while they waited.
func TestNothingWasSent(t *testing.T) {
	t.Parallel()
	for name, how := range map[string]struct {
		flags []string
		stop  string
		code  int
	}{
		"given up": {[]string{"--max-outage", "100ms"}, "", 0},
		"stopped":  {nil, ctrlC, 130},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newReachable(t)
			dir := t.TempDir()
			write(t, dir, "work.lua", `local sdk = require("sdk")
local project = sdk.projects.find_or_create{ name = "P" }
local mission = sdk.missions.find_or_create{ project = project, name = "M" }
local dataset = sdk.datasets.create_file_dataset{ project = project, name = "D" }
local note = { project = project, geometry = { type = "Point", coordinates = { 7, 50 } } }
print("all " .. "made") io.read()
for _, call in ipairs{
  { sdk.analytics.order, { name = "flight_report", inputs = { mission = mission } } },
  { sdk.missions.create, { project = project, survey_date = "2026-05-01", number_of_images = 0 } },
  { sdk.annotations.create, note }, { sdk.annotations.create_annotations, { annotations = { note } } },
  { sdk.share_tokens.create, { dataset = dataset } }, { sdk.datasets.share_tiles, { dataset = { dataset } } },
} do
  local _, err = try(call[1], call[2])
  assert(err and err.name == "ConnectionError", err)
end`)
			tm := onTerminal(t, dir, n.env, append(append([]string{"run", "--run", "x"}, how.flags...), "work.lua")...)
			tm.sees("all made")
			n.server.Close()
			tm.keys("\r")
			if how.stop != "" {
				tm.sees("waiting for the network, retry ")
				tm.keys(how.stop)
			}
			code := tm.ends()
			if code != how.code || strings.Contains(tm.output(), "unknown") {
				t.Errorf("exit code %d, said %s", code, tm.output())
			}
			show := onTerminal(t, dir, n.env, "runs", "show", "x")
			if show.ends(); strings.Contains(show.output(), " open") {
				t.Error(show.output())
			}
		})
	}
}
