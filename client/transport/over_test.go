package transport

import (
	"context"
	"net/http"
	"strings"
	"testing"
)

// passesOn passes requests on, and sends one of its own before each.
type passesOn struct {
	t     *testing.T
	below http.RoundTripper
	base  string
}

func (p passesOn) RoundTrip(req *http.Request) (*http.Response, error) {
	own, err := http.NewRequestWithContext(context.Background(), http.MethodPost, p.base+"/own", strings.NewReader(`{"a":1}`))
	if err != nil {
		return nil, err
	}
	answer, err := p.below.RoundTrip(own)
	if err != nil {
		return nil, err
	}
	answer.Body.Close()
	if req.Header.Get("Authorization") != "" {
		p.t.Error("what lies over the platform has its token")
	}
	return p.below.RoundTrip(req)
}

// emptyWire answers each request, and notes it.
type emptyWire struct{ got []string }

func (a *emptyWire) RoundTrip(req *http.Request) (*http.Response, error) {
	a.got = append(a.got, req.URL.Path+" "+req.Header.Get("Authorization")+" "+strings.Split(req.UserAgent(), "/")[0])
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Header: http.Header{}, Request: req}, nil
}

// What lies over a platform sends by the rules of its transport, and each request is
// traced once.
func TestOverThePlatform(t *testing.T) {
	wire := &emptyWire{}
	var traced []string
	tr, err := New(Options{BaseURL: "https://platform.example/base", Credentials: Credentials{AccessToken: "t0ken"}, RoundTripper: wire,
		Trace: func(r TraceRecord) { traced = append(traced, r.URL) },
		Over: func(base string, below http.RoundTripper) (http.RoundTripper, error) {
			return passesOn{t, below, base}, nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tr.Do(t.Context(), Request{Operation: "x.y", Path: "/asked"}); err != nil {
		t.Fatal(err)
	}
	want := "/base/own Bearer t0ken transect\n/base/asked Bearer t0ken transect"
	if got := strings.Join(wire.got, "\n"); got != want {
		t.Errorf("sent\n%s\nwant\n%s", got, want)
	}
	if len(traced) != 2 {
		t.Errorf("traced %q", traced)
	}
}
