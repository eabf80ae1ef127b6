package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"transect/client"
	"transect/client/declare"
	"transect/platform"
	"transect/runtime"
	"transect/runtime/web"
)

// recorded is a platform over HTTP that notes what it is sent.
type recorded struct {
	*httptest.Server
	platform *platform.Platform
	mu       sync.Mutex
	sent     []string // method, path and body
}

func newRecorded(t *testing.T) *recorded {
	t.Helper()
	p, err := platform.Open(t.Context(), platform.Options{Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	r := &recorded{platform: p}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		q.Body = io.NopCloser(bytes.NewReader(body))
		r.mu.Lock()
		r.sent = append(r.sent, q.Method+" "+q.URL.Path+" "+string(body))
		r.mu.Unlock()
		p.Handler().ServeHTTP(w, q)
	}))
	t.Cleanup(r.Close)
	return r
}

// since lists what was sent after the first n requests, without logging in.
func (r *recorded) since(n int) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.sent[n:]), func(s string) bool { return strings.Contains(s, "/oauth/token") })
}

func (r *recorded) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.sent)
}

// looker is a folder with a plan, and the program in this process.
type looker struct {
	t       *testing.T
	dir     string
	env     map[string]string
	real    []byte // the plan
	page    string
	browser *http.Client
}

const forgedScript = `local sdk = require("sdk")
local company = sdk.users.describe().company
local old = sdk.projects.search{ filter = { name = { ["$eq"] = "Old" } }, limit = 2, sort = { { name = 1 }, { _id = -1 } } }
for p in sdk.missions.search_generator{ filter = { name = { ["$eq"] = "none" } } } do error(p.name) end
local north = sdk.projects.create{ name = "North", company = company }
sdk.missions.create_mission{ project = north, name = "May", survey_date = "2026-05-01T00:00:00Z" }
for _, p in ipairs(old) do sdk.projects.update_name(p, { name = "Older" }) end
`

