package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/creack/pty"
)

const (
	ctrlC = "\x03"
	ctrlD = "\x04"
	up    = "\x1b[A"
)

func TestPrompt(t *testing.T) {
	t.Parallel()
	tm := prompted(t, t.TempDir())
	tm.says("6 * 7", "\n42\r\n")
	tm.says("_ + 1", "\n43\r\n")
	tm.says("local kept = 'k' .. 'ept'", "")
	tm.says("kept", `"kept"`)
	tm.says("for i = 1, 2 do\r  print('turn ' .. i)\rend", "turn 2")
	tm.says("io.write('half')", "half\r\n")
	tm.says("error('brok' .. 'en')", "RuntimeError: broken\r\n  prompt:9: error(")
	tm.says("kept .. '!'", `"kept!"`)
	tm.says("projects.create{ name = 'No' .. 'rth', company = users.describe().company }", "project North")
	tm.says("projects.search{}", "1  North")
	tm.says("_[1].name", `"North"`)
	tm.says("projects.search_generator{}", "iterator of projects.search_generator")
	tm.says("setmetatable({}, { __tostring = function() error('no ' .. 'text') end })", "__tostring failed: prompt:15: no text")
	tm.says("local t = {} t.me = t", "")
	tm.says("t", "cycle")
	tm.says("'Ünïcødé 飛行'", `"Ünïcødé 飛行"`)
	tm.says("task.sleep(0)", "")
	tm.says(":quot", "did you mean :quit?")
	tm.says("help(json.encode)", "json.encode(value")
	tm.says(":help projects.search", "projects.search(")
	tm.says("help('sort')", "order and amount of results")
	tm.says(":time 1 + 1", "took ")
	tm.says(`{ type = "Polygon", coordinates = {{{4,50},{5,50},{5,51},{4,50}}} }`, "Polygon, 4 points, bbox 4 50 5 51")
	tm.says("local answer = io.read()\rtyped", "")
	tm.says("answer .. '?'", `"typed?"`)
	tm.keys("os.exit(3)\r")
	if code := tm.ends(); code != 3 {
		t.Errorf("exit code %d", code)
	}
}

func TestPromptLeaves(t *testing.T) {
	t.Parallel()
	for name, how := range map[string]string{"Ctrl-D": ctrlD, "command": ":quit\r", "word": "exit\r"} {
		tm := prompted(t, t.TempDir())
		tm.keys(how)
		if code := tm.ends(); code != 0 {
			t.Errorf("%s: exit code %d", name, code)
		}
	}
	tm := prompted(t, t.TempDir())
	if err := tm.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := tm.ends(); code != 143 {
		t.Errorf("terminated: exit code %d", code)
	}
	alone := onTerminal(t, t.TempDir(), nil)
	alone.prompts("transect> ")
	alone.keys("projects.search{}\r")
	alone.sees("no platform was named")
	alone.prompts("transect> ")
	alone.keys(ctrlD)
	if code := alone.ends(); code != 0 {
		t.Errorf("alone: exit code %d", code)
	}
}

// Ctrl-C ends what runs, wherever it is, and nothing else.
func TestPromptInterrupt(t *testing.T) {
	t.Parallel()
	hangs := make(chan struct{})
	var once sync.Once
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hangs }))
	t.Cleanup(func() { once.Do(func() { close(hangs) }); server.Close() })
	tm := prompted(t, t.TempDir())
	tm.says("before = 'still ' .. 'here'", "")
	for _, line := range []string{
		"print('u' .. 'p') while true do end",
		"print('u' .. 'p') while true do pcall(function() while true do end end) end",
		"print('u' .. 'p') task.sleep(600)",
		"print('u' .. 'p') task.spawn(task.sleep, 600)",
		"print('u' .. 'p') io.read()",
		"print('u' .. 'p') return setmetatable({}, { __tostring = function() while true do end end })",
		"print('u' .. 'p') sdk.connect{ url = '" + server.URL + "', user = 'u', password = 'p' }.projects.search{}",
	} {
		tm.keys(line + "\r")
		tm.sees("up\r\n")
		tm.keys(ctrlC)
		tm.sees("interrupted")
		tm.prompts("local> ")
		tm.says("before", "still here")
	}
	tm.keys(ctrlC)
	tm.sees(":quit leaves")
	tm.prompts("local> ")
	tm.keys("unfinished(" + ctrlC)
	tm.prompts("local> ")
	tm.says("(\r"+ctrlC, "^C")
	tm.says("before", "still here")
	tm.leaves()
}

