package web_test

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"transect/client"
	"transect/platform"
	"transect/runtime/unattended/history"
	"transect/runtime/web"
)

// page serves the page over HTTP for a local platform, and returns its address
// and a browser that is let in.
func page(t *testing.T, change func(*web.Options)) (*web.Server, string, *http.Client) {
	t.Helper()
	p, err := platform.Open(t.Context(), platform.Options{Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	made := p.Credentials()
	c, err := client.New(t.Context(), client.Settings{URL: platform.Address, User: made.User, Password: made.Password}, client.Options{RoundTripper: p.RoundTripper()})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(nil)
	o := web.Options{Client: c, Platform: "local", History: history.In(t.TempDir()), Cache: t.TempDir(), Listen: server.Listener.Addr().String()}
	if change != nil {
		change(&o)
	}
	s, err := web.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	server.Config.Handler = s
	server.Start()
	t.Cleanup(server.Close)
	return s, server.URL, enter(t, s)
}

// enter is a browser that opened an address of the page.
func enter(t *testing.T, s *web.Server) *http.Client {
	t.Helper()
	jar, _ := cookiejar.New(nil)
	browser := &http.Client{Jar: jar, Transport: &http.Transport{}}
	t.Cleanup(browser.CloseIdleConnections)
	if status, body := get(t, browser, s.Address()); status != http.StatusOK {
		t.Fatalf("the address answers %d %s", status, body)
	}
	return browser
}

func get(t *testing.T, browser *http.Client, address string) (int, string) {
	t.Helper()
	response, err := browser.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// send sends a request whose headers are made up.
func send(t *testing.T, browser *http.Client, method, address string, header map[string]string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range header {
		if r.Header.Set(name, value); name == "Host" {
			r.Host = value
		}
	}
	response, err := browser.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	return response
}

var sections = []string{"/", "/map", "/datasets", "/products", "/plans", "/runs"}

func TestNobodyEntersWithoutCookie(t *testing.T) {
	t.Parallel()
	s, at, browser := page(t, nil)
	stranger := &http.Client{}
	for _, path := range append(sections, "/static/page.css", "/events?topic=platform", "/nothing", "/another") {
		status, body := get(t, stranger, at+path)
		if status != http.StatusUnauthorized || strings.Contains(body, "local") {
			t.Errorf("%s without a cookie: %d %s", path, status, body)
		}
	}
	for _, token := range []string{"", "?token=", "?token=guess"} {
		if status, _ := get(t, stranger, at+"/open"+token); status != http.StatusUnauthorized {
			t.Errorf("/open%s: %d", token, status)
		}
	}
	address := s.Address()
	for i, want := range []int{http.StatusOK, http.StatusUnauthorized} {
		if status, _ := get(t, stranger, address); status != want {
			t.Errorf("use %d of an address: %d, want %d", i+1, status, want)
		}
	}
	for _, path := range sections {
		if status, body := get(t, browser, at+path); status != http.StatusOK {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
}

func TestHostAndOriginThatAreNotOurs(t *testing.T) {
	t.Parallel()
	_, at, browser := page(t, nil)
	u, _ := url.Parse(at)
	for _, c := range []struct {
		name   string
		header map[string]string
		status int
	}{
		{"ours", map[string]string{"Origin": at}, 200},
		{"a name", map[string]string{"Host": "localhost:" + u.Port(), "Cookie": cookies(browser, u)}, 200},
		{"a forwarded port", map[string]string{"Host": "localhost:9", "Cookie": cookies(browser, u)}, 200},
		{"a name of somebody's DNS", map[string]string{"Host": "rebind.example:" + u.Port()}, 403},
		{"an address of another machine", map[string]string{"Host": "192.0.2.1:" + u.Port()}, 403},
		{"no host", map[string]string{"Host": "."}, 403},
		{"another origin", map[string]string{"Origin": "http://evil.example"}, 403},
		{"another port", map[string]string{"Origin": "http://127.0.0.1:1"}, 403},
		{"a sandboxed frame", map[string]string{"Origin": "null"}, 403},
		{"a script of another site", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, 403},
		{"a link of another site", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, 200},
	} {
		if got := send(t, browser, http.MethodGet, at+"/runs", c.header).StatusCode; got != c.status {
			t.Errorf("%s: %d, want %d", c.name, got, c.status)
		}
	}
}

func cookies(browser *http.Client, u *url.URL) string {
	var list []string
	for _, c := range browser.Jar.Cookies(u) {
		list = append(list, c.String())
	}
	return strings.Join(list, "; ")
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	s, at, browser := page(t, func(o *web.Options) { o.Tiles = "https://tiles.example/{z}/{x}/{y}.png" })
	response := send(t, browser, http.MethodGet, at+"/", nil)
	for name, want := range map[string]string{
		"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin", "Cache-Control": "no-store", "X-Frame-Options": "DENY",
	} {
		if got := response.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	policy := response.Header.Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "script-src 'self';", "style-src 'self';", "img-src 'self' data: blob: https://tiles.example;", "frame-ancestors 'none'"} {
		if !strings.Contains(policy, want) {
			t.Errorf("the policy %q lacks %q", policy, want)
		}
	}
	response = send(t, &http.Client{}, http.MethodGet, s.Address(), nil)
	cookie := response.Header.Get("Set-Cookie")
	if !strings.Contains(cookie, "HttpOnly") || !strings.Contains(cookie, "SameSite=Strict") {
		t.Errorf("the cookie is %q", cookie)
	}
}
