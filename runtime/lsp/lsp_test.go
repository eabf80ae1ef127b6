package lsp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"transect/runtime/lint"
	"transect/testdata/luaoracle"
)

// client is an editor: it sends the bytes that Visual Studio Code sends.
type client struct {
	t       *testing.T
	out     io.Writer
	in      chan message
	dir     string
	id      int
	version int
	done    chan bool
	shown   map[string]published // the last diagnostics of each document
}

type pipe struct {
	io.Reader
	io.WriteCloser
}

// initialize is what Visual Studio Code 1.90 sends, shortened.
const initialize = `{"processId":4711,"clientInfo":{"name":"Visual Studio Code","version":"1.90.0"},"locale":"en",` +
	`"rootPath":%[1]q,"rootUri":%[2]q,"capabilities":{"workspace":{"applyEdit":true,"workspaceEdit":` +
	`{"documentChanges":true,"resourceOperations":["create","rename","delete"],"failureHandling":"textOnlyTransactional"},` +
	`"didChangeWatchedFiles":{"dynamicRegistration":true},"workspaceFolders":true},"textDocument":{"publishDiagnostics":` +
	`{"relatedInformation":true,"versionSupport":true,"tagSupport":{"valueSet":[1,2]}},"synchronization":` +
	`{"dynamicRegistration":true,"willSave":true,"willSaveWaitUntil":true,"didSave":true},"completion":{"completionItem":` +
	`{"snippetSupport":true,"documentationFormat":["markdown","plaintext"]}},"hover":{"contentFormat":["markdown",` +
	`"plaintext"]},"rename":{"prepareSupport":true}},"general":{"positionEncodings":["utf-16"]}},"trace":"off",` +
	`"workspaceFolders":[{"uri":%[2]q,"name":"survey"}]}`

func start(t *testing.T, files map[string]string) *client {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "fields [2026]")
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	c := &client{t: t, out: toServer, in: make(chan message, 100), dir: dir, done: make(chan bool, 1),
		shown: map[string]published{}}
	s := New(checker())
	s.Module = moduleFile
	go func() {
		c.done <- s.Serve(context.Background(), pipe{fromClient, toClient})
		_ = toClient.Close()
	}()
	go c.read(bufio.NewReader(fromServer))
	t.Cleanup(func() { _ = toServer.Close() })
	var answer struct{ Capabilities map[string]any }
	c.call("initialize", json.RawMessage(fmt.Sprintf(initialize, dir, uriOf(dir))), &answer)
	for name := range capabilities {
		if answer.Capabilities[name] == nil {
			t.Errorf("the server does not say that it has %s", name)
		}
	}
	c.notify("initialized", object{})
	return c
}

func checker() *lint.Checker {
	checker := lint.New()
	checker.Local = moduleFile
	return checker
}