func TestPromptCompletes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "flight-plan.csv", "id,name\n")
	tm := prompted(t, dir)
	tm.keys("proj\t.se\t\t")
	tm.sees("search_generator")
	tm.keys("_gen\t" + ctrlC)
	tm.sees("projects.search_generator")
	tm.sees("^C")
	tm.prompts("local> ")
	tm.keys("projects.create{ na\t'x', comp\t" + ctrlC)
	tm.sees("projects.create{ name = 'x', company = ")
	tm.sees("^C")
	tm.prompts("local> ")
	tm.keys("fs.read('fli\t" + ctrlC)
	tm.sees("fs.read('flight-plan.csv")
	tm.sees("^C")
	tm.prompts("local> ")
	tm.keys("projects.search{ filter = { na\t{ ['$ex\t" + ctrlC)
	tm.sees("filter = { name = { ['$exists")
	tm.sees("^C")
	tm.prompts("local> ")
	tm.keys(":pro\t" + ctrlC)
	tm.sees(":profile")
	tm.sees("^C")
	tm.prompts("local> ")
	tm.says("me = users.describe()", "")
	tm.keys("me.em\t" + ctrlC)
	tm.sees("me.email")
	tm.sees("^C")
	tm.prompts("local> ")
}

// What was typed is there the next time, but no secrets; two prompts at once
// lose nothing.
func TestPromptRemembers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, second := prompted(t, dir), prompted(t, dir)
	first.says("'remember' .. 'ed 1'", "remembered 1")
	second.says("'remember' .. 'ed 2'", "remembered 2")
	first.says("pcall(sdk.connect, { password = 'hunter2', url = 'http://127.0.0.1:1', user = 'me' })", "")
	first.says("local pw = 'hunter2'", "")
	first.says("h = { Authorization =\r'Bearer hunter2' }", "")
	first.says("'https://me:hunter2@example.com'", "")
	first.says(" 'not ' .. 'kept'", "not kept")
	second.says("if true then\rprint('two ' .. 'lines')\rend", "two lines")
	first.says(":trace on", "")
	for _, tm := range []*terminal{first, second} {
		tm.keys(ctrlD)
		tm.ends()
	}
	file := filepath.Join(dir, "state", "history")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := "'remember' .. 'ed 1'\n'remember' .. 'ed 2'\nif true then print('two ' .. 'lines') end\n:trace on\n"
	if string(text) != want {
		t.Errorf("the history is\n%s\nwant\n%s", text, want)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("its mode is %v, %v", info.Mode(), err)
	}
	third := prompted(t, dir)
	third.says(up+up, "two lines")
}

func TestPromptFits(t *testing.T) {
	t.Parallel()
	tm := prompted(t, t.TempDir())
	tm.says("company = users.describe().company", "")
	tm.says("for i = 1, 40 do projects.create{ name = ('飛行 Steinbruch Überflug '):rep(5) .. i, company = company } end", "")
	tm.keys("projects.search{}\r")
	tm.sees(":more shows them")
	for line := range strings.SplitSeq(tm.output(), "\r\n") {
		if strings.Contains(line, "Steinbruch Überflug 飛") && strings.Contains(line, "20") && !strings.Contains(line, "rep(5)") && columns(line) > 80 {
			t.Errorf("%d columns wide: %s", columns(line), line)
		}
	}
	tm.says(":more", "\n40  ")
	// The window gets narrower while a line is typed.
	tm.keys("'resi")
	if err := pty.Setsize(tm.pty, &pty.Winsize{Rows: 24, Cols: 40}); err != nil {
		t.Fatal(err)
	}
	tm.says("zed ' .. 'well'", "resized well")
	tm.keys("projects.search{ limit = 2 }\r")
	tm.sees("\n#  name")
	tm.sees("\n2  ")
	tm.says("('lo' .. 'ng '):rep(100)", "ng \"\r\n")
	// Several lines pasted at once.
	tm.says("local function f(x)\rreturn x * 2\rend\rf(4) .. ' pasted'", "8 pasted")
}

// A value costs what is shown of it: the first screen of a large table is there
// at once, Enter shows the next one, and a pager reads as far as it is scrolled.
func TestPromptPages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "pager", "#!/bin/sh\nhead -n 3 | sed 's/^/paged/'\n")
	if err := os.Chmod(filepath.Join(dir, "pager"), 0o700); err != nil {
		t.Fatal(err)
	}
	tm := onTerminal(t, dir, []string{"PAGER=" + filepath.Join(dir, "pager"), "NO_COLOR="}, "repl", "--local")
	tm.prompts("local> ")
	tm.says("formatted = 0 count = { __tostring = function() formatted = formatted + 1 return 'a value' end }", "")
	tm.says("big = {} for i = 1, 20000 do big[i] = { i, setmetatable({}, count) } end", "")
	tm.keys("big\r")
	tm.sees("{ \x1b[36m1\x1b[0m, a value },") // with colours
	tm.sees("more lines: Enter or :more shows them")
	tm.prompts("local> ")
	tm.says("formatted < 20000 / 2 and 'on' .. 'ly a part'", "only a part")
	tm.says("big", "more lines")
	tm.says("", "{ \x1b[36m21\x1b[0m, a value },")
	tm.says(":page", "paged  { \x1b[36m1\x1b[0m, a value },")
	tm.says(":page 'pag' .. 'er'", "paged\x1b[32m\"pager\"")
	tm.leaves()
}

