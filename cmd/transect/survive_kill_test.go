package main

import (
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"transect/runtime"
	"transect/testdata/flightgen"
)

// plainScripts are scripts that know nothing of the ledger. Each makes things
// below projects whose names begin with arg[1].
var plainScripts = []struct{ name, code string }{
	{"loop", `
for i = 1, 10 do
  local p = sdk.projects.create{ name = tag .. i, company = company }
  sdk.projects.update_name(p, { name = tag .. i .. " named" })
end`},
	{"tasks", `
local p = sdk.projects.create{ name = tag, company = company }
require("task").map({ 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 }, function(i)
  sdk.missions.create_mission{ project = p, name = "m" .. math.ceil(i / 2), survey_date = "2026-05-01" }
end, { workers = 4 })`},
	{"retries", `
local retry = require("retry")
local p = retry.call(function() return sdk.projects.create{ name = tag, company = company } end, { wait = 0.01 })
for i = 1, 8 do
  retry.call(function() return sdk.missions.create_mission{ project = p, name = "m" .. i, survey_date = "2026-05-01" } end, { wait = 0.01 })
end`},
	{"orders", `
local p = sdk.projects.create{ name = tag, company = company }
for i = 1, 3 do
  local product = sdk.analytics.order{ name = "rehearsal", parameters = { duration = 0.01 * i }, project = p }
  for line in sdk.products.follow_logs(product) do end
end`},
	{"uploads", `
local p, fs = sdk.projects.create{ name = tag, company = company }, require("fs")
for i = 1, 5 do
  local file = "file" .. i .. ".txt"
  if not fs.exists(file) then fs.write(file, ("text %d "):format(i):rep(1000)) end
  local d = sdk.datasets.create_file_dataset{ name = file, project = p, categories = { "a", "b" } }
  sdk.datasets.upload_file(d, { component = "file", file_path = file })
end`},
	{"deletes", `
local p, made = sdk.projects.create{ name = tag, company = company }, {}
for i = 1, 8 do made[i] = sdk.datasets.create_file_dataset{ name = "d" .. i, project = p } end
sdk.datasets.delete({ made[1], made[2], made[3] })
sdk.datasets.delete(made[4])
sdk.datasets.rename(made[5], { name = "kept" })
sdk.datasets.delete(made[6])
sdk.datasets.restore(made[6])`},
	{"season", `
local p = sdk.projects.create{ name = tag, company = company }
local crop = sdk.crops.create{ company = company, name = tag }
for f = 1, 2 do
  local field = sdk.fields.create{ company = company, project = p, name = "field " .. f }
  for t = 1, 2 do
    local trial = sdk.trials.create{ field = field, crop = crop, name = "trial " .. t }
    sdk.season_planner_missions.add_mission_to_trial{ trial = trial, name = "flight", start_date = "2026-04-01", end_date = "2026-04-08" }
  end
end`},
	{"annotations", `
local p, fs = sdk.projects.create{ name = tag, company = company }, require("fs")
local m = sdk.missions.create_mission{ project = p, name = "m", survey_date = "2026-05-01" }
if not fs.exists("note.txt") then fs.write("note.txt", "seen") end
for i = 1, 4 do
  sdk.annotations.create{ project = p, name = "a" .. i, geometry = { type = "Point", coordinates = { 7 + i, 47 } },
    file_paths = i % 2 == 0 and { "note.txt" } or nil }
  sdk.comments.create("hello", { project = p, type = "project" })
end`},
	{"fan out", `
local p = sdk.projects.create{ name = tag, company = company }
local numbers = {}
for i = 1, tonumber(arg[3] or 60) do numbers[i] = i end
require("task").map(numbers, function(i)
  local m = sdk.missions.create_mission{ project = p, name = "m" .. i, survey_date = "2026-05-01" }
  if i % 5 == 0 then sdk.datasets.create_file_dataset{ name = "d" .. i, project = p, mission = m } end
end, { workers = 8 })`},
	{"edited", `
local names = arg[2] == "1" and { 1, 2, 3, 4, 5 } or { 7, 5, 4, 3, 6, 2, 1 }
for _, i in ipairs(names) do sdk.projects.create{ name = tag .. i, company = company } end`},
}

const plainHead = `local sdk = require("sdk")
local tag, company = arg[1], sdk.users.describe().company
`

