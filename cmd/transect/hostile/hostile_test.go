// Package hostile runs scripts that mean harm, each by a process of its own.
package hostile

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"transect/testdata/peaktest"
)

// hostile is a script that means harm, or does it by mistake.
type hostile struct {
	name  string
	flags string // words; WORK, OUTSIDE, ALLOWED and OTHER are replaced
	code  string
	want  string // name of the error that is reported
	exit  int
	how   string // it is stopped, for the page that lists them
}

const (
	counted   = "--max-instructions 3e6"
	sized     = "--max-memory 64MiB"
	limited   = "--timeout 300ms"
	sandboxed = "--sandbox --allow read=WORK,write=WORK"
)

const (
	byCount  = "instructions are counted; nothing catches the end"
	bySize   = "memory is measured; nothing catches the end"
	byLength = "the size of the result is known before it is built"
	byTime   = "the time limit ends what waits"
	byDepth  = "the stack of calls is bounded"
	byPath   = "the true path is asked about, links and .. resolved"
	byAsking = "every function asks before it touches the world"
)

var hostiles = []hostile{
	{"an endless loop", counted, `while true do end`, "LimitError", 1, byCount},
	{"pcall around an endless loop", counted, `while true do pcall(function() while true do end end) end`, "LimitError", 1, byCount},
	{"an xpcall handler that loops", counted, `while true do xpcall(function() while true do end end, function() while true do end end) end`, "LimitError", 1, byCount},
	{"try around an endless loop", counted, `while true do try(function() while true do end end) end`, "LimitError", 1, byCount},
	{"a loop that only calls", counted, `local function f() return f() end f()`, "LimitError", 1, byCount},
	{"a loop in a coroutine", counted, `coroutine.wrap(function() while true do end end)()`, "LimitError", 1, byCount},
	{"a loop in a task", counted, `require("task").spawn(function() while true do end end):await()`, "LimitError", 1, byCount},
	{"a loop in __index", counted, `local t = setmetatable({}, { __index = function() while true do end end }) print(t.x)`, "LimitError", 1, byCount},
	{"a loop in __tostring of an error", counted, `error(setmetatable({}, { __tostring = function() while true do end end }))`, "", 1, "the report calls it under the same limits"},
	{"a comparison that never settles", counted, `local t = {} for i = 1, 1e5 do t[i] = i end while true do pcall(table.sort, t, function() return true end) end`, "LimitError", 1, byCount},
	{"a metatable that loops in sort", counted, `table.sort({ 3, 2, 1 }, function() while true do end end)`, "LimitError", 1, byCount},
	{"gsub that calls a loop", counted, `("x"):gsub(".", function() while true do end end)`, "LimitError", 1, byCount},
	{"a pathological pattern", counted, `(("a"):rep(60000)):find(("a*"):rep(30) .. "b")`, "LimitError", 1, "a step of matching counts as an instruction"},
	{"a pattern with a frontier, again and again", counted, `while true do (("ab "):rep(1000)):gsub("%f[%w]%w+", "x") end`, "LimitError", 1, "a step of matching counts as an instruction"},
	{"load of a loop", counted, `assert(loadstring("while true do end"))()`, "LimitError", 1, byCount},
	{"code that makes code", counted, `local s = "return 1" while true do assert(loadstring(s))() end`, "LimitError", 1, byCount},
	{"os.exit inside pcall", counted, `pcall(os.exit, 7) while true do end`, "", 7, "the end of a run is no error that can be caught"},
	{"a loop behind a caught time limit", limited, `while true do pcall(function() while true do end end) end`, "TimeoutError", 10, byTime},
	{"sleep without end", limited, `require("task").sleep(1e9)`, "TimeoutError", 10, byTime},
	{"a program that does not end", limited, `os.execute("sleep 30")`, "TimeoutError", 10, "the time limit ends the program too"},
	{"waiting on a task that waits", limited, `local task = require("task") task.spawn(function() task.sleep(1e9) end):await()`, "TimeoutError", 10, byTime},

	{"a giant string.rep", sized, `local s = ("x"):rep(1e10)`, "LimitError", 1, byLength},
	{"a giant string.rep, caught again and again", sized + " " + counted, `while true do pcall(string.rep, "x", 1e10) end`, "LimitError", 1, byLength + ", and the loop is counted"},
	{"a giant width in string.format", sized, `local s = ("%999999999d"):format(1)`, "LimitError", 1, byLength},
	{"a text that doubles", sized, `local s = "x" while true do s = s .. s end`, "LimitError", 1, bySize},
	{"table.concat of many large texts", sized, `local t, s = {}, ("x"):rep(1e6) for i = 1, 1e4 do t[i] = s end local x = table.concat(t)`, "LimitError", 1, byLength},
	{"gsub that grows its text", sized, `local s = "x" while true do s = s:gsub(".", "%0%0%0%0") end`, "LimitError", 1, bySize},
	{"displays of progress without end", sized, `local progress, i = require("progress"), 0 while true do i = i + 1 progress.start{ label = ("x"):rep(1e6) .. i } end`, "LimitError", 1, "the number of open displays is bounded"},
	{"a huge table", sized, `local t = {} while true do t[#t + 1] = { #t } end`, "LimitError", 1, bySize},
	{"a high index", sized, `local t = {} for i = 1, 1e9 do t[i * 1000] = { i } end`, "LimitError", 1, bySize},
	{"pcall around a huge table", sized, `local t = {} while true do pcall(function() while true do t[#t + 1] = ("x"):rep(100) .. #t end end) end`, "LimitError", 1, bySize},
	{"coroutines without end", sized, `local all = {} while true do local c = coroutine.create(function() coroutine.yield() end) coroutine.resume(c) all[#all + 1] = c end`, "LimitError", 1, bySize},
	{"wrapped coroutines that never finish", sized, `local all = {} while true do local f = coroutine.wrap(function() coroutine.yield() end) f() all[#all + 1] = f end`, "LimitError", 1, bySize},
	{"tasks without end", sized + " " + counted, `local task = require("task") while true do task.spawn(function() task.sleep(1e9) end) end`, "LimitError", 1, bySize},
	{"tasks that sleep", sized, `local task = require("task") while true do task.spawn(function() task.sleep(1e9) end) end`, "LimitError", 1, "stacks count as memory"},
	{"an answer that inflates", sized + " --allow net=ALLOWED", `print(#require("http").get("http://ALLOWED/zeros"):text())`, "LimitError", 1, "an answer is measured while it is read"},
	{"reading a device without end", sized, `for line in io.lines("/dev/zero") do end`, "LimitError", 1, "one read gives no more than the longest text"},
	{"reading all of such a device", sized, `io.open("/dev/zero"):read("*a")`, "LimitError", 1, "one read gives no more than the longest text"},
	{"fs.read of such a device", sized, `require("fs").read("/dev/zero")`, "LimitError", 1, "one read gives no more than the longest text"},
	{"dofile of a long file", sized, `local f = io.open("long.lua", "w") f:write(("-- a comment\n"):rep(5e5)) f:close() f = nil dofile("long.lua")`, "LimitError", 1, "code counts by its length"},
	{"loadfile of such a device", sized, `assert(loadfile("/dev/zero"))()`, "LimitError", 1, "one read gives no more than the longest text"},
	{"a huge number of results", sized, `local s = ("x"):rep(3e7) print(s:byte(1, -1))`, "RuntimeError", 1, "string.byte gives a bounded number of values"},
	{"a chain of large texts", sized, `local s = ("x"):rep(1e6) while true do s = s .. s .. s .. s .. s .. s .. s .. s end`, "LimitError", 1, bySize},
	{"copies of a large text", sized, `local s, all = ("x"):rep(1e7), {} while true do all[#all + 1] = s:upper() .. s:reverse() end`, "LimitError", 1, bySize},
	{"large arrays of one value", sized, `local all = {} for i = 1, 1e9 do local t = {} t[524287] = 1 all[i] = t end`, "LimitError", 1, bySize},
	{"showing the same tables again and again", sized, `local t = { 1 } for i = 1, 60 do t = { t, t } end require("inspect").print(t)`, "LimitError", 1, bySize},
	{"a table with one wide cell", sized, `local rows = { { a = ("x"):rep(1e6) } } for i = 2, 1e5 do rows[i] = { a = i } end require("inspect").print_table(rows)`, "LimitError", 1, byLength},
	{"JSON of a large text many times", sized, `local s, t = ("\1"):rep(1e6), {} for i = 1, 1e4 do t[i] = s end require("json").encode(t)`, "LimitError", 1, byLength},
	{"JSON of many small tables", sized, `require("json").decode("[" .. ("[],"):rep(5e6) .. "1]")`, "LimitError", 1, byLength},
	{"csv.read of one long line", sized, `local f = io.open("long.txt", "w") for i = 1, 60 do f:write(("x"):rep(1e6)) end f:close() for r in require("csv").read("long.txt", { header = false }) do print(#r[1]) end`, "LimitError", 1, "a long row is measured while it is read"},
	{"fs.lines of one long line", sized, `local f = io.open("long.txt", "w") for i = 1, 60 do f:write(("x"):rep(1e6)) end f:close() for l in require("fs").lines("long.txt") do local t = l .. l end`, "LimitError", 1, "a long line is measured while it is read"},
	{"json.decode of one long text", sized, `local s = '"' .. ("x"):rep(3e7) .. '"' print(#require("json").decode(s))`, "LimitError", 1, "the size of the result is known before it is built"},
	{"a template of lists in lists", sized, `local l = {} for i = 1, 1000 do l[i] = i end require("template").render("{{#l}}{{#l}}{{#l}}{{x}}{{/l}}{{/l}}{{/l}}", { l = l, x = ("y"):rep(1e5) })`, "LimitError", 1, "its own limit of length"},
	{"converting the same tables again and again", counted, `local t, u = {}, {} for i = 1, 500 do t[i] = i end for i = 1, 500 do u[i] = t end while true do require("json").encode(u) end`, "LimitError", 1, "each value that is converted counts"},
	{"large texts, joined again and again", counted, `local s = ("x"):rep(1e7) while true do local x = s .. "y" end`, "LimitError", 1, "what is copied counts"},
	{"large texts, worked through again and again", counted, `local s = ("x"):rep(1e7) while true do local x = s:upper(), require("hash").md5(s) end`, "LimitError", 1, "what is copied counts"},
	{"moving a long list, again and again", counted, `local t = {} for i = 1, 2e5 do t[i] = i end while true do table.insert(t, 1, 1) end`, "LimitError", 1, "what is moved counts"},
	{"many values, again and again", counted, `local t = {} for i = 1, 6e4 do t[i] = 1 end local function f(...) while true do local a = { ... } end end f(unpack(t))`, "LimitError", 1, "what is copied counts"},
	{"a search in a large text, again and again", counted, `local s = ("x"):rep(5e7) while true do s:find("y", 1, true) tonumber(s) end`, "LimitError", 1, "what is gone through counts"},
	{"comparing long texts for equality", counted, `local s, t = ("x"):rep(5e7) .. "a", ("x"):rep(5e7) .. "b" while true do local x = s == t end`, "LimitError", 1, "what is compared counts"},
	{"comparing long texts for order", counted, `local s, t = ("x"):rep(5e7) .. "a", ("x"):rep(5e7) .. "b" while true do local x = s < t or s >= t end`, "LimitError", 1, "what is compared counts"},
	{"long texts as keys", counted, `local s, t = ("x"):rep(5e7), {} while true do t[s] = not t[s] end`, "LimitError", 1, "what is hashed counts"},
	{"a table with long texts as keys", counted, `local s, t = ("x"):rep(5e7), {} t[s .. "a"], t[s .. "b"] = 1, 2 while true do for k in pairs(t) do rawset(t, k, next(t, k)) end end`, "LimitError", 1, "what is hashed counts"},
	{"sorting long texts", counted, `local s, t = ("x"):rep(1e7), {} for i = 1, 60 do t[i] = s .. i % 10 end while true do table.sort(t) end`, "LimitError", 1, "what is compared counts"},
	{"a long name in code", counted, `load("t = {} while true do t." .. ("x"):rep(5e6) .. " = 1 end")()`, "", 1, "the length of names is bounded"},
	{"errors with a large text", counted, `local s = ("x"):rep(5e7) while true do pcall(error, s) pcall(function() error(s) end) end`, "LimitError", 1, "what is copied counts"},
	{"a search path of many folders", counted, `package.path = ("?;"):rep(1e5) while true do pcall(require, ("a."):rep(1e5)) end`, "LimitError", 1, "what is gone through counts"},
	{"tasks that do nothing", counted, `local task = require("task") while true do task.spawn(function() end) end`, "LimitError", 1, byCount},
	{"tables that double", "", `local t = { 1 } for i = 1, 60 do t = { t, t } end require("json").encode(t)`, "ParameterError", 1, "tables are written twice within bounds"},
	{"tables that double, sent", "--local", `local t = { 1 } for i = 1, 60 do t = { t, t } end require("sdk").projects.create{ name = "x", extra = { x = t } }`, "ParameterError", 1, "tables are written twice within bounds"},
	{"tables of a hundred thousand levels", "", `local t = {} for i = 1, 1e5 do t = { t } end require("state").set("deep", t)`, "ParameterError", 1, "the nesting of tables is bounded"},
	{"a huge unpack", sized, `print(unpack({}, 1, 1e8))`, "RuntimeError", 1, "unpack gives a bounded number of values"},

	{"recursion without end", "", `local function f() return 1 + f() end f()`, "", 1, byDepth},
	{"mutual recursion", "", `local g local function f() return 1 + g() end function g() return 1 + f() end f()`, "", 1, byDepth},
	{"recursion through __index", "", `local t = setmetatable({}, { __index = function(t, k) return t[k .. "x"] end }) print(t.a)`, "", 1, byDepth},
	{"a metatable that is its own __index", "", `local t = {} t.__index = t setmetatable(t, t) print(t.x)`, "", 1, "a chain of metatables is bounded"},
	{"recursion through pcall", "", `local function f() return assert(pcall(f)) and f() end f()`, "", 1, byDepth},
	{"deeply nested code", "", `assert(loadstring(("("):rep(1e5) .. "1" .. (")"):rep(1e5)))`, "", 1, "the nesting of code is bounded"},

	{"io.open of a file outside", sandboxed, `assert(io.open("OUTSIDE/secret.txt"))`, "PermissionError", 1, byAsking},
	{"io.lines outside", sandboxed, `for l in io.lines("OUTSIDE/secret.txt") do print(l) end`, "PermissionError", 1, byAsking},
	{"io.input outside", sandboxed, `io.input("OUTSIDE/secret.txt") print(io.read())`, "PermissionError", 1, byAsking},
	{"a path with ..", sandboxed, `print(io.open("WORK/../outside/secret.txt"):read("*a"))`, "PermissionError", 1, byPath},
	{"a symbolic link to a file", sandboxed, `print(io.open("link"):read("*a"))`, "PermissionError", 1, byPath},
	{"a symbolic link to a folder", sandboxed, `print(require("fs").read("folder/secret.txt"))`, "PermissionError", 1, byPath},
	{"a link that is renamed first", sandboxed, `os.rename("link", "plain") print(io.open("plain"):read())`, "PermissionError", 1, byPath},
	{"writing through a link", sandboxed, `require("fs").write("link", "changed")`, "PermissionError", 1, byPath},
	{"making a file through a dangling link", sandboxed, `io.open("dangling", "w"):write("made")`, "PermissionError", 1, byPath},
	{"a file: address", sandboxed, `print(require("http").get("file://OUTSIDE/secret.txt"):text())`, "ParameterError", 1, "only http and https are spoken"},
	{"loadfile outside", sandboxed, `print(loadfile("OUTSIDE/secret.txt"))`, "PermissionError", 1, byAsking},
	{"dofile outside", sandboxed, `dofile("OUTSIDE/secret.txt")`, "PermissionError", 1, byAsking},
	{"package.path outside", sandboxed, `package.path = "OUTSIDE/?.txt" require("secret")`, "PermissionError", 1, byAsking},
	{"package.path of what is no Lua file", sandboxed, `require("fs").write("notes.txt", "?") package.path = "/etc/?;WORK/?.txt" assert(not tostring(select(2, pcall(require, "hosts"))):find("localhost")) require("hosts")`, "PermissionError", 1, "require looks only where the script may read"},
	{"package.loaders", sandboxed, `package.path = "OUTSIDE/?.txt" package.loaders[3]("secret")`, "PermissionError", 1, byAsking},
	{"os.remove outside", sandboxed, `assert(os.remove("OUTSIDE/secret.txt"))`, "PermissionError", 1, byAsking},
	{"os.rename to the outside", sandboxed, `assert(os.rename("hostile.lua", "OUTSIDE/there"))`, "PermissionError", 1, byAsking},
	{"os.rename from the outside", sandboxed, `assert(os.rename("OUTSIDE/secret.txt", "here"))`, "PermissionError", 1, byAsking},
	{"os.tmpname", sandboxed, `print(os.tmpname())`, "PermissionError", 1, byAsking},
	{"fs.remove outside", sandboxed, `require("fs").remove("OUTSIDE", { recursive = true })`, "PermissionError", 1, byAsking},
	{"fs.list outside", sandboxed, `print(#require("fs").list("OUTSIDE"))`, "PermissionError", 1, byAsking},
	{"hash of a file outside", sandboxed, `print(require("hash").md5_file("OUTSIDE/secret.txt"))`, "PermissionError", 1, byAsking},
	{"csv of a file outside", sandboxed, `for row in require("csv").read("OUTSIDE/secret.txt") do end`, "PermissionError", 1, byAsking},
	{"giving itself more permissions", sandboxed, `require("fs").write("hostile.allow.json", "{}")`, "PermissionError", 1, "no script may write a file of permissions"},
	{"os.execute", sandboxed, `os.execute("cat OUTSIDE/secret.txt")`, "PermissionError", 1, byAsking},
	{"io.popen", sandboxed, `print(io.popen("cat OUTSIDE/secret.txt"):read("*a"))`, "PermissionError", 1, byAsking},
	{"os.getenv", sandboxed, `print(os.getenv("HOME"))`, "PermissionError", 1, byAsking},
	{"the environment as a default of arguments", sandboxed, `print(require("script").args{ home = { "string", env = "HOME", optional = true } }.home)`, "PermissionError", 1, byAsking},
	{"http to a host", sandboxed, `require("http").get("http://OTHER/")`, "PermissionError", 1, byAsking},
	{"a redirect to another host", sandboxed + " --allow net=ALLOWED", `print(require("http").get("http://ALLOWED/redirect"):text())`, "PermissionError", 1, "each hop of a redirect is asked about"},
	{"notify to a host", sandboxed, `require("notify").webhook("http://OTHER/", { text = "x" })`, "PermissionError", 1, byAsking},
	{"mail to a host", sandboxed, `require("notify").email{ smtp = "OTHER", from = "a@b.c", to = "a@b.c", subject = "x" }`, "PermissionError", 1, byAsking},
	{"connecting to another platform", sandboxed, `require("sdk").connect{ url = "http://OTHER", user = "u", password = "p" }.projects.search()`, "PermissionError", 1, "a platform the script names counts as a host"},
	{"an operation", sandboxed + " --local --allow ops=users.*", `require("projects").search()`, "PermissionError", 1, "every operation is asked about"},
	{"deleting under a ban", "--local --deny ops=*.delete", `require("projects").delete("5f0000000000000000000000")`, "PermissionError", 1, "every operation is asked about"},
	{"listing by another operation under a ban", "--local --deny ops=projects.search", `for p in require("projects").search_generator() do print(p.name) end`, "PermissionError", 1, "a rule covers all operations that do the same"},
	{"removing properties under a ban on deleting", "--local --deny ops=*.delete", `require("datasets").delete_properties("5f0000000000000000000000", { properties = { "a" } })`, "PermissionError", 1, "a rule covers all operations that do the same"},
	{"more creations than the budget", "--local --budget creates=1", `local sdk = require("sdk") local c = sdk.users.describe().company for i = 1, 3 do sdk.projects.create("p" .. i, c) end`, "LimitError", 1, "operations are counted before they are sent"},
	{"uploading a file outside", sandboxed + " --local --allow ops", `require("datasets").upload_file{ dataset = "5f0000000000000000000000", component = "file", file_path = "OUTSIDE/secret.txt" }`, "PermissionError", 1, "the files of an operation are asked about"},
	{"downloading to the outside", sandboxed + " --local --allow ops", `require("datasets").download_component{ dataset = "5f0000000000000000000000", component = "file", target_path = "OUTSIDE" }`, "PermissionError", 1, "the files of an operation are asked about"},
	{"more bytes than the budget", "--budget bytes=1kB", `require("http").post("http://ALLOWED/", { body = ("x"):rep(2000) })`, "LimitError", 1, "bytes are counted before they are sent"},
	{"debug.setmetatable", sandboxed, `debug.setmetatable("", { __index = {} })`, "", 1, "in the sandbox debug keeps only functions that read"},
	{"debug.getupvalue", sandboxed, `print(debug.getupvalue(require, 1))`, "", 1, "in the sandbox debug keeps only functions that read"},
	{"changing the metatable of strings", sandboxed, `getmetatable("").__index = function() return function() return "OUTSIDE/secret.txt" end end print(io.open(("x"):rep(1)):read("*a"))`, "PermissionError", 1, "checks are in Go and use nothing a script can change"},
	{"replacing functions", sandboxed, `string.find = function() return nil end _G.type = function() return "string" end print(io.open("OUTSIDE/secret.txt"):read("*a"))`, "PermissionError", 1, "checks are in Go and use nothing a script can change"},
	{"asking from a coroutine", sandboxed, `print(coroutine.wrap(function() return io.open("OUTSIDE/secret.txt"):read("*a") end)())`, "PermissionError", 1, byAsking},
	{"asking from a task", sandboxed, `print(require("task").spawn(function() return io.open("OUTSIDE/secret.txt"):read("*a") end):await())`, "PermissionError", 1, byAsking},
	{"setfenv on a library function", sandboxed, `setfenv(io.open, {}) print(io.open("OUTSIDE/secret.txt"):read("*a"))`, "RuntimeError", 1, "the environment of functions in Go cannot be changed"},
}