// What the session has can be listed, what was typed edited, timed and saved.
func TestPromptVariables(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "editor", "#!/bin/sh\nsed -i 's/6 . 7/6 * 8/' \"$1\"\n")
	if err := os.Chmod(filepath.Join(dir, "editor"), 0o700); err != nil {
		t.Fatal(err)
	}
	tm := onTerminal(t, dir, []string{"EDITOR=" + filepath.Join(dir, "editor")}, "repl", "--local")
	tm.prompts("local> ")
	tm.says(":vars", "there are no variables yet")
	tm.says("-- the answer", "")
	tm.says("answer = 6 * 7", "")
	tm.says("local rows = { 1, 2, 3 }", "")
	tm.keys(":vars\r")
	tm.sees("answer  number          42\r\n")
	tm.sees("rows    list of 3       { 1, 2, 3 }\r\n")
	tm.prompts("local> ")
	tm.says("return 6 * 7", "42")
	tm.keys(":edit\r")
	tm.sees("return 6 * 8\r\n48\r\n")
	tm.prompts("local> ")
	tm.says(":time for i = 1, 2 do\rprint('turn ' .. i)\rend", "turn 2\r\ntook ")
	tm.says(":save saved.lua", "saved")
	text, err := os.ReadFile(filepath.Join(dir, "saved.lua"))
	if err != nil || !strings.Contains(string(text), "-- the answer\nanswer = 6 * 7\nlocal rows = { 1, 2, 3 }") ||
		!strings.Contains(string(text), "for i = 1, 2 do\n  print(\"turn \" .. i)\nend\n") {
		t.Errorf("saved %q, %v", text, err)
	}
	tm.says("for p in { 1 } do end", "hint: lists are walked with for i, v in ipairs(list) do")
	tm.says("rows[0]", "nil\r\nhint: lists begin at 1")
	tm.says("x = True", "Lua writes true")
	tm.leaves()
}

// columns is how wide a line is, with wide characters.
func columns(line string) (n int) {
	for _, r := range line {
		n++
		if r >= 0x2e80 {
			n++
		}
	}
	return n
}

// A terminal that cannot edit still has a prompt.
func TestPromptOnDumbTerminal(t *testing.T) {
	t.Parallel()
	tm := onTerminal(t, t.TempDir(), []string{"TERM=dumb"}, "repl", "--local")
	tm.prompts("local> ")
	tm.says("21 * 2", "42")
	tm.keys("print('u' .. 'p') io.read()\r")
	tm.sees("up\r\n")
	tm.keys(ctrlC)
	tm.sees("interrupted")
	tm.prompts("local> ")
	tm.says("1 + 1", "2")
	tm.keys(ctrlC)
	tm.sees(":quit leaves")
	tm.prompts("local> ")
	tm.says("2 + 2", "4")
	tm.leaves()
}

func TestPromptProfiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	listener, err := net.Listen("tcp", "127.0.0.1:0") // an address without a server
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "c.json", `{"url": "http://`+address+`", "user": "u", "password": "p",
		"profiles": {"staging": {"url": "https://staging.example.com", "user": "s", "password": "q"}}}`)
	tm := onTerminal(t, dir, nil, "repl", "--config", "c.json", "--timeout", "250ms")
	tm.prompts(address + "> ")
	tm.keys(":profile\r")
	tm.sees("staging")
	tm.keys(":profile stagin\r")
	tm.sees("did you mean staging?")
	tm.keys(":profile staging\r")
	tm.sees("staging@staging.example.com"[:25])
	tm.keys(":profile -\r")
	tm.sees("goes to " + address)
	tm.keys("while true do end\r")
	tm.sees("time limit of 250ms")
	tm.prompts(address + "> ")
	tm.leaves()
}

// A command of a script has the terminal while it runs, and takes no line from
// the prompt.
func TestPromptCommands(t *testing.T) {
	t.Parallel()
	for _, env := range []string{"TERM=xterm", "TERM=dumb"} {
		tm := onTerminal(t, t.TempDir(), []string{env}, "repl", "--local")
		tm.prompts("local> ")
		tm.says("os.execute('echo fi' .. 'rst')", "first")
		tm.says("'sec' .. 'ond'", "second")
		tm.keys("os.execute('echo rea' .. 'dy; read x; echo got $x')\r")
		tm.sees("ready")
		tm.keys("typed\r")
		tm.sees("got typed")
		tm.prompts("local> ")
		tm.says("'th' .. 'ird'", "third")
		tm.leaves()
		if strings.Contains(tm.output(), "Error") {
			t.Errorf("%s: %s", env, tm.output())
		}
	}
}