// census lists what there is below the projects of a tag, deleted things too.
const census = `
local sdk, lines, tag = require("sdk"), {}, arg[1]
local function add(...) lines[#lines + 1] = table.concat({ ... }, " ") end
for p in sdk.projects.search_generator{} do
  if p.name:sub(1, #tag) == tag then
    local here = { project = { ["$eq"] = p.id } }
    add("project", (p.name:gsub(tag:gsub("%-", "%%-"), "T", 1)))
    for m in sdk.missions.search_generator{ filter = here } do add("mission", m.name) end
    for d in sdk.datasets.search_generator{ filter = here } do
      local c = d.components and d.components[1]
      add("dataset", d.name, c and c.status or "", c and c.checksum or "")
    end
    for a in sdk.annotations.search_generator{ filter = here } do add("annotation", a.name, #(a.attachments or {})) end
    for r in sdk.products.search_generator{ filter = here } do add("product", r.status) end
    for f in sdk.fields.search_generator{ filter = here } do
      add("field", f.name)
      for t in sdk.trials.search_generator{ filter = { field = { ["$eq"] = f.id } } } do
        add("trial", t.name)
        for m in sdk.season_planner_missions.search_generator{ filter = { trial = { ["$eq"] = t.id } } } do add("flight", m.name) end
      end
    end
    for _, c in ipairs(sdk.comments.search{ project = p, type = "project" }) do add("comment", c.text) end
  end
end
table.sort(lines)
print(table.concat(lines, "\n"))`

// assassin is a proxy that kills the run behind it at one of its requests.
type assassin struct {
	*httptest.Server

	mu    sync.Mutex
	count int // of requests that write, since begin
	at    int // which is the last; 0 for none
	phase int
	kill  func()
}

// The moments of a kill: while the request has not arrived, before it arrives at
// the platform a moment later, before its answer is sent on, after that.
const phases = 4

// proxyTo passes requests on to a platform.
func proxyTo(t *testing.T, platform string) *httputil.ReverseProxy {
	to, err := url.Parse(platform)
	if err != nil {
		t.Fatal(err)
	}
	return &httputil.ReverseProxy{
		Rewrite:      func(r *httputil.ProxyRequest) { r.SetURL(to); r.Out.Host = r.In.Host },
		ErrorLog:     log.New(io.Discard, "", 0),
		ErrorHandler: func(rw http.ResponseWriter, _ *http.Request, _ error) { rw.WriteHeader(http.StatusBadGateway) },
	}
}

func newAssassin(t *testing.T, platform string) *assassin {
	proxy := proxyTo(t, platform)
	a := &assassin{}
	a.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		a.mu.Lock()
		if r.Header.Get("Idempotency-Key") != "" || r.Method == http.MethodPut {
			a.count++
		}
		hit := a.kill != nil && a.count == a.at
		var kill func()
		phase := a.phase
		if hit {
			kill, a.kill = a.kill, nil
		}
		a.mu.Unlock()
		if !hit {
			proxy.ServeHTTP(rw, r)
			return
		}
		body, _ := io.ReadAll(r.Body)
		late := r.Clone(t.Context()) // it arrives although its sender is gone
		late.Body = io.NopCloser(strings.NewReader(string(body)))
		switch phase {
		case 0:
			kill()
		case 1:
			kill()
			time.Sleep(200 * time.Millisecond)
			proxy.ServeHTTP(httptest.NewRecorder(), late)
		case 2:
			proxy.ServeHTTP(httptest.NewRecorder(), late)
			kill()
		case 3:
			proxy.ServeHTTP(rw, late)
			go func() { time.Sleep(time.Millisecond); kill() }()
		}
	}))
	t.Cleanup(a.Close)
	return a
}

func (a *assassin) begin(at, phase int, kill func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.count, a.at, a.phase, a.kill = 0, at, phase, kill
}

func (a *assassin) writes() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.count
}

// TestPlainScriptsKilledAnywhere kills plain scripts at seeded moments and starts
// them again under the same run ID until they end: there is as much as after an
// undisturbed run. Half of the runs go over TCP and die at a request, the others
// use the local platform in their own process and die at any time.
// TRANSECT_SURVIVE_KILLS is the number of kills, TRANSECT_SURVIVE_SEED the seed, which
// decides as well where in the list of scripts a short form begins.
func TestPlainScriptsKilledAnywhere(t *testing.T) { killPlainScripts(t, 20, false) }

// TestPlansKilledAnywhere does the same to runs that carry out a plan: in the end
// there is what was planned, once.
func TestPlansKilledAnywhere(t *testing.T) { killPlainScripts(t, 10, true) }

