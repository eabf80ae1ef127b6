package bindings_test

import (
	"bytes"
	"context"
	"crypto/md5"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"transect/bindings"
	"transect/bindings/ingest"
	"transect/bindings/lookup"
	"transect/client"
	"transect/client/declare"
	"transect/client/files"
	"transect/platform"
	"transect/runtime/luastd"
	"transect/runtime/module"
	"transect/runtime/sandbox"
	"transect/runtime/vm"
	"transect/stdlib"
	"transect/testdata/flightgen"
)

// What only the closed folder holds. LEAK is in names there, too.
const closedText = "of the closed folder"

var leaks = []string{closedText, "LEAK", fmt.Sprintf("%x", md5.Sum([]byte(closedText)))}

// swappedUses are uses of the folder in; what they learn is printed.
var swappedUses = map[string]string{
	"fs.read":       `print(fs.read("in/a.txt"))`,
	"io.open":       `print(io.open("in/a.txt"):read("*a"))`,
	"io.lines":      `for l in io.lines("in/a.txt") do print(l) end`,
	"fs.lines":      `for l in fs.lines("in/a.txt") do print(l) end`,
	"fs.stat":       `if try(fs.stat, "in/b.bin") then print("LEAK") end`,
	"fs.list":       `print(table.concat(fs.list("in"), " "))`,
	"fs.glob":       `print(table.concat(fs.glob("in/**/*.txt"), " ")) print(table.concat(fs.glob("*/L*.txt"), " "))`,
	"fs.find":       `for p in fs.find("in/**/*.txt") do print(p) end`,
	"fs.walk":       `for p in fs.walk("in") do print(p) end`,
	"csv.read":      `for r in csv.read("in/r.csv") do print(r.name) end`,
	"json.read":     `print(json.read("in/d.json")[1])`,
	"hash.file":     `print(require("hash").md5_file("in/a.txt"))`,
	"dofile":        `dofile("in/m.lua")`,
	"require":       `package.path = "./in/?.lua" require("m")`,
	"imagery.read":  `if try(require("imagery").read, "in/FLIGHT_0002.JPG") then print("LEAK") end`,
	"imagery.scan":  `if #require("imagery").scan("in").photos > 1 then print("LEAK") end`,
	"imagery.each":  `local n = 0 for p in require("imagery").each("in") do n = n + 1 end if n > 1 then print("LEAK") end`,
	"http, file":    `require("http").post("URL", { file = "in/a.txt" })`,
	"http, target":  `require("http").get("URL", { target = "in/answer.txt" })`,
	"notify":        `try(require("notify").email, { smtp = "127.0.0.1:1", from = "a@b.c", to = "a@b.c", subject = "s", attachments = { "in/a.txt" } })`,
	"upload":        `local dataset = empty() sdk.datasets.upload_file{ dataset = dataset, component = "file", file_path = "in/a.txt" } print(sdk.datasets.describe(dataset).components[1].checksum)`,
	"attachment":    `sdk.annotations.add_attachments{ annotation = annotation(), file_paths = { "in/a.txt" } }`,
	"ingest":        `local r = ingest.run{ source = "in", project = project() } for f in r.files() do print(f.name, f.md5) end`,
	"ingest.check":  `for _, p in ipairs(ingest.check{ source = "in" }.problems) do print(p.name, p.message) end`,
	"ingest.verify": `print(ingest.verify{ ingest = "in/r.csv", on_file = function(v) print(v.name, v.cause) end }.missing)`,
	"retry_failed":  `fs.write("in/r.csv", "name,path,verdict\na.txt," .. require("path").abs("in/a.txt") .. ",failed\n") for f in ingest.run{ retry_failed = "in/r.csv", project = project() }.files() do print(f.name) end`,

	"fs.write":      `fs.write("in/new.txt", "x")`,
	"fs.write over": `fs.write("in/a.txt", "x")`,
	"fs.append":     `fs.append("in/a.txt", "x")`,
	"io.open, w":    `io.open("in/a.txt", "w"):close()`,
	"fs.mkdir":      `fs.mkdir("in/new/deeper")`,
	"fs.remove":     `fs.remove("in/a.txt")`,
	"remove all":    `fs.remove("in", { recursive = true })`,
	"os.remove":     `os.remove("in/a.txt")`,
	"os.rename":     `os.rename("in/a.txt", "b.txt") print(fs.read("b.txt"))`,
	"rename into":   `os.rename("b.txt", "in/b.txt")`,
	"fs.copy":       `fs.copy("in/a.txt", "c.txt") print(fs.read("c.txt"))`,
	"copy into":     `fs.copy("b.txt", "in/b.txt")`,
	"copy a tree":   `fs.copy("in", "tree", { recursive = true }) print(fs.read("tree/a.txt"), table.concat(fs.list("tree"), " "))`,
	"fs.move":       `fs.move("in/a.txt", "c.txt") print(fs.read("c.txt"))`,
	"move into":     `fs.move("b.txt", "in/b.txt")`,
	"csv.write":     `csv.write("in/new.csv", { { a = 1 } })`,
	"json.write":    `json.write("in/d.json", { 1 })`,
	"csv.writer":    `local w = csv.writer("in/new.csv") w:write({ a = 1 }) w:close()`,
	"download":      `sdk.datasets.download_component{ dataset = held(), component = "file", target_path = "in", target_name = "new.txt" }`,
	"download over": `sdk.datasets.download_component{ dataset = held(), component = "file", target_path = "in", target_name = "a.txt", overwrite = true }`,
	"download into": `sdk.datasets.download_component{ dataset = held(), component = "file", target_path = "in/below/deeper" }`,
	"report":        `ingest.run{ source = "b.txt", project = project(), report = "in/report.json" }`,
}

