package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"transect/client/fault"
	"transect/client/transport/httpcore"
)

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func plain(r *http.Request, status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Request: r,
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body))}
}

func answering(status int, body string) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) { return plain(r, status, body), nil })
}

func TestEffectDecidesRepeats(t *testing.T) {
	for _, c := range []struct {
		status     int
		header     string // Retry-After
		repeatable bool
		again      bool
	}{
		{200, "", true, false},
		{400, "", true, false}, {404, "", true, false}, {409, "", true, false}, {413, "", true, false},
		{429, "", false, true}, {429, "", true, true},
		{500, "", false, false}, {500, "", true, true}, {502, "", true, true}, {504, "", false, false},
		{501, "", true, false},
		{503, "", false, false}, {503, "3", false, true}, {503, "", true, true},
	} {
		var calls atomic.Int64
		p := newPlatform(t, func(w http.ResponseWriter, r *http.Request) {
			if calls.Add(1) > 1 {
				fmt.Fprint(w, `{"second":true}`)
				return
			}
			if c.header != "" {
				w.Header().Set("Retry-After", c.header)
			}
			w.WriteHeader(c.status)
			fmt.Fprint(w, `{"service":"s","code":"C","message":"m","details":[1]}`)
		})
		tr, waited := open(t, Options{BaseURL: p.URL})
		r := create("/s/r")
		r.Repeatable = c.repeatable
		_, err := tr.Do(t.Context(), r)
		if again := calls.Load() > 1; again != c.again {
			t.Errorf("%+v: repeated %v", c, again)
		}
		if c.status != 200 && !c.again {
			f := isFault[*fault.ResponseError](t, err)
			if f.Status != c.status || f.Service != "s" || f.Code != "C" || f.Message != "m" || f.Operation != "things.create" || f.Details == nil {
				t.Errorf("%+v", f)
			}
		} else if err != nil {
			t.Errorf("%+v: %v", c, err)
		}
		if c.header == "3" && waited.longest() < 3*time.Second {
			t.Errorf("Retry-After of 3 s gave waits %v", waited.all)
		}
	}
}

func TestLastAnswerIsTheError(t *testing.T) {
	var calls atomic.Int64
	p := newPlatform(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusBadGateway)
		fmt.Fprintf(w, `{"message":"number %d"}`, calls.Add(1))
	})
	tr, waited := open(t, Options{BaseURL: p.URL, MaxRetries: 4})
	_, err := tr.Do(t.Context(), get("/s/r"))
	f := isFault[*fault.ResponseError](t, err)
	if calls.Load() != 5 || f.Message != "number 5" || f.Status != 502 || !strings.Contains(f.Hint, "tried 5 times") {
		t.Errorf("%d calls, %+v", calls.Load(), f)
	}
	for i, d := range waited.all {
		if full := firstBackoff << i; d < full/2 || d > full {
			t.Errorf("wait %d is %s", i+1, d)
		}
	}
}

func TestBrokenConnections(t *testing.T) {
	var calls atomic.Int64
	p := newPlatform(t, func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1)%2 == 1 {
			if strings.HasSuffix(r.URL.Path, "mid") {
				w.Header().Set("Content-Length", "1000")
				fmt.Fprint(w, `{"half`)
				_ = http.NewResponseController(w).Flush()
			}
			panic(http.ErrAbortHandler)
		}
		fmt.Fprint(w, `{}`)
	})
	tr, _ := open(t, Options{BaseURL: p.URL})
	for _, path := range []string{"/s/start", "/s/mid"} {
		calls.Store(0)
		if _, err := tr.Do(t.Context(), get(path)); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		calls.Store(0)
		_, err := tr.Do(t.Context(), create(path))
		if f := isFault[*fault.ConnectionError](t, err); !strings.Contains(f.Hint, "may have been processed") {
			t.Errorf("%s: %v, %s", path, err, f.Hint)
		}
		if calls.Load() != 1 {
			t.Errorf("a creation was sent %d times", calls.Load())
		}
	}
}

func TestUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	for _, address := range []string{"http://" + l.Addr().String(), "http://host.invalid"} {
		tr, waited := open(t, Options{BaseURL: address})
		err := tr.Login(t.Context())
		f := isFault[*fault.ConnectionError](t, err)
		if !strings.Contains(f.Error(), strings.TrimPrefix(address, "http://")) || !strings.Contains(f.Hint, "--url") {
			t.Errorf("%v, hint %s", err, f.Hint)
		}
		if len(waited.all) > firstContactRetries || waited.longest() > time.Second {
			t.Errorf("%s: waits %v", address, waited.all)
		}
	}
}

func TestCreationIsRepeatedWhenNothingLeft(t *testing.T) {
	calls := 0
	tr, _ := open(t, Options{BaseURL: "http://local", Credentials: Credentials{AccessToken: "abcdef"},
		RoundTripper: roundTripper(func(r *http.Request) (*http.Response, error) {
			if calls++; calls < 3 {
				return nil, &net.OpError{Op: "dial", Err: errors.New("connection refused")}
			}
			return plain(r, 200, `{}`), nil
		})})
	if _, err := tr.Do(t.Context(), create("/s/r")); err != nil || calls != 3 {
		t.Errorf("%v after %d calls", err, calls)
	}
}

func TestWebPage(t *testing.T) {
	for _, status := range []int{404, 405} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(status)
			fmt.Fprint(w, "<!DOCTYPE html><html>welcome</html>")
		}))
		tr, _ := open(t, Options{BaseURL: server.URL})
		_, err := tr.Do(t.Context(), get("/s/r"))
		if f := isFault[*fault.ConfigError](t, err); !strings.Contains(f.Message, "web page") {
			t.Errorf("%d: %v", status, err)
		}
		server.Close()
	}
}

func TestCancelAndTimeout(t *testing.T) {
	p := newPlatform(t, func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	tr, _ := open(t, Options{BaseURL: p.URL, Timeout: 100 * time.Millisecond, MaxRetries: -1})
	if err := tr.Login(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err := tr.Do(t.Context(), get("/s/r"))
	isFault[*fault.TimeoutError](t, err)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = tr.Do(ctx, get("/s/r"))
	isFault[*fault.CancelledError](t, err)

	ctx, stop := context.WithCancelCause(t.Context())
	stop(fault.Of(&fault.LimitError{}, "enough"))
	_, err = tr.Do(ctx, get("/s/r"))
	if fault.Find(err).Name() != "LimitError" {
		t.Errorf("%T %v", err, err)
	}

	ctx, done := context.WithTimeout(t.Context(), time.Millisecond)
	defer done()
	_, err = tr.Do(ctx, get("/s/r"))
	isFault[*fault.TimeoutError](t, err)
}

func TestSilenceInTheBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := piped(t, Options{Timeout: 250 * time.Millisecond}, func(w http.ResponseWriter, r *http.Request) {
			for range 6 { // slow, but never silent
				fmt.Fprint(w, "x")
				_ = http.NewResponseController(w).Flush()
				time.Sleep(60 * time.Millisecond)
			}
			if r.URL.Path == "/s/stall" {
				<-r.Context().Done()
			}
		}, nil)
		read := func(path string) error {
			r, err := tr.Stream(t.Context(), Request{Method: "GET", Path: path, Repeatable: true})
			if err != nil {
				t.Fatal(err)
			}
			_, err = io.ReadAll(r.Body)
			_ = r.Body.Close()
			return err
		}
		if err := read("/s/slow"); err != nil {
			t.Error(err)
		}
		if err := read("/s/stall"); !httpcore.IsTimeout(err) {
			t.Errorf("a stalled body gave %v", err)
		}
	})
}

