package main

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"transect/client"
	"transect/runtime"
)

// zeros are so many bytes.
func zeros(n int64) io.Reader { return io.LimitReader(zero{}, n) }

type zero struct{}

func (zero) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// What a plan asks a platform for passes the guards of every request: answers are bounded
// as they are inflated, what the platform echoes is printed without secrets, and each
// request says who sends it.
func TestPlanningOnAHostilePlatform(t *testing.T) {
	r := newRecorded(t)
	echo, bomb := "", ""
	agents := map[string]bool{}
	var token string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		auth := q.Header.Get("Authorization")
		r.mu.Lock()
		agents[q.UserAgent()] = true
		if _, bearer, ok := strings.Cut(auth, "Bearer "); ok {
			token = bearer
		}
		r.mu.Unlock()
		switch {
		case echo != "" && strings.HasSuffix(q.URL.Path, echo):
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusForbidden)
			_ = json.NewEncoder(w).Encode(map[string]string{"code": "Echo", "message": "got " + strings.TrimPrefix(auth, "Bearer ")})
		case bomb != "" && strings.HasSuffix(q.URL.Path, bomb):
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = io.Copy(z, zeros(80<<20))
			_ = z.Close()
		default:
			r.platform.Handler().ServeHTTP(w, q)
		}
	}))
	t.Cleanup(server.Close)
	l := newLooker(t, r)
	l.env["TRANSECT_URL"] = server.URL
	made := r.platform.Credentials()
	c, err := client.New(t.Context(), client.Settings{URL: server.URL, User: made.User, Password: made.Password,
		ClientID: made.ClientID, ClientSecret: made.ClientSecret}, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	project, err := c.Projects.Create(t.Context(), client.CreateProject{Name: "Quarry", Company: client.ID(made.Company)})
	if err != nil {
		t.Fatal(err)
	}
	clear(agents)
	for name, test := range map[string]struct{ echo, bomb, script, want string }{
		"an echo to the plan":   {echo: "/describe-project", script: `sdk.projects.update_name(arg[1], { name = "x" })`, want: "got [redacted]"},
		"an echo to the script": {echo: "/search-projects", script: `sdk.projects.search{}`, want: "got [redacted]"},
		"a bomb to the plan":    {bomb: "/describe-project", script: `sdk.projects.update_name(arg[1], { name = "x" })`, want: "more than 64 MiB"},
		"a bomb to the script":  {bomb: "/search-projects", script: `sdk.projects.search{}`, want: "answer"},
		"a bomb to a merge": {bomb: "/search-missions", want: "more than 64 MiB", script: `local m = sdk.missions.create_mission{ project = arg[1], name = "M", ` +
			`survey_date = "2026-05-01T00:00:00Z" } sdk.missions.search{ filter = { name = { ["$eq"] = "M" } } }`},
	} {
		echo, bomb = test.echo, test.bomb
		write(t, l.dir, "h.lua", `local sdk = require("sdk") `+test.script)
		for _, command := range []string{"plan", "run --dry-run --log-file h.log"} {
			out, code := l.run(append(strings.Fields(command), "h.lua", project.ID)...)
			if code == runtime.ExitOK || code == runtime.ExitPlanned || !strings.Contains(out, test.want) {
				t.Errorf("%s, %s: exit code %d\n%.2000s", name, command, code, out)
			}
			if token == "" || strings.Contains(out, token) {
				t.Errorf("%s, %s: the token is printed\n%.2000s", name, command, out)
			}
		}
	}
	for agent := range agents {
		if !strings.HasPrefix(agent, "transect/") {
			t.Errorf("a request of %q", agent)
		}
	}
}
