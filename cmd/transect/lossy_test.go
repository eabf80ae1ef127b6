package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"

	"github.com/rogpeppe/go-internal/testscript"

	"transect/platform"
)

// lossy KIND PATH sets the environment to a platform that carries out the first
// request to a path and then fails to answer it: KIND is lost, where the
// connection breaks, or silent, where nothing comes. It knows no Idempotency-Key.
func lossy(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: lossy KIND PATH")
	}
	p, err := platform.Open(context.Background(), platform.Options{Memory: true, IgnoreKeys: true})
	ts.Check(err)
	var met atomic.Bool
	closing := make(chan struct{})
	behind := p.Handler()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != args[1] || met.Swap(true) {
			behind.ServeHTTP(w, r)
			return
		}
		behind.ServeHTTP(httptest.NewRecorder(), r)
		if args[0] == "silent" {
			select {
			case <-r.Context().Done():
			case <-closing:
			}
		}
		panic(http.ErrAbortHandler)
	}))
	ts.Defer(func() {
		close(closing)
		server.Close()
		_ = p.Close()
	})
	login := p.Credentials()
	for name, value := range map[string]string{"URL": server.URL, "USER": login.User, "PASSWORD": login.Password, "CLIENT_ID": login.ClientID,
		"CLIENT_SECRET": login.ClientSecret} {
		ts.Setenv("TRANSECT_"+name, value)
	}
	ts.Setenv("COMPANY", strings.TrimSpace(login.Company))
}
