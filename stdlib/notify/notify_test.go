package notify

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"transect/stdlib/web"
)

func client(t *testing.T) *web.Client {
	c := web.New(web.Options{Env: func(string) (string, bool) { return "", false }})
	t.Cleanup(c.Close)
	return c
}

func TestPing(t *testing.T) {
	var got []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = append(got, r.Method+" "+r.URL.String()+" "+string(body))
	}))
	defer s.Close()
	c := client(t)
	for _, event := range []string{Start, Success, Fail} {
		if err := Ping(context.Background(), c, s.URL+"/uuid?rid=1", event, ""); err != nil {
			t.Fatal(err)
		}
	}
	if err := Ping(context.Background(), c, s.URL, Fail, strings.Repeat("x", 2*longestBody)+"the end"); err != nil {
		t.Fatal(err)
	}
	want := "POST /uuid/start?rid=1 |POST /uuid?rid=1 |POST /uuid/fail?rid=1 "
	if strings.Join(got[:3], "|") != want {
		t.Errorf("got %q", got[:3])
	}
	if last := got[3]; !strings.HasSuffix(last, "xthe end") || len(last) != longestBody+len("POST /fail ") {
		t.Errorf("got %d bytes", len(last))
	}
}

// A monitor that accepts a connection and says nothing costs a run little time.
func TestSlowMonitor(t *testing.T) {
	defer func(d time.Duration) { pingTimeout = d }(pingTimeout)
	pingTimeout = 50 * time.Millisecond
	over := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-over }))
	defer s.Close()
	defer close(over)
	err := Ping(context.Background(), client(t), s.URL+"/s3cret", Start, "")
	if want := "the monitor " + strings.TrimPrefix(s.URL, "http://") + " did not answer within 50ms"; err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestWebhookTriesAgain(t *testing.T) {
	defer func(d time.Duration) { pause = d }(pause)
	pause = time.Millisecond
	var calls atomic.Int32
	var body string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1) < 3 {
			w.WriteHeader(503)
			return
		}
		text, _ := io.ReadAll(r.Body)
		body = string(text)
	}))
	defer s.Close()
	if err := Webhook(context.Background(), client(t), s.URL, "fünf <6>"); err != nil || body != `{"text":"fünf <6>"}` {
		t.Errorf("got %q, %v", body, err)
	}
}

func TestSecretAddressesStaySecret(t *testing.T) {
	defer func(d time.Duration) { pause = d }(pause)
	pause = time.Millisecond
	var calls atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { calls.Add(1); w.WriteHeader(404) }))
	defer s.Close()
	c := client(t)
	for _, url := range []string{s.URL + "/s3cret", "http://127.0.0.1:1/s3cret", "http://user:s3cret@127.0.0.1:1/", "ftp://s3cret", "http://%zz/s3cret"} {
		err := Webhook(context.Background(), c, url, "x")
		if err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("got %v", err)
		}
	}
	if calls.Load() != 1 {
		t.Errorf("a refusal was repeated: %d", calls.Load())
	}
}