func moduleFile(script, module string) string {
	path := filepath.Join(filepath.Dir(script), filepath.FromSlash(strings.ReplaceAll(module, ".", "/"))+".lua")
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

func (c *client) send(message object) {
	c.t.Helper()
	message["jsonrpc"] = "2.0"
	body, err := json.Marshal(message)
	if err == nil {
		_, err = fmt.Fprintf(c.out, "Content-Length: %d\r\n\r\n%s", len(body), body)
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

type message struct {
	ID     *int
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
	}
}

// read reads messages until the connection ends.
func (c *client) read(in *bufio.Reader) {
	defer close(c.in)
	for {
		size := 0
		for line := ""; line != "\r\n"; {
			var err error
			if line, err = in.ReadString('\n'); err != nil {
				return
			}
			if n, ok := strings.CutPrefix(line, "Content-Length: "); ok {
				size, _ = strconv.Atoi(strings.TrimSpace(n))
			}
		}
		body, m := make([]byte, size), message{}
		if _, err := io.ReadFull(in, body); err != nil || json.Unmarshal(body, &m) != nil {
			return
		}
		c.in <- m
	}
}

func (c *client) receive() message {
	c.t.Helper()
	var m message
	select {
	case received, open := <-c.in:
		if m = received; !open {
			c.t.Fatal("the server has ended")
		}
	case <-time.After(time.Minute):
		c.t.Fatal("the server does not answer")
	}
	if m.Method == "textDocument/publishDiagnostics" {
		var p published
		if err := json.Unmarshal(m.Params, &p); err != nil {
			c.t.Fatal(err)
		}
		c.shown[p.URI] = p
	}
	return m
}

// try sends a request and returns the message of a refusal.
func (c *client) try(method string, params, result any) (refusal string) {
	c.t.Helper()
	c.id++
	c.send(object{"id": c.id, "method": method, "params": params})
	for {
		m := c.receive()
		switch {
		case m.ID == nil:
		case *m.ID != c.id:
			c.t.Fatalf("an answer to %d, not to %d", *m.ID, c.id)
		case m.Error != nil:
			return m.Error.Message
		default:
			if err := json.Unmarshal(m.Result, result); err != nil {
				c.t.Fatal(err)
			}
			return ""
		}
	}
}

func (c *client) call(method string, params, result any) {
	c.t.Helper()
	if refusal := c.try(method, params, result); refusal != "" {
		c.t.Fatalf("%s: %s", method, refusal)
	}
}

func (c *client) notify(method string, params any) {
	c.t.Helper()
	c.send(object{"method": method, "params": params})
}

func (c *client) uri(name string) string {
	return uriOf(filepath.Join(c.dir, filepath.FromSlash(name)))
}

// show opens a document, or gives it another text, and returns its diagnostics.
func (c *client) show(name, text string) []diagnostic {
	c.t.Helper()
	uri := c.uri(name)
	c.version++
	if _, open := c.shown[uri]; open {
		c.notify("textDocument/didChange", object{"textDocument": object{"uri": uri, "version": c.version},
			"contentChanges": []object{{"text": text}}})
	} else {
		c.notify("textDocument/didOpen", object{"textDocument": object{"uri": uri, "languageId": "lua", "version": c.version,
			"text": text}})
	}
	return c.diagnostics(uri)
}

func (c *client) diagnostics(uri string) []diagnostic {
	c.t.Helper()
	for c.shown[uri].Version == nil || *c.shown[uri].Version != c.version {
		c.receive()
	}
	return c.shown[uri].Diagnostics
}

// at opens a text whose cursor is | and returns parameters with its position.
func (c *client) at(name, text string) object {
	c.t.Helper()
	before, after, _ := strings.Cut(text, "|")
	c.show(name, before+after)
	line := before[strings.LastIndex(before, "\n")+1:]
	return object{"textDocument": object{"uri": c.uri(name)},
		"position": position{strings.Count(before, "\n"), len(utf16.Encode([]rune(line)))}}
}

func TestDiagnostics(t *testing.T) {
	t.Parallel()
	c := start(t, map[string]string{"own.lua": "return {}"})
	const code = "local own = require('own')\nlocal x = 'ü𝄞' .. nowhere\nown.y = %s\nlocal json = require('json')\njson.decod('')\n"
	for value, want := range map[string]string{
		"1":   "1:6-7 2 unused-variable, 1:19-26 1 undeclared-global, 4:5-10 1 unknown-function",
		"= 1": "2:8-9 1 syntax, 4:5-10 1 unknown-function",
	} {
		var got []string
		for _, d := range c.show("main.lua", fmt.Sprintf(code, value)) {
			got = append(got, fmt.Sprintf("%d:%d-%d %d %s", d.Range.Start.Line, d.Range.Start.Character, d.Range.End.Character,
				d.Severity, d.Code))
		}
		if list := strings.Join(got, ", "); list != want {
			t.Errorf("got %s, want %s", list, want)
		}
	}
	if list := c.show("main.lua", "print(1)\n"); len(list) != 0 {
		t.Errorf("got %v", list)
	}
	c.notify("textDocument/didClose", object{"textDocument": object{"uri": c.uri("main.lua")}})
	var nothing any
	if refusal := c.try("textDocument/hover", c.at("other.lua", "x|"), &nothing); refusal != "" {
		t.Error(refusal)
	}
	if refusal := c.try("textDocument/unheardOf", object{}, &nothing); refusal == "" {
		t.Error("an unknown method is not refused")
	}
	c.notify("$/setTrace", object{"value": "off"})
	c.call("shutdown", nil, &nothing)
	if refusal := c.try("textDocument/hover", object{}, &nothing); refusal == "" {
		t.Error("a request after shutdown is not refused")
	}
	c.notify("exit", nil)
	if !<-c.done {
		t.Error("shutdown was sent")
	}
}

const libraryCode = `-- Finds things.
local find = {}

-- target reads a path.
-- It may fail.
function find.target(path)
  return path
end
find.limit = #find.target("")

return find
`

func TestCompletionOfDocuments(t *testing.T) {
	t.Parallel()
	c := start(t, map[string]string{"lib/find.lua": libraryCode, "flight/a.jpg": "", "flight/b.jpg": "",
		".nvim.lua": "", ".hidden/x.lua": ""})
	const modules = "local sdk, projects, json, task = require('sdk'), require('projects'), require('json'), require('task')\n"
	for _, test := range []struct{ code, want string }{ // "-x" must not be among the words; "=x" is the only one
		{"sdk.pro|", "projects products -datasets"},
		{"sdk.projects.sear|", "search search_generator"},
		{"projects.sear|\nprint(1)", "search search_generator"},
		{"if projects then\n  local own = 1\n  print(ow|", "=own"},
		{"local function f(alpha)\n  for i, beta in ipairs(alpha) do\n    f(be|)\n  end\nend", "=beta"},
		{"do local hidden = 1 end\nprint(hid|", ""},
		{"json.|", "encode decode"},
		{"json:|", ""},
		{"string.up|", "=upper"},
		{"local s = 'a'\ns:up|", "=upper"},
		{"require('lib.fi|", "=lib.find"},
		{"require('jso|", "=json"},
		{"require('|", "json lib.find -.nvim -.hidden.x"},
		{"local find = require('lib.find')\nfind.|", "target limit -path"},
		{"projects.search{ fil|", "=filter"},
		{"projects.search{\n  filter = {\n    na|\n  },\n}\nprint(1)", "=name"},
		{"projects.search{ filter = { name = { ['$e|", "$eq $exists"},
		{"projects.create{ name = 'x', |}", "company -name"},
		{"for p in projects.search_generator{} do\n  print(p.na|)\nend", "=name"},
		{"local list = projects.search{}\nlist[1].na|", "=name"},
		{"local p = projects.describe('x')\nprint(p.na|", "=name"},
		{"local p = projects.find_or_create{ name = 'x' }\nprint(p.na|", "=name"},
		{"local p = projects.describe{ project = { 'x', 'y' } }\nprint(p.na|", ""},
		{"local t = task.spawn(print)\nt:aw|", "=await"},
		{"projects.search{ sort = { na|", "=name"},
		{"json.encode({}, { ind|", "=indent"},
		{"local x = { open = '𝄞flight/|' }", "a.jpg-"},
		{"local fs = require('fs') fs.read('flight/|')", "a.jpg b.jpg"},
		{"-- proj|", ""},
		{"task.spawn(function()\n  local inner = 1\n  return inn|\nend)", "=inner"},
		{"local x = = 1\nlocal y = 2\nsdk.projects.des|", "describe"},
		{"whi|", "while"},
	} {
		var got struct{ Items []completionItem }
		c.call("textDocument/completion", c.at("main.lua", modules+test.code), &got)
		var words []string
		for _, item := range got.Items {
			words = append(words, item.Label)
		}
		if only, ok := strings.CutPrefix(test.want, "="); ok || test.want == "" {
			if len(words) != min(1, len(only)) || len(words) == 1 && words[0] != only {
				t.Errorf("%s: got %q, want only %q", test.code, words, only)
			}
			continue
		}
		for _, want := range strings.Fields(test.want) {
			if refused, ok := strings.CutPrefix(want, "-"); ok == slices.Contains(words, cutDash(want)) && (ok || !strings.HasSuffix(want, "-")) {
				t.Errorf("%s: got %q, %q %q", test.code, words, want, refused)
			}
		}
	}
	var got struct{ Items []completionItem }
	c.call("textDocument/completion", c.at("main.lua", modules+"x = '𝄞' projects.search_gen|"), &got)
	if want := (span{position{1, 18}, position{1, 28}}); len(got.Items) != 1 || got.Items[0].TextEdit.Range != want ||
		!strings.HasPrefix(got.Items[0].Detail, "projects.search_generator(") || got.Items[0].Documentation == nil {
		t.Errorf("got %+v", got.Items)
	}
}

func cutDash(word string) string { return strings.TrimPrefix(word, "-") }

func TestHoverAndSignature(t *testing.T) {
	t.Parallel()
	c := start(t, map[string]string{"lib/find.lua": libraryCode})
	const modules = "local projects, json = require('projects'), require('json')\n"
	for _, test := range []struct{ code, want string }{
		{"projects.sea|rch{}", "projects.search("},
		{"proj|ects.search{}", "projects"},
		{"projects.search{ lim|it = 1 }", "`limit`: integer"},
		{"json.encode({}, { ind|ent = '' })", "`indent`: "},
		{"for p in projects.search_generator{} do print(p.na|me) end", "`Project.name`: string\n\nname of the project"},
		{"for p in projects.search_generator{} do print(|p) end", "local p: project"},
		{"-- counts\nlocal n = 1\nprint(|n)", "local n = 1 -- number\n```\n\ncounts"},
		{"local find = require('lib.find')\nprint(find.tar|get)", "function find.target(path)\n```\n\ntarget reads a path.\nIt may fail."},
		{"print(1|)", ""},
	} {
		var got hover
		c.call("textDocument/hover", c.at("main.lua", modules+test.code), &got)
		if text := ""; got.Contents != nil {
			text = got.Contents.Value
			if test.want == "" || !strings.Contains(text, test.want) {
				t.Errorf("%s: got %s", test.code, text)
			}
		} else if test.want != "" {
			t.Errorf("%s: got nothing", test.code)
		}
	}
	for _, test := range []struct {
		code, want string
		active     string
	}{
		{"projects.search(|", "projects.search(", "filter"},
		{"projects.search{ limit = |", "projects.search(", "limit"},
		{"projects.search{ filter = { name = |", "projects.search(", "filter"},
		{"json.encode({}, |", "json.encode(", "options"},
		{"print(json.encode({}), |", "", ""},
		{"x = |", "", ""},
	} {
		var got signatureHelp
		c.call("textDocument/signatureHelp", c.at("main.lua", modules+test.code), &got)
		if len(got.Signatures) == 0 {
			if test.want != "" {
				t.Errorf("%s: got nothing", test.code)
			}
			continue
		}
		s := got.Signatures[0]
		if test.want == "" || !strings.HasPrefix(s.Label, test.want) || test.active != "options" &&
			s.Parameters[got.ActiveParameter].Label != test.active {
			t.Errorf("%s: got %s, %d", test.code, s.Label, got.ActiveParameter)
		}
	}
}

func TestDefinitionAndReferences(t *testing.T) {
	t.Parallel()
	c := start(t, map[string]string{"lib/find.lua": libraryCode,
		"other.lua": "local f = require('lib.find')\nprint(f.target('a'), f.limit)\n", ".hidden/x.lua": "x = = 1"})
	const code = "local find = require('lib.find')\nlocal a = 1\nlocal function g(a) return a + 1 end\nprint(g(a), find.target('b'))\nb = a\nprint(b)\n"
	for _, test := range []struct{ at, want string }{
		{"print(g(|a)", "main.lua 1:6"},
		{"return |a + 1", "main.lua 2:17"},
		{"print(|g(a)", "main.lua 2:15"},
		{"find.|target('b')", "lib/find.lua 5:14"},
		{"require('lib|.find')", "lib/find.lua 0:0"},
		{"print(|b)", "main.lua 4:0"},
	} {
		var got *location
		c.call("textDocument/definition", c.at("main.lua", strings.Replace(code, strings.Replace(test.at, "|", "", 1), test.at, 1)), &got)
		if got == nil {
			t.Errorf("%s: got nothing", test.at)
		} else if text := c.place(*got); text != test.want {
			t.Errorf("%s: got %s, want %s", test.at, text, test.want)
		}
	}
	for _, test := range []struct{ at, want string }{
		{"print(g(|a)", "main.lua 1:6, main.lua 3:8, main.lua 4:4"},
		{"find.|target('b')", "lib/find.lua 5:14, lib/find.lua 8:19, main.lua 3:17, other.lua 1:8"},
		{"print(|b)", "main.lua 4:0, main.lua 5:6"},
	} {
		var got []location
		where := c.at("main.lua", strings.Replace(code, strings.Replace(test.at, "|", "", 1), test.at, 1))
		where["context"] = object{"includeDeclaration": true}
		c.call("textDocument/references", where, &got)
		var list []string
		for _, l := range got {
			list = append(list, c.place(l))
		}
		if text := strings.Join(list, ", "); text != test.want {
			t.Errorf("%s: got %s, want %s", test.at, text, test.want)
		}
	}
}

func (c *client) place(l location) string {
	name, _ := filepath.Rel(c.dir, pathOf(l.URI))
	return fmt.Sprintf("%s %d:%d", filepath.ToSlash(name), l.Range.Start.Line, l.Range.Start.Character)
}

func TestRename(t *testing.T) {
	t.Parallel()
	c := start(t, nil)
	for _, test := range []struct{ code, name, want string }{
		{"local |a = '𝄞' .. x\nlocal function f(a) return a end\nprint(f(a), '𝄞', a, t.a, { a = a })", "b",
			"local b = '𝄞' .. x\nlocal function f(a) return a end\nprint(f(b), '𝄞', b, t.a, { a = b })"},
		{"local function f(|a) return a end", "value", "local function f(value) return value end"},
		{"for i, |v in pairs(t) do print(i, v) end", "w", "for i, w in pairs(t) do print(i, w) end"},
		{"local |a = 1\nlocal b = 2\nprint(a, b)", "b", ""},
		{"local |a = 1\nprint(a, other)", "other", ""},
		{"local |a = 1\nprint(a)", "end", ""},
		{"local |a = 1\nprint(a)", "2b", ""},
		{"glo|bal = 1", "b", ""},
		{"local |a = = 1", "b", ""},
	} {
		var edit workspaceEdit
		params := c.at("main.lua", test.code)
		params["newName"] = test.name
		refusal := c.try("textDocument/rename", params, &edit)
		if (refusal != "") != (test.want == "") {
			t.Errorf("%s: %q", test.code, refusal)
			continue
		}
		d := newDocument("", "", 0, []byte(strings.Replace(test.code, "|", "", 1)))
		for _, e := range edit.Changes[c.uri("main.lua")] { // from the end to the beginning
			d.edit(change{&e.Range, e.NewText})
		}
		if refusal == "" && string(d.text) != test.want {
			t.Errorf("%s becomes\n%s", test.code, d.text)
		}
	}
	var prepared struct {
		Range       span
		Placeholder string
	}
	c.call("textDocument/prepareRename", c.at("main.lua", "local x, ab|c = 1, 2"), &prepared)
	if prepared.Placeholder != "abc" || prepared.Range != (span{position{0, 9}, position{0, 12}}) {
		t.Errorf("got %+v", prepared)
	}
}

func TestFormattingOfDocuments(t *testing.T) {
	t.Parallel()
	c := start(t, nil)
	const code = "if  x then\nprint('ü')\nend"
	var edits []textEdit
	c.call("textDocument/formatting", c.at("main.lua", code), &edits)
	d := newDocument("", "", 0, []byte(code))
	for _, e := range edits {
		d.edit(change{&e.Range, e.NewText})
	}
	if string(d.text) != "if x then\n  print(\"ü\")\nend\n" {
		t.Errorf("got %s", d.text)
	}
	if refusal := c.try("textDocument/formatting", c.at("main.lua", "if"), &edits); refusal == "" {
		t.Error("a script that does not compile is formatted")
	}
}

// TestRandomEdits edits a document at random, as an editor tells it, and compares the
// diagnostics after each edit with those of the whole text.
func TestRandomEdits(t *testing.T) {
	t.Parallel()
	count, seed := 1000, uint64(time.Now().UnixNano())
	if n, err := strconv.Atoi(os.Getenv("TRANSECT_LSP_EDITS")); err == nil {
		count = n
	}
	t.Logf("%d edits of seed %d", count, seed)
	random := rand.New(rand.NewPCG(seed, 0))
	scripts, err := filepath.Glob("../../scripts/lib/*.lua")
	if err != nil || len(scripts) == 0 {
		t.Fatal(scripts, err)
	}
	code, err := os.ReadFile(scripts[random.IntN(len(scripts))])
	if err != nil {
		t.Fatal(err)
	}
	original := string(code)
	pieces := []string{"\n", "\r\n", " ", "end", "local x = 1", "ü", "𝄞", "(", ")", "{", "}", "'", "--", "[[", "]]", "= =",
		"function", "if x then\n", "print(nowhere)\n", "\t", "json.decod()", "\\999", "goto", "\xff", "\r"}
	c := start(t, nil)
	c.show("main.lua", original)
	text := utf16.Encode([]rune(original))
	other := checker()
	uri := c.uri("main.lua")
	var changes []object // that the editor has not told yet: it tells some together, and some as the whole text
	for i := range count {
		from := random.IntN(len(text) + 1)
		to := min(len(text), from+random.IntN(8))
		insert := utf16.Encode([]rune(pieces[random.IntN(len(pieces))]))
		switch {
		case i%100 == 99: // the author returns to what was right
			from, to, insert = 0, len(text), utf16.Encode([]rune(original))
		case random.IntN(3) == 0:
			insert = nil
		}
		from, to = whole(text, from), whole(text, to)
		change := object{"range": span{lineOf(text, from), lineOf(text, to)}, "rangeLength": to - from,
			"text": string(utf16.Decode(insert))}
		text = slices.Concat(text[:from], insert, text[to:])
		now := string(utf16.Decode(text))
		if random.IntN(8) == 0 {
			change = object{"text": now}
		}
		if changes = append(changes, change); i+1 < count && random.IntN(8) == 0 {
			continue
		}
		c.version++
		c.notify("textDocument/didChange", object{"textDocument": object{"uri": uri, "version": c.version},
			"contentChanges": changes})
		changes = nil
		got := c.diagnostics(uri)
		d := newDocument(uri, pathOf(uri), 0, []byte(now))
		want := other.Script(d.path, d.text)
		if !slices.EqualFunc(got, want, func(got diagnostic, p lint.Problem) bool {
			message, _, _ := strings.Cut(got.Message, " (")
			return got.Range == d.token(p.Line, p.Column) && got.Code == p.Rule && strings.HasPrefix(p.Message, message)
		}) {
			t.Fatalf("edit %d of seed %d: got %+v, want %+v of\n%s", i, seed, got, want, now)
		}
		if i%50 == 0 { // whatever is asked, it is answered
			for _, method := range []string{"hover", "completion", "signatureHelp", "definition", "references", "rename"} {
				var any any
				if refusal := c.try("textDocument/"+method, object{"textDocument": object{"uri": uri}, "newName": "z",
					"position": lineOf(text, from)}, &any); strings.Contains(refusal, "failed:") {
					t.Fatalf("%s, seed %d: %s", method, seed, refusal)
				}
			}
		}
	}
}

// whole is a place that parts neither a surrogate pair nor a line end.
func whole(text []uint16, at int) int {
	if at > 0 && at < len(text) && (utf16.IsSurrogate(rune(text[at])) && text[at] >= 0xdc00 || text[at-1] == '\r' && text[at] == '\n') {
		return at - 1
	}
	return at
}

// lineOf is a place as the protocol tells it, found in another way than the server does.
func lineOf(text []uint16, at int) (p position) {
	for i, unit := range text[:at] {
		p.Character++
		if unit == '\n' || unit == '\r' && (i+1 == len(text) || text[i+1] != '\n') {
			p = position{p.Line + 1, 0}
		}
	}
	return p
}

// TestRenamingKeepsTheMeaning renames a variable of random programs and runs both.
func TestRenamingKeepsTheMeaning(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	s, renamed := New(checker()), 0
	s.Module = moduleFile
	for n := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, n))
		program := luaoracle.Generate(seed, n).String()
		d := s.analysed(newDocument("file:///x.lua", "", 0, []byte(program)))
		var locals []int
		for i, name := range d.script.Names {
			if name.Declared == i && len(name.Text) > 1 {
				locals = append(locals, i)
			}
		}
		old := d.script.Names[locals[random.IntN(len(locals))]]
		var p params
		p.Position, p.NewName = d.rangeOf(&old).Start, old.Text[:len(old.Text)-1]+"Q" // messages have the same length
		answer, err := s.rename(d, p)
		if err != nil {
			t.Fatalf("seed %d, program %d: %s: %v\n%s", seed, n, old.Text, err, program)
		}
		after := newDocument("", "", 0, []byte(program))
		for _, e := range answer.(workspaceEdit).Changes[d.uri] {
			after.edit(change{&e.Range, e.NewText})
			renamed++
		}
		want := luaoracle.Ours(t.TempDir(), luaoracle.Program, program)
		got := luaoracle.Ours(t.TempDir(), luaoracle.Program, string(after.text))
		if strings.ReplaceAll(got, p.NewName, old.Text) != want {
			t.Fatalf("seed %d, program %d: renamed %s, it prints\n%s\nnot\n%s\n%s", seed, n, old.Text, got, want, after.text)
		}
	}
	t.Logf("%d names", renamed)
}
