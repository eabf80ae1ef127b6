package browser_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// served is a platform over TCP.
type served struct {
	URL, User, Password string
	ClientSecret        string `json:"client_secret"`
	process             *running
}

// serve serves a platform, at a port of its own or that of an earlier one.
func (s *site) serve(listen string) *served {
	s.t.Helper()
	p := &served{process: s.start("platform", "serve", "--json", "--listen", listen, "--dir", filepath.Join(s.dir, "platform"))}
	if err := json.Unmarshal([]byte(p.process.line(s.t)), p); err != nil {
		s.t.Fatal(err)
	}
	return p
}

// connect makes the program's commands use the platform.
func (s *site) connect(p *served) {
	s.write("password.txt", p.Password)
	s.env = append(s.env, "TRANSECT_URL="+p.URL, "TRANSECT_USER="+p.User, "TRANSECT_PASSWORD_FILE="+filepath.Join(s.dir, "password.txt"))
}

// A platform that goes away is said to be away, and the page comes back by
// itself; so does one whose own server was gone for a moment.
func TestPlatformGoesAway(t *testing.T) {
	needsBrowser(t)
	s := newSite(t)
	platform := s.serve("127.0.0.1:0")
	s.connect(platform)
	s.run("run", filepath.Join(s.root, "scripts/survey.lua"), "--out", "out", s.flight())
	address, _ := s.ui()
	p := open(t, address)
	p.visit("/datasets")
	p.reads("main", "FLIGHT_0001.JPG")
	p.expect("502")
	platform.process.kill()
	p.reads("#notice", "cannot be reached")
	p.picture("away")
	p.visit("/datasets") // opened meanwhile, and without scripts
	p.reads("main", "cannot be reached")
	p.picture("away-page")
	at, err := url.Parse(platform.URL)
	if err != nil {
		t.Fatal(err)
	}
	s.serve(at.Host)
	p.reads("main", "FLIGHT_0001.JPG")
	p.until(`document.getElementById("notice").hidden`)
}

// The connection to the page's own server is lost, and found again.
func TestConnectionLost(t *testing.T) {
	needsBrowser(t)
	s := newSite(t)
	address, _ := s.ui("--local")
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	cable := &cable{t: t, to: u.Host}
	cable.plug()
	t.Cleanup(cable.pull)
	p := open(t, strings.Replace(address, u.Host, cable.at, 1))
	p.visit("/runs")
	p.reads("main", "There are no runs yet")
	p.expect("net::ERR_")
	cable.pull()
	p.reads("#notice", "does not respond")
	p.picture("lost")
	s.past(time.Minute, time.Second, 0, nil)
	cable.plug()
	p.reads("#runs-last", "sync.lua")
	p.until(`document.getElementById("notice").hidden`)
}

// cable forwards connections to an address until it is pulled.
type cable struct {
	t        *testing.T
	to, at   string
	listener net.Listener
	mu       sync.Mutex
	open     []net.Conn
}

func (c *cable) plug() {
	c.t.Helper()
	listener, err := net.Listen("tcp", cmp.Or(c.at, "127.0.0.1:0"))
	if err != nil {
		c.t.Fatal(err)
	}
	c.listener, c.at = listener, listener.Addr().String()
	go func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("tcp", c.to)
			if err != nil {
				from.Close()
				continue
			}
			c.mu.Lock()
			c.open = append(c.open, from, to)
			c.mu.Unlock()
			go func() { _, _ = io.Copy(to, from); to.Close() }()
			go func() { _, _ = io.Copy(from, to); from.Close() }()
		}
	}()
}

func (c *cable) pull() {
	_ = c.listener.Close() // it may be pulled
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.open {
		_ = conn.Close()
	}
	c.open = nil
}

// Fifty pages of two browsers at once: each is answered, and those beyond the
// bound of streams ask again now and then.
func TestManyPages(t *testing.T) {
	needsBrowser(t)
	s := newSite(t)
	address, _ := s.ui("--local", "--allow-actions")
	p := open(t, address)
	p.visit("/another")
	p.click("main form button")
	p.see("input.address")
	second := open(t, eval[string](p, `document.querySelector("input.address").value`))
	for _, b := range []*tab{p, second} {
		// Frames are not allowed; what fifty windows ask for is asked for by one.
		b.visit("/runs")
		open := eval[int](b, `(async () => {
			const streams = Array.from({length: 25}, () => new EventSource("/events?topic=parts%3Aruns%3A&topic=platform"));
			const got = await Promise.all(streams.map(s => new Promise(done => { s.addEventListener("parts", () => done(1)); setTimeout(() => done(0), 15000); })));
			const page = await fetch("/runs").then(r => r.status);
			streams.forEach(s => s.close());
			return page === 200 ? got.reduce((a, b) => a + b) : -page;
		})()`)
		if open != 25 {
			t.Errorf("of 25 pages %d were answered", open)
		}
	}
	s.past(0, 0, 0, nil)
	p.reads("#runs-history", "sync.lua") // still live
	second.reads("#runs-history", "sync.lua")
}

