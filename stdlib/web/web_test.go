package web

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"transect/client/fault"
	"transect/client/transport/httpcore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func none(string) (string, bool) { return "", false }

func client(t *testing.T, o Options) *Client {
	if o.Env == nil {
		o.Env = none
	}
	c := New(o)
	t.Cleanup(c.Close)
	return c
}

func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

func address(t *testing.T, raw string) *url.URL {
	u, err := Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func get(c *Client, at string, r httpcore.Request) (string, error) {
	var err error
	if r.URL, err = Parse(at); err != nil {
		return "", err
	}
	a, err := c.Do(context.Background(), &r)
	if err != nil {
		return "", err
	}
	var body bytes.Buffer
	if err := a.Copy(&body, 1<<20); err != nil {
		return "", err
	}
	return body.String(), a.Failed(body.Bytes())
}

func TestCredentialsStayWithTheirOrigin(t *testing.T) {
	var there http.Header
	other := serve(t, func(w http.ResponseWriter, r *http.Request) { there = r.Header; _, _ = io.WriteString(w, "other") })
	var second http.Header
	first := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/near":
			second = r.Header
		case "/here":
			http.Redirect(w, r, "/near", http.StatusFound)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/odd":
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		default:
			http.Redirect(w, r, strings.Replace(other.URL, "127.0.0.1", "localhost", 1)+"/x", http.StatusTemporaryRedirect)
		}
	})
	c := client(t, Options{})
	header := http.Header{"Authorization": {"Bearer s3cret"}, "Cookie": {"s3cret"}, "X-Api-Key": {"s3cret"}, "Accept": {"text/plain"}}
	body, err := get(c, first.URL, httpcore.Request{Header: header})
	if err != nil || body != "other" || there.Get("Accept") != "text/plain" {
		t.Fatal(body, err, there)
	}
	for name, v := range there {
		if strings.Contains(v[0], "s3cret") {
			t.Errorf("%s went to another host", name)
		}
	}
	if _, err := get(c, first.URL+"/here", httpcore.Request{Header: header}); err != nil || second.Get("Authorization") == "" {
		t.Errorf("lost on the same host: %v", err)
	}
	there = nil
	_, err = get(c, first.URL, httpcore.Request{Method: "PUT", Header: header, Size: 1,
		Body: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("x")), nil }})
	if err == nil || !strings.Contains(err.Error(), "another host") || there != nil {
		t.Errorf("a body followed to another host: %v", err)
	}
	for path, want := range map[string]string{"/loop": "more than 10 times", "/odd": "an invalid address"} {
		if _, err := get(c, first.URL+path, httpcore.Request{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if a, err := c.Do(context.Background(), &httpcore.Request{URL: address(t, first.URL+"/here"), Redirects: -1}); err != nil || a.StatusCode != 302 {
		t.Error(a, err)
	} else {
		a.Close()
	}
}

func TestPermitIsAskedForEachHop(t *testing.T) {
	other := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("reached") })
	first := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL, http.StatusFound) })
	var asked []string
	c := client(t, Options{Permit: func(hostport string) error {
		asked = append(asked, hostport)
		if len(asked) > 1 {
			return fault.Of(&fault.PermissionError{}, "%s may not be reached", hostport)
		}
		return nil
	}})
	_, err := get(c, first.URL, httpcore.Request{})
	if f := fault.Find(err); f == nil || f.Name() != "PermissionError" || "http://"+asked[0] != first.URL || "http://"+asked[1] != other.URL {
		t.Error(err, asked)
	}
}

func TestCertificatesAreVerified(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/down" {
			http.Redirect(w, r, "http://"+r.Host, http.StatusFound)
		}
	}))
	defer s.Close()
	if _, err := get(client(t, Options{}), s.URL, httpcore.Request{}); err == nil || !strings.Contains(fault.Find(err).Facts().Hint, "ca_cert") {
		t.Error(err)
	}
	roots := s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	trusting := client(t, Options{Roots: roots})
	if _, err := get(trusting, s.URL, httpcore.Request{}); err != nil {
		t.Error(err)
	}
	if _, err := get(trusting, s.URL+"/down", httpcore.Request{}); err == nil || !strings.Contains(err.Error(), "https to http") {
		t.Error(err)
	}
}

func TestProxyOfTheEnvironment(t *testing.T) {
	proxy := serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "proxied "+r.URL.String()) })
	env := map[string]string{"http_proxy": proxy.URL, "NO_PROXY": "direct.invalid"}
	c := client(t, Options{Env: func(n string) (string, bool) { v, ok := env[n]; return v, ok }})
	if body, err := get(c, "http://far.invalid/x", httpcore.Request{}); err != nil || body != "proxied http://far.invalid/x" {
		t.Error(body, err)
	}
	if _, err := get(c, "http://direct.invalid/x", httpcore.Request{}); err == nil {
		t.Error("NO_PROXY was not heeded")
	}
}

func TestBounds(t *testing.T) {
	stop := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/long":
			_, _ = w.Write(bytes.Repeat([]byte("x"), 1<<20+1))
		case "/slow":
			for range 5 {
				_, _ = io.WriteString(w, "x")
				w.(http.Flusher).Flush()
				time.Sleep(60 * time.Millisecond)
			}
		case "/stuck":
			_, _ = io.WriteString(w, "x")
			w.(http.Flusher).Flush()
			<-stop
		case "/cut":
			w.Header().Set("Content-Length", "10")
			_, _ = io.WriteString(w, "x")
		}
	})
	t.Cleanup(func() { close(stop) })
	c := client(t, Options{})
	for path, want := range map[string]string{"/long": "LimitError", "/slow": "", "/stuck": "TimeoutError", "/cut": "ConnectionError"} {
		_, err := get(c, s.URL+path, httpcore.Request{Stall: 250 * time.Millisecond})
		if f := fault.Find(err); want == "" && err != nil || want != "" && (f == nil || f.Name() != want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(20*time.Millisecond, cancel)
	if a, err := c.Do(ctx, &httpcore.Request{URL: address(t, s.URL+"/stuck")}); err == nil {
		if err = a.Copy(io.Discard, 10); err != context.Canceled {
			t.Error(err)
		}
	}
}

func TestNoSecretsInErrors(t *testing.T) {
	for _, at := range []string{"http://u:s3cret@127.0.0.1:1/s3cret?token=s3cret", "http://u:s3cret@%zz/", "s3cret", "http:///s3cret"} {
		if _, err := get(client(t, Options{}), at, httpcore.Request{}); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("got %v", err)
		}
	}
	u, _ := url.Parse("https://example.com/x")
	if got := httpcore.HostPort(u); got != "example.com:443" {
		t.Error(got)
	}
}