// swapped is a script that may use the folder open, and with it open/in, and
// nothing of the folder closed beside it.
type swapped struct {
	t                *testing.T
	script           *vm.Interp
	open, closed, in string
	out              told // printed and sent
	mu               sync.Mutex
	after, asked     int // so many questions for a file have in become a link to closed
}

func newSwapped(t *testing.T, p *platform.Platform, after int) *swapped {
	dir := sandbox.Canonical(t.TempDir())
	s := &swapped{t: t, after: after, open: filepath.Join(dir, "open"), closed: filepath.Join(dir, "closed"), in: filepath.Join(dir, "open", "in")}
	for name, text := range map[string]string{
		"open/in/a.txt": "open to all", "open/in/m.lua": "", "open/in/r.csv": "name,path,verdict\nn,a.txt,failed\n", "open/in/d.json": `["open"]`, "open/b.txt": "b",
		"closed/a.txt": closedText, "closed/m.lua": "print('" + closedText + "')", "closed/r.csv": "name,path,verdict\nLEAK,a.txt,failed\n",
		"closed/d.json": `["LEAK"]`, "closed/LEAK.txt": "x", "closed/b.bin": "x", "closed/deeper/x.txt": "x"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if strings.Contains(t.Name(), "imagery") {
		for folder, photos := range map[string]int{s.closed: 2, s.in: 1} {
			if err := flightgen.Write(folder, photos, flightgen.Options{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	gate := sandbox.NewPolicy(sandbox.Rules{Sandbox: true, Allow: sandbox.List{
		sandbox.Read: {s.open}, sandbox.Write: {s.open}, sandbox.Net: {"*"}, sandbox.Op: {"*"}}}, "", false)
	ask := func(a sandbox.Access, what string) error {
		err := gate.Permit(a, what)
		if a == sandbox.Read || a == sandbox.Write {
			s.answered()
		}
		return err
	}
	called := func(ctx context.Context, call *declare.Call, next declare.Handler) (declare.Value, error) {
		if strings.Contains(call.Spec.Name, "load") || strings.Contains(call.Spec.Name, "attach") {
			s.answered() // the gate was asked about its files
		}
		return next(ctx, call)
	}
	s.script = luastd.New(context.Background(), vm.Options{Stdout: &s.out, Stderr: &s.out, Dir: s.open, Progress: vm.ProgressQuiet,
		Env: environment(t.TempDir()), Permit: ask})
	t.Cleanup(s.script.Close)
	module.Preload(s.script, stdlib.Modules()...)
	bindings.Open(s.script, func(ctx context.Context, _ *client.Settings) (*client.Client, error) {
		c := p.Credentials()
		return client.New(ctx, client.Settings{URL: "http://transect.local", User: c.User, Password: c.Password, ClientID: c.ClientID, ClientSecret: c.ClientSecret},
			client.Options{RoundTripper: overheard{p.RoundTripper(), &s.out}, Links: []client.Link{client.At(client.PlacePermit, gate.Intercept),
				client.At(client.PlaceCharge, gate.Charge), client.At(client.PlacePlan, called)},
				Tree: files.Tree{View: s.script}, Folder: s.script.Receive})
	}, ingest.Module, lookup.Module)
	return s
}

// answered counts an answer, after one of which the link is put in place.
func (s *swapped) answered() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked++; s.asked != s.after {
		return
	}
	if err := os.Rename(s.in, s.in+".before"); err != nil && !os.IsNotExist(err) {
		s.t.Error(err)
	}
	if err := os.Symlink(s.closed, s.in); err != nil {
		s.t.Error(err)
	}
}

// told keeps what several write.
type told struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *told) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *told) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// overheard keeps what is sent.
type overheard struct {
	http.RoundTripper
	to *told
}

func (o overheard) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		_, _ = o.to.Write(text)
		r.Body = io.NopCloser(bytes.NewReader(text))
	}
	return o.RoundTripper.RoundTrip(r)
}

