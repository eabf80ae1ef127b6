package vm_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"transect/client/fault"
	"transect/runtime/luastd"
	"transect/runtime/module"
	"transect/runtime/vm"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// interp makes an interpreter that is closed with the test.
func interp(t testing.TB, opt vm.Options) *vm.Interp {
	t.Helper()
	in := luastd.New(context.Background(), opt)
	t.Cleanup(in.Close)
	module.Preload(in, probe)
	return in
}

// lua runs code that checks itself.
func lua(t testing.TB, code string) {
	t.Helper()
	if _, err := interp(t, vm.Options{}).RunString("test", code); err != nil {
		t.Fatalf("%v\n%+v", err, vm.Failure(err).Frames)
	}
}

func TestCaughtErrorsLeaveCapturedLocalsAlone(t *testing.T) {
	for name, call := range map[string]string{
		"pcall":  `pcall(error, "x")`,
		"nested": `pcall(function() pcall(error, "y"); error("x") end)`,
		"xpcall": `xpcall(function() error("x") end, function(e) return e end)`,
		"try":    `try(error, "x")`,
		"escape": `xpcall(function() local n = 7; kept = function() n = n + 1; return n end; error("x") end, tostring)`,
	} {
		t.Run(name, func(t *testing.T) {
			lua(t, `
				local x = 1
				local function get() return x end
				for i = 1, 10 do `+call+` end
				x = 2
				assert(get() == 2, "the closure sees a stale local")
				if kept then assert(kept() == 8 and kept() == 9) end`)
		})
	}
}

func TestProtectedCallsKeepLuaSemantics(t *testing.T) {
	lua(t, `
		assert(select("#", pcall(function() return nil, nil end)) == 3)
		local ok, e = pcall(error, {code = 5}); assert(not ok and e.code == 5)
		local ok, e = pcall(function() local t = nil; return t.x end)
		assert(not ok and e:find("test:4:", 1, true), e)
		local callable = setmetatable({}, {__call = function(_, a) return a end})
		assert(select(2, pcall(callable, 4)) == 4)
		local ok, e = pcall(nil); assert(not ok)
		local ok, tb = xpcall(function() error("deep") end, debug.traceback); assert(tb:find("deep"))
		local function f() return f() + 1 end
		local ok, e = pcall(f); assert(not ok and tostring(e):find("stack overflow"), tostring(e))
		local function g() return pcall(g) end
		assert(g())
		local co
		co = coroutine.create(function()
			assert(coroutine.running() == co)
			pcall(function() assert(coroutine.running() == co); assert(coroutine.status(co) == "running") end)
			coroutine.yield(1)
			error("boom")
		end)
		assert(select(2, coroutine.resume(co)) == 1)
		local ok, e = coroutine.resume(co); assert(not ok and e:find("boom"))
		assert(coroutine.status(co) == "dead")
		local function nest(n) return coroutine.wrap(function() return nest(n + 1) end)() end
		local ok, e = pcall(nest, 1); assert(not ok and tostring(e):find("stack overflow"))
		local gen = coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i) end end)
		local sum = 0; for i in gen do sum = sum + i end; assert(sum == 6)
		local a, b = try(function() return 1, 2 end); assert(a == 1 and b == 2)
		local v, err = try(error, "no"); assert(v == nil and err == "no")`)
}

func TestErrorsInLua(t *testing.T) {
	lua(t, `
		local probe = require("probe")
		local ok, e = pcall(probe.fail, "response")
		assert(type(e) == "userdata" and e.name == "ResponseError" and e.status == 404)
		assert(e.operation == "probe.fail" and e.message == "no such thing", e.message)
		assert(e.details.why == "gone" and e.nothing == nil)
		assert("got: " .. e == "got: probe.fail: no such thing")
		assert(e .. "!" == tostring(e) .. "!")
		local ok, again = pcall(error, e); assert(again == e and again.status == 404)
		local ok, other = pcall(probe.fail, "response"); assert(other ~= e)
		assert(not pcall(function() e.status = 1 end))
		local ok, p = pcall(probe.panic)
		assert(p.name == "RuntimeError" and p.hint:find("report it") and not tostring(p):find("goroutine"))
		local co = coroutine.create(function(how) return probe.fail(how) end)
		local ok, e = coroutine.resume(co, "response"); assert(e.status == 404)
		local ok, e = pcall(string.rep, "x", 1e10); assert(e:find("the limit is"), e)
		local ok, e = pcall(string.format, "%999999999d", 1); assert(e:find("the limit is"), e)
		local s = string.rep("x", 2^20); local t = {}; for i = 1, 300 do t[i] = s end
		local ok, e = pcall(table.concat, t); assert(e:find("the limit is"), e)
		local ok, e = pcall(string.format, ("%s"):rep(300), unpack(t)); assert(e:find("the limit is"), e)
		local ok, e = pcall(require, "nope"); assert(e:match("module 'nope' not found:"), e)
		assert(table.concat({1, 2, "c"}, "-") == "1-2-c")`)
}