func killPlainScripts(t *testing.T, usual int, planned bool) {
	if testing.Short() {
		t.Skip("left out by -short: it starts a hundred processes")
	}
	number := func(name string, usual int) int {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
			return n
		}
		return usual
	}
	kills, seed := number("TRANSECT_SURVIVE_KILLS", usual), number("TRANSECT_SURVIVE_SEED", int(time.Now().UnixNano()%1e9))
	host := newHome(t, 0, flightgen.Options{})
	host.settings = []string{"TRANSECT_LOCAL_DIR=" + filepath.Join(host.dir, "served")}
	platform := serve(t, host)
	var total, doubled, missing, starts, whole tally
	type calm struct {
		once   sync.Once
		lines  []string
		writes int
		took   time.Duration
	}
	var undisturbed [2][10]calm
	round := func(t *testing.T, n int) {
		random := rand.New(rand.NewPCG(uint64(seed), uint64(n)))
		which, local := (n+seed)%len(plainScripts), (n+seed)/len(plainScripts)%2
		s := plainScripts[which]
		h := newHome(t, 0, flightgen.Options{})
		h.file("plain.lua", plainHead+s.code)
		h.file("census.lua", census)
		var proxy *assassin
		if local == 1 {
			h.settings = append(h.settings, "TRANSECT_LOCAL=1")
		} else {
			proxy = newAssassin(t, platform.URL)
			h.settings = append(h.settings, "TRANSECT_URL="+proxy.URL, "TRANSECT_USER="+platform.User, "TRANSECT_PASSWORD="+platform.Password,
				"TRANSECT_CLIENT_ID="+platform.ClientID, "TRANSECT_CLIENT_SECRET="+platform.ClientSecret, "TRANSECT_SETTLE=1s")
		}
		fan := "30"
		if kills > 100 {
			fan = "200"
		}
		list := func(tag string) []string {
			return strings.Split(strings.TrimSpace(h.must("run", "census.lua", tag)), "\n")
		}
		c := &undisturbed[local][which]
		c.once.Do(func() {
			began := time.Now()
			h.must("run", "plain.lua", "calm-"+strconv.Itoa(which), "2", fan)
			c.took = time.Since(began)
			if proxy != nil {
				c.writes = proxy.writes()
			}
			c.lines = list("calm-" + strconv.Itoa(which))
		})
		tag := fmt.Sprintf("k%dx-", n)
		want := 1 + random.IntN(3)
		if planned {
			if _, stderr, code := h.run("plan", "plain.lua", tag, "2", fan, "-o", "p.plan"); code != runtime.ExitPlanned {
				t.Fatalf("%s (%d): planning: exit code %d\n%s", s.name, n, code, stderr)
			}
		}
		for killed := 0; ; {
			version := "2"
			if killed == 0 {
				version = "1"
			}
			words := []string{"run", "--run", "r", "plain.lua", tag, version, fan}
			if planned {
				words = []string{"apply", "p.plan"}
			}
			cmd := h.command(words...)
			var out strings.Builder
			cmd.Stdout, cmd.Stderr = &out, &out
			if killed == want {
				if proxy != nil {
					proxy.begin(0, 0, nil)
				}
				starts.add(1)
				if err := cmd.Run(); err != nil {
					t.Errorf("%s (%d): the last start: %v\n%s", s.name, n, err, out.String())
				}
				break
			}
			kill := func() { _ = cmd.Process.Kill() }
			if proxy != nil {
				proxy.begin(1+random.IntN(max(1, c.writes/(killed+1))), random.IntN(phases), kill)
			}
			if err := cmd.Start(); err != nil {
				t.Error(err)
				return
			}
			starts.add(1)
			if proxy == nil {
				moment := time.Duration(random.Int64N(int64(c.took)))
				time.AfterFunc(moment, kill)
			}
			err := cmd.Wait()
			exit, _ := err.(*exec.ExitError)
			if killed++; exit != nil && exit.ExitCode() == -1 {
				total.add(1)
			} else if whole.add(1); err != nil {
				t.Errorf("%s (%d): a start that was not killed: %v\n%s", s.name, n, err, out.String())
			}
		}
		more, less := differences(c.lines, list(tag))
		doubled.add(len(more))
		missing.add(len(less))
		if len(more)+len(less) > 0 {
			shown, _, _ := h.run("runs", "show", "r")
			t.Errorf("%s (%d, %d kills, over TCP: %t): too much: %q, missing: %q\n%s", s.name, n, want, proxy != nil, more, less, shown)
		}
	}
	slots := make(chan struct{}, 4)
	var over sync.WaitGroup
	for n := 0; ; n++ {
		slots <- struct{}{}
		if total.get() >= kills || n > 4*kills || t.Failed() && kills <= 50 {
			<-slots
			break
		}
		over.Go(func() {
			defer func() { <-slots }()
			t.Run("", func(t *testing.T) { round(t, n) })
		})
	}
	over.Wait()
	t.Logf("TRANSECT_SURVIVE_SEED=%d: %d kills in %d starts, %d starts ended before their kill: %d doubled, %d missing", seed, total.get(),
		starts.get(), whole.get(), doubled.get(), missing.get())
}

type tally struct {
	mu sync.Mutex
	n  int
}

func (c *tally) add(n int) { c.mu.Lock(); c.n += n; c.mu.Unlock() }
func (c *tally) get() int  { c.mu.Lock(); defer c.mu.Unlock(); return c.n }

// differences are the lines that are too many and those that are too few.
func differences(want, got []string) (more, less []string) {
	count := map[string]int{}
	for _, line := range want {
		count[line]++
	}
	for _, line := range got {
		count[line]--
	}
	for line, n := range count {
		for range max(0, -n) {
			more = append(more, line)
		}
		for range max(0, n) {
			less = append(less, line)
		}
	}
	return more, less
}