// The pace is shared: while a host limits requests, none goes out.
func TestPauseHoldsForEveryone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var calls, early atomic.Int64
		var log bytes.Buffer
		tr, err := New(Options{BaseURL: "http://local", Logger: slog.New(slog.NewTextHandler(&log, nil)), Credentials: Credentials{AccessToken: "abcdef"},
			RoundTripper: roundTripper(func(r *http.Request) (*http.Response, error) {
				if calls.Add(1) == 1 {
					a := plain(r, 429, "")
					a.Header.Set("Retry-After", "20")
					return a, nil
				}
				if time.Since(start) < 20*time.Second {
					early.Add(1)
				}
				return plain(r, 200, "{}"), nil
			})})
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error)
		ask := func() { _, err := tr.Do(t.Context(), create("/s/r")); done <- err }
		go ask()
		synctest.Wait()
		for range 9 {
			go ask()
		}
		time.Sleep(5 * time.Second)
		if left := tr.RetryAfter(); left != 15*time.Second {
			t.Errorf("5 s later %s are left", left)
		}
		for range 10 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if early.Load() != 0 || time.Since(start) > 25*time.Second {
			t.Errorf("%d early requests, done after %s", early.Load(), time.Since(start))
		}
		if left := tr.RetryAfter(); left != 0 {
			t.Errorf("in the end %s are left", left)
		}
		if text := log.String(); strings.Count(text, "the platform limits requests") != 1 || !strings.Contains(text, "wait=20s") {
			t.Errorf("log: %s", text)
		}
	})
}

// Whoever watches a run sees what it waits for, but not each short interruption
// of each request.
func TestWaitingIsShown(t *testing.T) {
	for what, fail := range map[string]func(*http.Request) (*http.Response, error){
		"network":  func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF },
		"platform": func(r *http.Request) (*http.Response, error) { return plain(r, 502, ""), nil },
	} {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			var away atomic.Bool
			tr, err := New(Options{BaseURL: "http://local", Logger: slog.New(slog.NewTextHandler(&log, nil)), Credentials: Credentials{AccessToken: "abcdef"},
				RoundTripper: roundTripper(func(r *http.Request) (*http.Response, error) {
					if away.Load() {
						return fail(r)
					}
					return plain(r, 200, "{}"), nil
				})})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := tr.Do(t.Context(), get("/s/r")); err != nil || log.Len() > 0 {
				t.Fatalf("%v, shown: %s", err, log.String())
			}
			away.Store(true)
			time.AfterFunc(2*time.Second, func() { away.Store(false) })
			if _, err := tr.Do(t.Context(), get("/s/r")); err != nil {
				t.Error(err)
			}
			away.Store(true)
			start := time.Now()
			var requests sync.WaitGroup
			for range 20 {
				requests.Go(func() { _, _ = tr.Do(t.Context(), get("/s/r")) })
			}
			requests.Wait()
			lines := regexp.MustCompile(`level=INFO msg="waiting for the `+what+`, retry \d+ in \d+ s" reason=`).FindAllString(log.String(), -1)
			if most := 3 + int(time.Since(start)/noticeInterval); len(lines) < 3 || len(lines) > most || strings.Count(log.String(), "\n") != len(lines)+1 ||
				strings.Count(log.String(), `msg="the connection is back" after=`) != 1 {
				t.Errorf("%d notices in %s, want 3 to %d:\n%s", len(lines), time.Since(start), most, log.String())
			}
		})
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"0": 0, "7": 7 * time.Second, "99999": longestRetryAfter, "18446744073709551615": longestRetryAfter,
		"Fri, 02 Jan 2026 03:04:15 GMT": 10 * time.Second, "Fri, 02 Jan 2026 03:04:00 GMT": 0,
		"": -1, "soon": -1, "-3": -1,
	} {
		got, ok := retryAfter(value, now)
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("%q: %s, want %s", value, got, want)
		}
	}
}

func TestHeaders(t *testing.T) {
	var got http.Header
	p := newPlatform(t, func(w http.ResponseWriter, r *http.Request) { got = r.Header; fmt.Fprint(w, "{}") })
	tr, _ := open(t, Options{BaseURL: p.URL + "/", Version: "1.2", UserAgent: []string{"first/1", "last/2"}})
	if _, err := tr.Do(t.Context(), get("//s//r")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"Authorization": "Bearer token-number-1", "Content-Type": "application/json",
		"Cache-Control": "no-cache", "Referer": p.URL, "Accept-Encoding": "gzip"} {
		if got.Get(name) != want {
			t.Errorf("%s: %q, want %q", name, got.Get(name), want)
		}
	}
	if !strings.HasPrefix(got.Get("User-Agent"), "last/2 first/1 transect/1.2 Go/") {
		t.Error(got.Get("User-Agent"))
	}
}
