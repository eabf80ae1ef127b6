package check

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// found gives the problems of a script as "line:column rule".
func found(t *testing.T, code string) []string {
	t.Helper()
	var got []string
	for _, p := range New().Script("script.lua", []byte(code)) {
		got = append(got, strings.Join([]string{itoa(p.Line), itoa(p.Column), p.Rule}, " "))
		if p.Message == "" || p.File != "script.lua" {
			t.Errorf("%+v says nothing", p)
		}
	}
	return got
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + string(rune('0'+n%10))
}

const head = `local sdk, fs, json, task = require("sdk"), require("fs"), require("json"), require("task")
print(sdk, fs, json, task)
`

// Each script holds one mistake; lines count behind the two of head.
func TestMistakes(t *testing.T) {
	for name, c := range map[string]struct{ code, want string }{
		"end missing":             {"if sdk then\n  print(1)", "4 1 syntax"},
		"bracket missing":         {"print((1)\nprint(2)", "4 5 syntax"},
		"assignment to a call":    {"print(1) = 2", "3 10 syntax"},
		"break outside":           {"break", "3 1 syntax"},
		"global read":             {"print(missing)", "3 7 undeclared-global"},
		"global in a function":    {"local function f()\n  return total\nend\nprint(f())", "4 10 undeclared-global"},
		"module not required":     {"print(imagery)", "3 7 undeclared-global"},
		"global assigned":         {"total = 1", "3 1 assigned-global"},
		"global function":         {"function work() end", "3 10 assigned-global"},
		"module":                  {`local csv = require("jsn") print(csv)`, "3 21 unknown-module"},
		"manager":                 {"sdk.projcts.search{}", "3 5 unknown-manager"},
		"operation":               {"sdk.projects.serch{}", "3 14 unknown-operation"},
		"operation of an alias":   {"local projects = sdk.projects\nprojects.remove_all()", "4 10 unknown-operation"},
		"function":                {`fs.raed("a")`, "3 4 unknown-function"},
		"function of Lua":         {"print(string.trim('a'))", "3 14 unknown-function"},
		"argument":                {"sdk.projects.search{ filtr = {} }", "3 22 unknown-argument"},
		"argument behind others":  {"sdk.datasets.search({\n  limit = 1,\n  srot = {},\n})", "5 3 unknown-argument"},
		"argument of old":         {"sdk.projects.search{ name = 'x' }", "3 22 unknown-argument"},
		"option":                  {`json.encode({}, { ident = true })`, "3 19 unknown-argument"},
		"type of an argument":     {"sdk.projects.search{ limit = 'ten' }", "3 22 wrong-type"},
		"type of a variable":      {"local n = 'ten'\nsdk.projects.search{ limit = n }", "4 22 wrong-type"},
		"table for a text":        {"sdk.projects.create{ name = {}, company = 'c' }", "3 22 wrong-type"},
		"function for a value":    {"sdk.projects.create{ name = print2, company = function() end }", "3 29 undeclared-global+3 37 wrong-type"},
		"number for a table":      {"task.sleep({})", "3 6 wrong-type"},
		"required argument":       {"sdk.projects.create{ name = 'x' }", "3 14 missing-argument"},
		"required, by position":   {"fs.read()", "3 4 missing-argument"},
		"through pcall":           {"pcall(sdk.projects.search, { limit = 'x' })", "3 30 wrong-type"},
		"too many":                {"fs.read('a', 3)", "3 14 too-many-arguments"},
		"colon for a dot":         {"sdk.projects:search{}", "3 14 wrong-call"},
		"unused variable":         {"local unused = 1", "3 7 unused-variable"},
		"unused function":         {"local function helper() return 1 end", "3 16 unused-variable"},
		"unused in a block":       {"if sdk then\n  local a, b = 1, 2\n  print(a)\nend", "4 12 unused-variable"},
		"after error":             {"error('x')\nprint(1)", "4 1 unreachable-code"},
		"after both branches":     {"local function f(a)\n  if a then return 1 else return 2 end\n  print(a)\nend\nprint(f)", "5 3 unreachable-code"},
		"after an endless loop":   {"while true do print(1) end\nprint(2)", "4 1 unreachable-code"},
		"after os.exit":           {"do os.exit(1) end\nprint(2)", "4 1 unreachable-code"},
		"not silenced elsewhere":  {"print(a1) -- check: ignore\nprint(a2)", "4 7 undeclared-global"},
		"geometry out of bounds":  {"sdk.projects.create{ name = 'x', company = 'c', geometry = { type = 'Pint' } }", "3 49 wrong-value"},
		"filter without operator": {"sdk.projects.search{ filter = 5 }", "3 22 wrong-type"},
	} {
		t.Run(name, func(t *testing.T) {
			got := strings.Join(found(t, head+c.code), "+")
			if got != c.want {
				t.Errorf("%s\ngot  %s\nwant %s", c.code, got, c.want)
			}
		})
	}
}

// What is right is left alone.
func TestNoFalseAlarms(t *testing.T) {
	for _, code := range []string{
		"for i, d in ipairs({}) do print(d) end",
		"for _, d in pairs({}) do print(d) end",
		"local _, err = try(sdk.projects.describe, 'x') print(err)",
		"local a a = sdk.projects.search a{ anything = 1 }",
		"local n n = 'x' n = 5 sdk.projects.search{ limit = n }",
		"local o = { limit = 5 } o.filter = {} sdk.projects.search(o)",
		"local function f(...) return fs.read(...) end print(f)",
		"local t = { f = function(self) return self end } function t:g() return 1 end print(t:g())",
		"while true do if sdk then break end end print(1)",
		"repeat local done = fs.exists('x') until done",
		"sdk.projects.create('x', 'c', { extra = { colour = 'red' } })",
		"sdk.projects.search{ extra = { whatever = 1 } }",
		"local other = sdk.connect{ timeout = 3 } other.projects.search{}",
		"local s = ('x'):rep(3) print(#s, s .. 1, -s)",
		"local function fib(n) if n < 2 then return n end return fib(n-1) end print(fib)",
		"#!/usr/bin/env transect",
	} {
		full := head + code
		if strings.HasPrefix(code, "#") {
			full = code + "\nprint(1)"
		}
		if got := found(t, full); len(got) > 0 {
			t.Errorf("%s\ntold %v", code, got)
		}
	}
}

func TestScriptsAreClean(t *testing.T) {
	files, err := filepath.Glob("../../scripts/*.lua")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	for _, file := range files {
		code, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		c := New()
		c.Local = func(_, module string) bool { return strings.HasPrefix(module, "lib.") } // beside the workflows
		for _, p := range c.Script(file, code) {
			t.Errorf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
		}
	}
}

// No text makes the checker fall over.
func FuzzScript(f *testing.F) {
	f.Add("local a = require('sdk') a.projects.search{ limit = 'x' }")
	f.Add("local function f(...) return ... end goto x ::x:: function a.b:c() end")
	checker := New()
	f.Fuzz(func(_ *testing.T, code string) { checker.Script("fuzz.lua", []byte(code)) })
}