func newLooker(t *testing.T, r *recorded) *looker {
	t.Helper()
	made := r.platform.Credentials()
	l := &looker{t: t, dir: t.TempDir(), env: map[string]string{"TRANSECT_URL": r.URL, "TRANSECT_USER": made.User,
		"TRANSECT_PASSWORD": made.Password, "TRANSECT_CLIENT_ID": made.ClientID, "TRANSECT_CLIENT_SECRET": made.ClientSecret,
		"TRANSECT_STATE_DIR": t.TempDir(), "HOME": t.TempDir()}}
	write(t, l.dir, "s.lua", forgedScript)
	c, err := client.New(t.Context(), client.Settings{URL: r.URL, User: made.User, Password: made.Password,
		ClientID: made.ClientID, ClientSecret: made.ClientSecret}, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Projects.Create(t.Context(), client.CreateProject{Name: "Old", Company: client.ID(made.Company)}); err != nil {
		t.Fatal(err)
	}
	if out, code := l.run("plan", "s.lua", "-o", "real.plan"); code != runtime.ExitPlanned {
		t.Fatalf("exit code %d\n%s", code, out)
	}
	if l.real, err = os.ReadFile(filepath.Join(l.dir, "real.plan")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(l.dir, "real.plan")); err != nil {
		t.Fatal(err)
	}
	l.open(c)
	return l
}

// open opens the page, which shows the plans of the folder.
func (l *looker) open(c *client.Client) {
	l.t.Helper()
	server := httptest.NewUnstartedServer(nil)
	a := newCommandLine(l.process(nil, io.Discard))
	store, err := a.History()
	if err != nil {
		l.t.Fatal(err)
	}
	s, err := web.New(l.t.Context(), web.Options{Client: c, Platform: "recorded", History: store, Plans: []string{l.dir},
		Actions: true, Again: func(string, []string) error { l.t.Error("the page has started something"); return nil },
		Cache: l.t.TempDir(), Listen: server.Listener.Addr().String()})
	if err != nil {
		l.t.Fatal(err)
	}
	server.Config.Handler = s
	server.Start()
	l.t.Cleanup(server.Close)
	jar, err := cookiejar.New(nil)
	if err != nil {
		l.t.Fatal(err)
	}
	l.page, l.browser = server.URL, &http.Client{Jar: jar}
	l.visit(strings.TrimPrefix(s.Address(), server.URL))
}

// visit gets a page.
func (l *looker) visit(path string) string {
	l.t.Helper()
	answer, err := l.browser.Get(l.page + path)
	if err != nil {
		l.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode >= http.StatusInternalServerError {
		l.t.Errorf("%s: %d %v\n%s", path, answer.StatusCode, err, text)
	}
	return string(text)
}

func (l *looker) process(words []string, out io.Writer) *runtime.Process {
	return equip(&runtime.Process{Args: words, Stdin: strings.NewReader(""), Stdout: out, Stderr: out, Now: time.Now, Dir: l.dir,
		Env:        func(name string) (string, bool) { v, ok := l.env[name]; return v, ok },
		IsTerminal: func(any) bool { return false }, Exit: func(int) { panic("exit") }})
}

// run runs the program, and returns what it printed.
func (l *looker) run(words ...string) (string, int) {
	var out bytes.Buffer
	code := execute(l.process(words, &out))
	return out.String(), code
}

// files are those of the folder but for the plans.
func (l *looker) files() (names []string) {
	l.t.Helper()
	err := filepath.WalkDir(l.dir, func(path string, _ os.DirEntry, err error) error {
		if filepath.Ext(path) != ".plan" {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		l.t.Fatal(err)
	}
	return names
}

// reads tells requests of operations that read from others.
func reads() func(request string) bool {
	var routes []*regexp.Regexp
	for _, m := range client.Declarations() {
		for _, s := range m.Ops() {
			for _, route := range s.Routes {
				if s.Effect == declare.Read {
					form := regexp.MustCompile(`\\\{[^}]*\\\}`).ReplaceAllString(regexp.QuoteMeta(route), `[^/ ]+`)
					routes = append(routes, regexp.MustCompile("^"+s.Method+" "+form+" "))
				}
			}
		}
	}
	return func(request string) bool {
		return slices.ContainsFunc(routes, func(r *regexp.Regexp) bool { return r.MatchString(request) })
	}
}

// looksSafe looks at a plan in all ways, tries to carry it out and, when it is trusted, does
// so: nothing is sent, run or written but what the script of the plan writes.
func (l *looker) looksSafe(r *recorded, name string, text []byte, trust bool, isRead func(string) bool) {
	l.t.Helper()
	file := filepath.Join(l.dir, "forged.plan")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		l.t.Fatal(err)
	}
	before, n := l.files(), r.count()
	check := func(what, out string) {
		l.t.Helper()
		if strings.Contains(out, "panic") || strings.Contains(out, "goroutine ") {
			l.t.Errorf("%s: %s: panics\n%s\n%s", name, what, out, text)
		}
		lines := what != "page" && what != "map" && strings.Contains(out, "\nforged")
		if strings.ContainsAny(out, "\x1b\u202e\u009b\r") || lines {
			l.t.Errorf("%s: %s: prints %q", name, what, out)
		}
	}
	shown, _ := l.run("plan", "show", "forged.plan")
	check("show", shown)
	out, code := l.run("apply", "forged.plan")
	check("apply", out)
	own := strings.Contains(shown, "made by    you")
	if !own && code != runtime.ExitUsage {
		l.t.Errorf("%s: applied with exit code %d\n%s", name, code, out)
	}
	check("page", l.visit("/plans"))
	if id := regexp.MustCompile(`plan-[0-9]{8}-[0-9]{6}-[0-9a-f]{6}`).Find(text); id != nil && !own {
		page := l.visit("/plans/" + string(id) + "?compare=1")
		check("page", page)
		check("map", l.visit("/api/plans/"+string(id)))
	}
	if sent := r.since(n); !own && len(sent) > 0 {
		l.t.Errorf("%s: looking sent %q\n%s", name, sent, text)
	}
	if trust && !own {
		out, _ := l.run("apply", "--trust", "forged.plan")
		check("apply --trust", out)
	}
	for _, sent := range r.since(n) {
		if !isRead(sent) && !strings.Contains(sent, `"North"`) && !strings.Contains(sent, `"May"`) && !strings.Contains(sent, `"Older"`) {
			l.t.Errorf("%s: sent %s\n%s", name, sent, text)
		}
	}
	if after := l.files(); !slices.Equal(before, after) {
		l.t.Fatalf("%s: files were written: %q in place of %q", name, after, before)
	}
}

// rounds is how many forged plans a test tries: 200, or as many as a variable says.
func rounds(t *testing.T, variable string) int {
	n := 200
	if text := os.Getenv(variable); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// mutated changes a plan somewhere: bytes, lines or values.
func mutated(r *rand.Rand, text []byte) []byte {
	lines := bytes.SplitAfter(bytes.Clone(text), []byte("\n"))
	lines = lines[:len(lines)-1]
	at := r.IntN(len(lines))
	switch r.IntN(6) {
	case 0:
		text = bytes.Clone(text)
		for range 1 + r.IntN(4) {
			text[r.IntN(len(text))] = byte(r.IntN(256))
		}
		return text
	case 1:
		return text[:r.IntN(len(text))]
	case 2:
		lines = slices.Delete(lines, at, at+1)
	case 3:
		lines = slices.Insert(lines, at, lines[r.IntN(len(lines))])
	case 4:
		other := r.IntN(len(lines))
		lines[at], lines[other] = lines[other], lines[at]
	default:
		lines[at] = changed(r, lines[at])
	}
	return bytes.Join(lines, nil)
}

// hostile are values that a forged plan may have anywhere.
var hostile = []any{nil, true, -1, 0, 1 << 40, -1e300, 0.5, "", "\x1b[2J\nforged", "DELETE", "/", "../../../etc/passwd",
	"http://127.0.0.1:1/", "--on-failure=touch hacked", "projects.delete", "datasets.download_component", "users.describe",
	"credentials.search", "@put", "-", "/dev/zero", "plan-projects-000009", "@this|@pretty", "#(a==1)#", strings.Repeat("x", 70_000),
	[]any{}, []any{0, -5, 99}, []any{"--log-file=hacked", "--local=true", "--report=hacked", "--allow=run"}, map[string]any{},
	map[string]any{"method": "DELETE", "path": "/project-manager/projects/1"}, "\u202egnp.exe", "create", "delete", "order"}

// changed replaces, adds or removes a value of a line, a few levels deep.
func changed(r *rand.Rand, line []byte) []byte {
	var object map[string]any
	if json.Unmarshal(line, &object) != nil {
		return line
	}
	into := object
	for {
		keys := slices.Sorted(func(yield func(string) bool) {
			for key := range into {
				if !yield(key) {
					return
				}
			}
		})
		if len(keys) == 0 || r.IntN(8) == 0 {
			into[[]string{"method", "path", "body", "command", "x", "after", "key", "file"}[r.IntN(8)]] = hostile[r.IntN(len(hostile))]
			break
		}
		key := keys[r.IntN(len(keys))]
		if inner, ok := into[key].(map[string]any); ok && r.IntN(3) > 0 {
			into = inner
			continue
		}
		if into[key] = hostile[r.IntN(len(hostile))]; r.IntN(6) == 0 {
			delete(into, key)
		}
		break
	}
	text, err := json.Marshal(object)
	if err != nil {
		return line
	}
	// The first key tells the kind of a line, and the encoder sorts them.
	for _, kind := range []string{"transect_plan", "write", "read", "code", "file", "effect", "digest"} {
		if v, ok := object[kind]; ok && (kind != "file" || object["write"] == nil) {
			first, err := json.Marshal(map[string]any{kind: v})
			if err != nil {
				return line
			}
			delete(object, kind)
			if text, err = json.Marshal(object); err != nil {
				return line
			}
			if len(object) == 0 {
				return append(first, '\n')
			}
			return slices.Concat(first[:len(first)-1], []byte(","), text[1:], []byte("\n"))
		}
	}
	return append(text, '\n')
}

// A plan is data of a stranger: whatever stands in a file, looking at it sends, runs and
// writes nothing, and carrying it out does nothing but what its script does.
func TestMutatedPlans(t *testing.T) {
	r := newRecorded(t)
	l := newLooker(t, r)
	isRead := reads()
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("TRANSECT_MUTATED_SEED"); text != "" {
		seed, _ = strconv.ParseUint(text, 10, 64)
	}
	t.Logf("TRANSECT_MUTATED_SEED=%d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	n := rounds(t, "TRANSECT_MUTATED_PLANS")
	for i := range n {
		text := mutated(random, l.real)
		for range random.IntN(3) {
			if len(text) > 2 && bytes.Count(text, []byte("\n")) > 2 {
				text = mutated(random, text)
			}
		}
		if bytes.Equal(text, l.real) {
			continue
		}
		l.looksSafe(r, fmt.Sprint("mutation ", i), text, i%8 == 0, isRead)
		if t.Failed() {
			return
		}
	}
}

// Each forged plan differs from a real one in what an attacker would write.
func TestForgedPlans(t *testing.T) {
	r := newRecorded(t)
	l := newLooker(t, r)
	isRead := reads()
	lines := bytes.SplitAfter(l.real, []byte("\n"))
	tried := 0
	forge := func(name string, change func(kind string, object map[string]any) bool) {
		t.Helper()
		var forged []byte
		found := false
		for _, line := range lines[:len(lines)-1] {
			var object map[string]any
			if err := json.Unmarshal(line, &object); err != nil {
				t.Fatal(err)
			}
			kind := regexp.MustCompile(`^\{"(\w+)"`).FindSubmatch(line)[1]
			if !found && change(string(kind), object) {
				found, line = true, changedTo(t, string(kind), object)
			}
			forged = append(forged, line...)
		}
		if !found {
			t.Fatalf("%s: the plan has no such line", name)
		}
		l.looksSafe(r, name, forged, tried%4 == 0, isRead)
		tried++
	}
	set := func(kind, key string, value any) func(string, map[string]any) bool {
		return func(k string, object map[string]any) bool {
			if k == kind {
				object[key] = value
			}
			return k == kind
		}
	}
	for kind, keys := range map[string][]string{
		"transect_plan": {"script", "arguments", "options", "folder", "id", "by", "guess", "platforms", "version", "command"},
		"read":          {"read", "arguments", "platform", "found", "at", "method", "path"},
		"write":         {"write", "operation", "kind", "arguments", "after", "makes", "before", "key", "at", "name", "in", "file", "bytes"},
		"code":          {"code", "sha256"},
	} {
		for _, key := range keys {
			for i, value := range hostile {
				if (i+len(key))%5 == 0 || slices.Contains([]string{"options", "after", "method", "at"}, key) {
					forge(fmt.Sprintf("%s.%s=%.40q", kind, key, fmt.Sprint(value)), set(kind, key, value))
				}
			}
		}
	}
	for _, option := range []string{"--on-failure=touch hacked", "--log-file=hacked", "--metrics=hacked", "--report=hacked",
		"--ping=" + r.URL, "--config=hacked", "--user=x", "--local-dir=hacked", "--timeline=hacked", "--learn=true", "--apply=x",
		"--dry-run=true", "--budget=x", "--max-memory=-1", "--url=http://127.0.0.1:1", "--sandbox=\x1b\nforged", "-n", "--", "--trace"} {
		forge(option, set("transect_plan", "options", []any{option}))
	}
	t.Logf("%d forged plans", tried)
	if tried < 200 {
		t.Errorf("only %d", tried)
	}
	if _, err := os.Stat(filepath.Join(l.dir, "hacked")); err == nil {
		t.Error("a plan ran a command, or wrote a file")
	}
}

// changedTo is a line of a kind.
func changedTo(t *testing.T, kind string, object map[string]any) []byte {
	t.Helper()
	value, err := json.Marshal(object[kind])
	if err != nil {
		t.Fatal(err)
	}
	delete(object, kind)
	rest, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Appendf(nil, "{%q:%s,%s\n", kind, value, rest[1:])
}