func TestArgumentsAreChecked(t *testing.T) {
	for _, c := range []struct{ call, want string }{
		{`probe.fail()`, "probe.fail: argument how is missing (string)"},
		{`probe.fail("x", 1)`, "probe.fail: takes at most 1 argument, got 2"},
		{`probe.fail({})`, "probe.fail: argument how must be a string, got a table"},
		{`probe.options("x", {mdoe = "a"})`, "probe.options: unknown option mdoe (did you mean mode?)"},
		{`probe.options("x", {mode = "c"})`, `probe.options: option mode must be one of fast, slow, got "c"`},
		{`probe.options("x", {count = 1.5})`, "probe.options: option count must be an integer, got a number"},
		{`probe.options("x", 3)`, "probe.options: argument options must be a table of options, got a number"},
		{`probe.fial("x")`, "probe has no fial (did you mean fail?)"},
		{`require("prob")`, "module prob not found (did you mean probe?)"},
	} {
		_, err := interp(t, vm.Options{}).RunString("test", `local probe = require("probe"); `+c.call)
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: got %v, want %s", c.call, err, c.want)
		}
	}
	lua(t, `local r = require("probe").options("x"); assert(r.mode == "fast" and r.count == 3)`)
}

func TestRequireBesideTheScript(t *testing.T) {
	dir, more := t.TempDir(), t.TempDir()
	write(t, dir, "main.lua", "#!/usr/bin/env transect\nlocal a = require('beside'); local b = require('pack.part'); local c = require('far')\n"+
		"assert(require('beside') == a); print(a.name, b, c, arg[0], arg[1], ...)")
	write(t, dir, "beside.lua", "return { name = 'beside' }")
	write(t, dir, "pack/part.lua", "return 'part'")
	write(t, more, "far/init.lua", "return 'far'")
	write(t, dir, "loop.lua", "return require('loop')")
	write(t, dir, "broken.lua", "local x = = 1")
	write(t, dir, "broken_main.lua", "\nrequire('broken')")
	var out bytes.Buffer
	in := interp(t, vm.Options{Stdout: &out, Dir: dir, Script: "main.lua", Args: []string{"one"}, Path: []string{more}})
	if _, err := in.RunFile("main.lua"); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "beside\tpart\tfar\tmain.lua\tone\tone\n"; got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
	if _, err := in.RunString("x", "require('loop')"); err == nil || !strings.Contains(err.Error(), "requires itself") {
		t.Errorf("a loop: %v", err)
	}
	_, err := in.RunFile("broken_main.lua")
	r := vm.Failure(err)
	if r == nil || len(r.Frames) < 2 || filepath.Base(r.Frames[0].File) != "broken.lua" || r.Frames[0].Line != 1 || r.Frames[1].Line != 2 {
		t.Errorf("syntax error in a module: %+v", r)
	}
}

func write(t testing.TB, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestLoopHeads(t *testing.T) {
	lua(t, `
		local function id(x) return x end
		local lib = { each = function(list) local i = 0; return function() i = i + 1; return list[i] end end }
		local sum = 0
		for v in id(lib).each({1, 2}) do sum = sum + v end
		for _, list in ipairs({{3}, {4}}) do
			for v in id(lib).each(list) do
				if v == 4 then break end
				sum = sum + v
			end
		end
		assert(sum == 6)
		local starts = 0
		local function bare(_, last) if last == nil then starts = starts + 1; return 1 end end
		for i in bare do end
		for i in bare do end
		assert(starts == 2)
		local ok, e = pcall(function()
			for i in
				nil do end
		end)
		assert(e:find("test:19:"), e)
		for f in id(lib).each({ function() for v in id(lib).each({5}) do sum = v end end }) do f() end
		assert(sum == 5)
		local got = {}
		for v in id(lib).each({1, 2}) do got[v] = function() return v end end
		assert(got[1]() == 1 and got[2]() == 2)`)
}

func TestCodeThatDoesNotParse(t *testing.T) {
	for code, want := range map[string]string{
		"local x = = 1":             "s.lua:1: syntax error near '='",
		"\n\nif x then":             "s.lua:3: the script ends in the middle of a statement",
		"local s = 'open\nprint(1)": "s.lua:2: unterminated string near 'open'",
		"goto nowhere":              "s.lua:1: no visible label 'nowhere' for <goto> at line 1",
		"break":                     "s.lua:1: no loop to break near 'break'",
	} {
		_, err := interp(t, vm.Options{}).RunString("s.lua", code)
		var syntax *fault.SyntaxError
		if !errors.As(err, &syntax) || err.Error() != want {
			t.Errorf("%q: got %v, want %s", code, err, want)
		}
	}
	_, err := interp(t, vm.Options{}).RunFile("missing.lua")
	var usage *fault.UsageError
	if !errors.As(err, &usage) || !strings.Contains(err.Error(), "cannot read the script missing.lua") {
		t.Errorf("got %v", err)
	}
}

// A Go panic in a protected call leaves a thread that serves the next calls.
func TestCallsAfterPanics(t *testing.T) {
	lua(t, `
		local probe = require("probe")
		local function deep(n) if n == 0 then probe.panic() end return 1 + deep(n - 1) end
		for i = 1, 100 do
			assert(not pcall(probe.panic)) assert(not pcall(deep, 50))
			local t = setmetatable({}, { __index = function() pcall(deep, 3) probe.panic() end })
			assert(not pcall(function() return t.x end))
			local ok, sum = pcall(function(...) local a, b = ... return a + b end, 1, 2)
			assert(ok and sum == 3)
			local co = coroutine.wrap(function() pcall(probe.panic) coroutine.yield(1) deep(3) end)
			assert(co() == 1 and not pcall(co))
		end`)
}

func TestOverflowIsHandled(t *testing.T) {
	lua(t, `
		local function f() return 1 + f() end
		local function g(n) if n == 0 then return 0 end return 1 + g(n - 1) end
		assert(select(2, xpcall(f, function() return "handled " .. g(100) end)) == "handled 100")`)
}