// A stolen address is worth nothing: not after it was used, not with a guess,
// not from another site, and the cookie cannot be read by scripts.
func TestStolenAddress(t *testing.T) {
	needsBrowser(t)
	s := newSite(t)
	address, _ := s.ui("--local")
	p := open(t, address)
	if cookies := eval[string](p, "document.cookie"); cookies != "" {
		t.Errorf("scripts can read the cookie %q", cookies)
	}
	if strings.Contains(eval[string](p, "location.href + document.referrer + document.body.innerHTML"), "token=") {
		t.Error("the token is still on the page")
	}
	stranger := newTab(t)
	stranger.expect("401")
	for _, path := range []string{address, p.at + "/", p.at + "/runs", p.at + "/open?token=guess"} {
		stranger.navigate(path)
		if text := eval[string](stranger, "document.body.innerText"); !strings.Contains(text, "token") || strings.Contains(text, "Runs") {
			t.Errorf("a stranger at %s sees %q", path, text)
		}
	}

	// A page of another site, in the browser that is let in, can neither read nor post.
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!doctype html><title>evil</title><iframe src="%[1]s/runs"></iframe><form method="post" action="%[1]s/another"><button>x</button></form>`, p.at)
	}))
	t.Cleanup(evil.Close)
	p.expect("")                                                       // whatever a browser says of the other site
	p.navigate(strings.Replace(evil.URL, "127.0.0.1", "localhost", 1)) // another site
	if got := eval[string](p, fmt.Sprintf(`fetch(%q, {credentials: "include"}).then(r => r.text(), e => "refused")`, p.at+"/runs")); got != "refused" {
		t.Errorf("another site reads %.100q", got)
	}
	p.click("button")
	p.until(`location.pathname === "/another"`)
	if text := eval[string](p, "document.body.innerText"); strings.Contains(text, "/open?token=") {
		t.Errorf("another site made an address: %q", text)
	}
}

// The whole site is read over HTTP, with a connection that has secrets: none of
// them, no token and no signature is in any answer, nor in what the server logs.
func TestNoSecretOnAnyPage(t *testing.T) {
	needsBrowser(t)
	s := newSite(t)
	platform := s.serve("127.0.0.1:0")
	s.connect(platform)
	s.run("run", filepath.Join(s.root, "scripts/survey.lua"), "--out", "out", s.flight())
	s.write("leaky.lua", `print("password=" .. arg[1], "https://me:hunter2@host/", "Authorization: Bearer abcdefgh") error("token=" .. arg[1])`)
	_ = s.command("run", "leaky.lua", platform.Password).Run() // it fails
	address, process := s.ui("--verbose", "--allow-actions", s.flight())
	browser := enter(t, address)
	at, _, _ := strings.Cut(address, "/open")
	secrets := []string{platform.Password, platform.ClientSecret, "hunter2", "abcdefgh", "X-Amz-Signature", "signature=", "/open?token=", strings.SplitN(address, "token=", 2)[1]}
	queue, seen := []string{"/", "/folder", "/map", "/datasets", "/products", "/runs"}, map[string]bool{}
	for len(queue) > 0 && len(seen) < 150 {
		path := queue[0]
		queue = queue[1:]
		if seen[path] || strings.HasPrefix(path, "/actions/") {
			continue
		}
		seen[path] = true
		response, err := browser.Get(at + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range secrets {
			if strings.Contains(string(body), secret) || strings.Contains(fmt.Sprint(response.Header), secret) {
				t.Errorf("%s contains %q", path, secret)
			}
		}
		queue = append(queue, paths(string(body))...)
	}
	if len(seen) < 30 {
		t.Errorf("only %d pages were read", len(seen))
	}
	process.kill()
	for _, secret := range secrets {
		if strings.Contains(process.errors.String(), secret) {
			t.Errorf("the log of the page contains %q", secret)
		}
	}
}

// enter is a browser without scripts that opened an address.
func enter(t *testing.T, address string) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	response, err := browser.Get(address)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%v %v", response, err)
	}
	response.Body.Close()
	return browser
}

var attribute = regexp.MustCompile(`(?:href|src|action)="(/[^"]*)"`)

// paths are the paths that a page names.
func paths(body string) (list []string) {
	for _, m := range attribute.FindAllStringSubmatch(body, -1) {
		list = append(list, html.UnescapeString(m[1]))
	}
	return list
}