// TestLinksPutInBetween has another process put a link to the closed folder in
// the place of the open one, after each question for permission in turn:
// nothing is learned of the closed folder, and nothing changed there.
func TestLinksPutInBetween(t *testing.T) {
	p, err := platform.Open(context.Background(), platform.Options{Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	sent := make(chan string, 8)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		sent <- string(text)
	}))
	t.Cleanup(server.Close)
	for name, code := range swappedUses {
		t.Run(name, func(t *testing.T) {
			for after := 1; ; after++ {
				s := newSwapped(t, p, after)
				whole := snapshot(t, s.closed)
				_, err := s.script.RunString("use", swapSetup+strings.ReplaceAll(code, "URL", server.URL))
				if strings.HasPrefix(name, "http, file") {
					select {
					case text := <-sent:
						_, _ = s.out.Write([]byte(text))
					default:
					}
				}
				for _, leak := range leaks {
					if strings.Contains(s.out.String(), leak) {
						t.Errorf("swapped after question %d of %d, it learned %s:\n%s", after, s.asked, leak, s.out.String())
					}
				}
				if now := snapshot(t, s.closed); now != whole {
					t.Errorf("swapped after question %d of %d, it changed\n%s\nto\n%s", after, s.asked, whole, now)
				}
				if s.asked < after {
					if err != nil {
						t.Errorf("undisturbed: %v", err)
					}
					return
				}
			}
		})
	}
}

const swapSetup = `
local sdk, fs, csv, json, ingest = require("sdk"), require("fs"), require("csv"), require("json"), require("ingest")
local function project() return sdk.projects.create("Quarry", sdk.users.describe().company) end
local function empty() return sdk.datasets.create_file_dataset{ name = "f", project = project() } end
local function held()
  local dataset = empty()
  sdk.datasets.upload_file{ dataset = dataset, component = "file", file_path = "b.txt" }
  return dataset
end
local function annotation()
  return sdk.annotations.create{ project = project(), name = "Loose rock", geometry = { type = "Point", coordinates = { 7, 47 } } }
end
`

// snapshot tells all that a folder holds.
func snapshot(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		fmt.Fprintln(&b, rel, d.Type())
		if d.Type().IsRegular() {
			text, err := os.ReadFile(path)
			fmt.Fprintf(&b, "%x\n", md5.Sum(text))
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
