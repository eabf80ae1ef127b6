package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// browse opens an address of the page like a browser that keeps cookies.
func browse(t *testing.T, address string) (*http.Client, string) {
	t.Helper()
	jar, _ := cookiejar.New(nil)
	browser := &http.Client{Jar: jar, Transport: &http.Transport{}}
	t.Cleanup(browser.CloseIdleConnections)
	if status, body := fetch(t, browser, address); status != http.StatusOK {
		t.Fatalf("%s answers %d %s", address, status, body)
	}
	at, _, _ := strings.Cut(address, "/open?")
	return browser, at
}

func fetch(t *testing.T, browser *http.Client, address string) (int, string) {
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

// ends interrupts a server on whose page somebody follows what happens.
func ends(t *testing.T, browser *http.Client, at string, p *process) {
	t.Helper()
	response, err := browser.Get(at + "/events?topic=platform")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if runtime.GOOS == "windows" {
		return // processes cannot send one another signals there
	}
	began := time.Now()
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if _, code := p.end(); code != 0 || time.Since(began) > 4*time.Second { // a stream that holds it up does so for 5 s
		t.Errorf("it ended after %s with exit code %d\n%s", time.Since(began), code, p.stderr.String())
	}
}

func TestUI(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir, nil, "ui", "--local")
	browser, at := browse(t, p.line())
	for path, want := range map[string]string{"/": "There are no projects yet", "/datasets": "There are no datasets yet", "/products": "Nothing was ordered yet", "/runs": "Runs", "/map": "Map"} {
		if status, body := fetch(t, browser, at+path); status != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("%s: %d, without %q", path, status, want)
		}
	}
	if status, _ := fetch(t, &http.Client{}, at+"/"); status != http.StatusUnauthorized {
		t.Errorf("without a cookie: %d", status)
	}
	ends(t, browser, at, p)
}

func TestUIOfWrongInput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "file.txt", "x")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"ui"}, "no platform was named"},
		{[]string{"ui", "--local", "nowhere"}, "cannot read the folder nowhere"},
		{[]string{"ui", "--local", "file.txt"}, "is not a folder"},
		{[]string{"ui", "--local", "a", "b"}, "unexpected argument b"},
		{[]string{"ui", "--local", "--listen", "nonsense"}, "cannot listen on nonsense"},
		{[]string{"ui", "--local", "--tiles", "nonsense"}, "{z}"},
	} {
		p := start(t, dir, nil, c.args...)
		if out, code := p.end(); code != 2 || out != "" || !strings.Contains(p.stderr.String(), c.want) {
			t.Errorf("%v: exit code %d, printed %q\n%s", c.args, code, out, p.stderr.String())
		}
	}
}

// The page of a served platform is at its address; the paths of its operations
// stay as they are.
func TestServeOffersThePage(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), nil, "platform", "serve", "--json")
	var ready struct{ URL, Page string }
	if err := json.Unmarshal([]byte(p.line()), &ready); err != nil || ready.Page == "" {
		t.Fatal(ready, err)
	}
	browser, at := browse(t, ready.Page)
	if status, body := fetch(t, browser, at+"/datasets"); status != http.StatusOK || !strings.Contains(body, "There are no datasets yet") {
		t.Errorf("the page: %d %s", status, body)
	}
	stranger := &http.Client{}
	for path, want := range map[string]int{"/": 401, "/datasets": 401, "/nothing": 404, "/project-manager/nothing": 404, "/data-manager/download-component": 401} {
		status, body := fetch(t, stranger, at+path)
		if status != want || strings.HasPrefix(body, "{") != (path != "/" && path != "/datasets") {
			t.Errorf("%s: %d %.80s", path, status, body)
		}
	}
	ends(t, browser, at, p)
}