// maxSeconds is how long a script may compute until it is stopped, in seconds
// of work. Nearly all of that is before it reaches its limit: growing a text to
// 64 MiB by single letters takes two.
const maxSeconds = 4

// maxMemory is one and a half times the limit of sized, in bytes.
const maxMemory = 96 << 20

// secondOfWork is the computing time, on this machine and now, of a script that
// takes about a second on an ordinary one, and the memory of one that builds
// nothing. What stops hostile scripts is
// measured by it: neither the speed of the machine nor what else it does counts.
func secondOfWork(t *testing.T, program string) (computing time.Duration, memory int64) {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "work.lua", "local n = 0 for i = 1, 6e6 do n = n + i % 7 end")
	cmd := exec.Command(program, "run", "--max-instructions", "1e12", "work.lua")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("a second of work takes %s", cpu(cmd))
	return cpu(cmd), peaktest.Of(cmd.ProcessState)
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// cpu is the computing time of a process that has ended.
func cpu(cmd *exec.Cmd) time.Duration {
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// TestHostileScripts runs each in a process of its own. None may end by the
// timeout of the test: what stops it must be the limit it runs into.
func TestHostileScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it starts ninety processes")
	}
	program := filepath.Join(t.TempDir(), "transect")
	if out, err := exec.Command("go", "build", "-o", program, "transect/cmd/transect").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if len(hostiles) < 40 {
		t.Fatal("too few")
	}
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("another host was reached") }))
	defer other.Close()
	allowed := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/redirect":
			http.Redirect(w, r, other.URL, http.StatusFound)
		case "/zeros":
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			for range 60 {
				_, _ = z.Write(make([]byte, 1<<20))
			}
			_ = z.Close()
		}
	}))
	defer allowed.Close()
	second, memory := secondOfWork(t, program)
	for _, h := range hostiles {
		t.Run(h.name, func(t *testing.T) {
			base, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			work, outside := filepath.Join(base, "work"), filepath.Join(base, "outside")
			for _, dir := range []string{work, outside} {
				if err := os.Mkdir(dir, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			write(t, outside, "secret.txt", "s3cret\n")
			for name, to := range map[string]string{"link": "secret.txt", "folder": "", "dangling": "made"} {
				if err := os.Symlink(filepath.Join(outside, to), filepath.Join(work, name)); err != nil {
					t.Skip("there are no symbolic links here")
				}
			}
			place := strings.NewReplacer("WORK", work, "OUTSIDE", outside, "ALLOWED", strings.TrimPrefix(allowed.URL, "http://"),
				"OTHER", strings.TrimPrefix(other.URL, "http://")).Replace
			write(t, work, "hostile.lua", place(h.code))
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, program, append(append([]string{"run"}, strings.Fields(place(h.flags))...), "hostile.lua")...)
			cmd.Dir = work
			cmd.Env = append(os.Environ(), "HOME="+base, "TRANSECT_STATE_DIR="+filepath.Join(base, "state"), "TRANSECT_LOCAL_DIR="+filepath.Join(base, "platform"))
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			_ = cmd.Run() // the exit code says it
			if used := cpu(cmd); used > maxSeconds*second {
				t.Errorf("it took %s of computing to stop it; what takes a second elsewhere takes %s here", used, second)
			}
			most := int64(maxMemory)
			if h.name == "a high index" {
				most = maxMemory / 3 * 5 // two and a half times the limit: docs/limits.md
			}
			if peak := peaktest.Of(cmd.ProcessState) - memory; strings.Contains(h.flags, sized) && peak > most {
				t.Errorf("it took %d MiB until it was stopped", peak>>20)
			}
			switch stderr := errs.String(); {
			case ctx.Err() != nil:
				t.Fatalf("it was not stopped\n%s", stderr)
			case cmd.ProcessState.ExitCode() != h.exit:
				t.Errorf("exit code %d, want %d\n%s%s", cmd.ProcessState.ExitCode(), h.exit, out.String(), stderr)
			case h.want != "" && !strings.Contains(stderr, h.want+": "):
				t.Errorf("not a %s:\n%s", h.want, stderr)
			case h.exit != 7 && !strings.Contains(stderr, "Error: "):
				t.Errorf("no report:\n%s", stderr)
			case strings.Contains(stderr, "goroutine ") || strings.Contains(stderr, "internal error: "):
				t.Errorf("a fault of the program:\n%s", stderr)
			case strings.Contains(out.String(), "s3cret"):
				t.Error("it got at the secret")
			}
			if text, err := os.ReadFile(filepath.Join(outside, "secret.txt")); err != nil || string(text) != "s3cret\n" {
				t.Error("the file outside was changed", err)
			}
			if left, _ := os.ReadDir(outside); len(left) != 1 {
				t.Error("something was made outside")
			}
		})
	}
}

const hostilePage = "../../../docs/limits.md"

// TestHostilePageIsFresh compares the page with the table above;
// TRANSECT_UPDATE=1 writes it.
func TestHostilePageIsFresh(t *testing.T) {
	old, err := os.ReadFile(hostilePage)
	if err != nil {
		t.Fatal(err)
	}
	head, _, found := strings.Cut(string(old), "<!-- hostile scripts -->\n")
	if !found {
		t.Fatal("the page has no place for the table")
	}
	var b strings.Builder
	b.WriteString(head + "<!-- hostile scripts -->\n\n| script | run with | ends as | how |\n|---|---|---|---|\n")
	for _, h := range hostiles {
		end := fmt.Sprintf("exit code %d", h.exit)
		if h.want != "" {
			end = h.want + ", " + end
		}
		flags := ""
		if h.flags != "" {
			flags = "`" + h.flags + "`"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", h.name, flags, end, h.how)
	}
	if b.String() == string(old) {
		return
	}
	if os.Getenv("TRANSECT_UPDATE") == "" {
		t.Fatal("docs/limits.md is not what the table says: TRANSECT_UPDATE=1 go test ./cmd/transect/hostile")
	}
	if err := os.WriteFile(hostilePage, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
