package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"transect/runtime"
	"transect/testdata/flightgen"
)

// On a terminal the plan is shown and agreed to: no is the default, and Ctrl-C is no;
// nothing is sent then. The command put asks as well.
func TestPlanAsks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "add.lua", `local sdk = require("sdk")
sdk.projects.create{ name = arg[1], company = sdk.users.describe().company }`)
	write(t, dir, "notes.txt", "dry")
	local := []string{"TRANSECT_LOCAL=1", "TRANSECT_LOCAL_DIR=" + filepath.Join(dir, "platform"),
		"TRANSECT_STATE_DIR=" + filepath.Join(dir, "state")}
	for _, c := range []struct {
		words, plan, answer string
		code                int
		there               bool
	}{
		{"run --plan add.lua North", `+ project "North"`, "\r", 8, false},
		{"run --plan add.lua North", `+ project "North"`, "n\r", 8, false},
		{"run --plan add.lua North", `+ project "North"`, "yess\r", 8, false},
		{"run --plan add.lua North", `+ project "North"`, "\x03", 130, false},
		{"put --plan notes.txt North --create", `+ project "North"`, "no\r", 8, false},
		{"run --plan add.lua North", `+ project "North"`, "y\r", 0, true},
		{"put --plan notes.txt North", `1 file of 3 B`, "yes\r", 0, true},
	} {
		tm := onTerminal(t, dir, local, strings.Fields(c.words)...)
		tm.sees(c.plan)
		tm.sees("Carry this out? (yes/no) [no]: ")
		tm.keys(c.answer)
		if c.there {
			tm.sees("applied: ")
		}
		if code := tm.ends(); code != c.code {
			t.Errorf("%s, answered by %q: exit code %d, want %d", c.words, c.answer, code, c.code)
		}
		if _, code := start(t, dir, local, "show", "North").end(); (code == 0) != c.there {
			t.Errorf("%s, answered by %q: show ends with exit code %d", c.words, c.answer, code)
		}
	}
	if _, code := start(t, dir, local, "show", "North/notes.txt").end(); code != 0 {
		t.Errorf("the file was not sent: exit code %d", code)
	}
}

// unsteady is a network to a platform that loses requests and answers: of twenty, one is
// lost before it arrives, one answer is cut off, and one request is refused for a moment.
func unsteady(t *testing.T, platform string) (address string, lost *atomic.Int64) {
	proxy := proxyTo(t, platform)
	var n atomic.Int64
	lost = &atomic.Int64{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch n.Add(1) % 20 {
		case 3:
			lost.Add(1)
			panic(http.ErrAbortHandler)
		case 6:
			lost.Add(1)
			proxy.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		case 9:
			lost.Add(1)
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL, lost
}

// The survey of the README is planned, carried out and planned again on a platform
// elsewhere, through a network that loses requests and answers.
func TestSurveyPlannedOverABadNetwork(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it starts a hundred processes")
	}
	t.Parallel()
	h := newHome(t, 8, flightgen.Options{})
	s := serve(t, h)
	address, lost := unsteady(t, s.URL)
	config, err := json.Marshal(map[string]any{"profiles": map[string]any{"far": map[string]any{"url": address,
		"user": s.User, "password": s.Password, "client_id": s.ClientID, "client_secret": s.ClientSecret}}})
	if err != nil {
		t.Fatal(err)
	}
	on := []string{"--config", h.file("far.json", string(config)), "--profile", "far", h.survey, "flight"}
	stdout, stderr, code := h.run(append([]string{"plan", "-o", "survey.plan"}, on...)...)
	for _, want := range []string{`+ project "Surveys"`, "↑ 8 datasets, ", "▶ order flight_report ",
		"10 to create, 8 files of ", ", 1 order"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("the plan lacks %q", want)
		}
	}
	if code != runtime.ExitPlanned {
		t.Fatalf("planning: exit code %d\n%s%s", code, stdout, stderr)
	}
	starts := 1 // a write whose answer is lost ends a start; the next one finds out what became of it
	for ; ; starts++ {
		if _, stderr, code = h.run("apply", "--config", "far.json", "survey.plan"); code == 0 {
			break
		}
		if starts == 20 || !strings.Contains(stderr, "resume it with: transect apply ") {
			t.Fatalf("applying, start %d: exit code %d\n%s", starts, code, stderr)
		}
	}
	if !strings.Contains(stderr, " of 19 planned writes") || strings.Contains(stderr, "planned, and not done") {
		t.Errorf("applied:\n%s", stderr)
	}
	stdout, stderr, code = h.run(append([]string{"plan"}, on...)...)
	if code != 0 || stdout != "nothing to do\n" {
		t.Errorf("planned again: exit code %d\n%s%s", code, stdout, stderr)
	}
	t.Logf("%d requests or answers were lost; applied in %d starts", lost.Load(), starts)
}
