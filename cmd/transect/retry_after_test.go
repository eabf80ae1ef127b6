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

// Who looks at an ingest is told that it waits because the platform asked for
// a pause, and for how long, and that it went on.
func TestRetryAfterIsShown(t *testing.T) {
	t.Parallel()
	p, err := platform.Open(context.Background(), platform.Options{Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	var refused atomic.Bool
	served := p.Handler()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/data-manager/create-dataset") && !refused.Swap(true) {
			w.Header().Set("Retry-After", "3")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		served.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		server.Close()
		_ = p.Close()
	})
	dir := t.TempDir()
	write(t, dir, "card.txt", "windy")
	write(t, dir, "ingest.lua", `local sdk = require("sdk")
local project = sdk.projects.create("Quarry", sdk.users.describe().company)
print("uploaded", require("ingest").run{ source = "card.txt", project = project }.uploaded)`)
	login := p.Credentials()
	tm := onTerminal(t, dir, []string{"TRANSECT_URL=" + server.URL, "TRANSECT_USER=" + login.User, "TRANSECT_PASSWORD=" + login.Password,
		"TRANSECT_CLIENT_ID=" + login.ClientID, "TRANSECT_CLIENT_SECRET=" + login.ClientSecret}, "run", "ingest.lua")
	tm.sees("ingest: the platform limits requests: ")
	tm.sees("s left, 0 ")
	tm.sees("1 uploaded; 5 B sent")
	tm.sees("uploaded\t1")
	if code := tm.ends(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
