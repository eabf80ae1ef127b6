package lint

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"transect/bindings"
	"transect/bindings/ingest"
	"transect/bindings/lookup"
	"transect/runtime/examples"
	"transect/runtime/module"
	"transect/stdlib"
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
		"bracket missing":         {"print((1)\nprint(2)", "4 1 syntax"},
		"letter of a name":        {"local größe = 1", "3 9 syntax"},
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
		"field of a record":       {"print(sdk.users.describe().emial)", "3 28 unknown-field"},
		"field in a loop":         {"for p in sdk.projects.search_generator{} do print(p.nmae) end", "3 53 unknown-field"},
		"field of a list's items": {"for _, p in ipairs(sdk.projects.search{}) do print(p.nmae) end", "3 54 unknown-field"},
		"field of an element":     {"print(sdk.projects.search{}[1].nmae)", "3 32 unknown-field"},
		"a table for an iterator": {"local list = { 1, 2 }\nfor p in list do print(p) end", "4 10 no-iterator"},
		"field of an id":          {"for d in sdk.datasets.search_generator{} do print(d.project.name) end", "3 61 unknown-field"},
		"field of a text":         {"print(sdk.users.describe().email.domain)", "3 34 unknown-field"},
		"field of a constant":     {"local s = 'x'\nprint(s.y)", "4 9 unknown-field"},
		"flight for a mission":    {"local m = sdk.missions.create{ name = 'M', project = 'p', survey_date = '2026-01-01', number_of_images = 3, coordinates = {} }\nprint(m)", "3 7 wrong-value"},
		"element 0 of a field":    {"for d in sdk.datasets.search_generator{} do print(d.components[0].name) end", "3 64 wrong-value"},
		"filters joined by and":   {"local q = require('query')\nprint(q.eq('a', 1) and q.eq('b', 2))", "4 26 same-always"},
		"the index of ipairs":     {"for p in ipairs({ {} }) do print(p.name) end", "3 36 wrong-type"},
		"a sorted list":           {"local t = { 2, 1 }\nt = table.sort(t)\nprint(t)", "4 11 no-value"},
		"an argument that passes": {"print(sdk.analytics.order{ name = 'x', params = {} })", "3 40 unknown-argument"},
		"a call for a function":   {"print(try(require('http').get('https://a')))", "3 27 wrong-call"},
		"element 0":               {"print(sdk.projects.search{}[0])", "3 29 wrong-value"},
		"field of a filter":       {`print(sdk.projects.search{ filter = { ["$or"] = { { nmae = { ["$eq"] = sdk } } } } })`, "3 53 unknown-field"},
		"field of a sort":         {"print(sdk.projects.search{ sort = { nmae = 1 } })", "3 37 unknown-field"},
		"fields of a search":      {`print(sdk.projects.search{ fields = { include = { "name", "nmae" } } })`, "3 59 unknown-field"},
		"operator without sign":   {`print(sdk.projects.search{ filter = { name = { eq = "x" } } })`, "3 28 wrong-value"},
		"filter without operator": {"sdk.projects.search{ filter = 5 }", "3 22 wrong-type"},

		"option of an option":        {"require('http').get('http://x', { max_bdy = 1 })", "3 35 unknown-argument"},
		"state that is none":         {"require('notify').ping('http://x', 'sucess')", "3 36 wrong-value"},
		"type of a positional":       {"fs.read({})", "3 4 wrong-type"},
		"list for a boolean":         {"fs.remove('a', { recursive = {} })", "3 18 wrong-type"},
		"own function, too many":     {"local function f(a) return a end\nprint(f(1, 2))", "4 12 too-many-arguments"},
		"own function gives nothing": {"local function f(a) print(a) end\nlocal x = f(1)\nprint(x)", "4 11 no-value"},
		"write gives nothing":        {"local ok = fs.write('a', 'b')\nprint(ok)", "3 15 no-value"},
		"write as a condition":       {"if fs.write('a', 'b') then print(1) end", "3 7 no-value"},
		"deletion gives nothing":     {"local gone = sdk.projects.delete('x')\nprint(gone)", "3 27 no-value"},
		"nil and an error":           {"local text, err = fs.read('a')\nprint(text, err)", "3 13 no-value"},
		"error of an operation":      {"local p, err = sdk.projects.describe('x')\nprint(p, err)", "3 10 no-value"},
		"value behind an index":      {"for i, p in sdk.projects.search_generator{} do print(i, p) end", "3 8 no-value"},
		"loop over a list":           {"for p in sdk.projects.search{} do print(p) end", "3 23 no-iterator"},
		"loop over names":            {"for name in fs.list('.') do print(name) end", "3 16 no-iterator"},
		"loop over a table":          {"for x in { 1, 2 } do print(x) end", "3 1 no-iterator"},
		"loop over what is uncalled": {"for p in sdk.projects.search_generator do print(p) end", "3 23 no-iterator"},
		"loop over a number":         {"for i in 10 do print(i) end", "3 10 no-iterator"},
		"pairs of an iterator":       {"for _, l in ipairs(fs.lines('a')) do print(l) end", "3 23 no-iterator"},
		"count to a list":            {"for i = 1, fs.list('.') do print(i) end", "3 15 wrong-type"},
		"count down without step":    {"for i = 10, 1 do print(i) end", "3 13 same-always"},
		"iterator left alone":        {"sdk.projects.search_generator{}", "3 14 unused-value"},
		"replaced text left alone":   {"local s = fs.read('a')\ns:gsub('a', 'b')\nprint(s)", "4 3 unused-value"},
		"upper left alone":           {"local s = 'a'\nstring.upper(s)", "4 8 unused-value"},
		"path left alone":            {"require('path').join('a', 'b')", "3 17 unused-value"},
		"dot for a colon":            {"local r = require('http').get('http://x')\nprint(r.json())", "4 9 wrong-call"},
		"method of an object":        {"local r = require('http').get('http://x')\nprint(r:jsn())", "4 9 unknown-function"},
		"method of a text":           {"local s = 'x'\nprint(s:uper())", "4 9 unknown-function"},
		"method of a boolean":        {"local ok = pcall(print) == true\nprint(ok:upper())", "4 10 wrong-call"},
		"arguments of a method":      {"task.spawn(print):cancel(1, 2)", "3 26 too-many-arguments"},
		"call of a manager":          {"sdk.projects{}", "3 5 wrong-call"},
		"call of a number":           {"local n = 5\nprint(n())", "4 7 wrong-call"},
		"field of an operation":      {"print(sdk.projects.search.name)", "3 27 wrong-type"},
		"field of a function":        {"print(fs.list.first)", "3 15 wrong-type"},
		"field of a list":            {"local found = sdk.projects.search{}\nprint(found.name)", "4 13 unknown-argument"},
		"field of a number":          {"local n = #arg\nprint(n.size)", "4 9 wrong-type"},
		"field of a record changed":  {"local p = sdk.projects.create('x', 'c')\np.name = 'y'", "4 3 read-only"},
		"length of an iterator":      {"print(#sdk.projects.search_generator{})", "3 21 wrong-type"},
		"text and a list":            {"print('found ' .. fs.list('.'))", "3 22 wrong-type"},
		"text and nil":               {"print('x' .. nil)", "3 1 wrong-type"},
		"text and a function":        {"print('x' .. fs.list)", "3 17 wrong-type"},
		"sum of a text":              {"print(1 + 'one')", "3 11 wrong-type"},
		"sum of a list":              {"print(fs.list('.') + 1)", "3 10 wrong-type"},
		"number and text equal":      {"if #arg == '3' then print(1) end", "3 12 same-always"},
		"number and text in order":   {"if #arg > '3' then print(1) end", "3 11 wrong-type"},
		"type of a wrong name":       {"if type(arg[1]) == 'str' then print(1) end", "3 20 same-always"},
		"complete":                   {"for d in sdk.datasets.search_generator{} do if d.ingestion.status == 'complete' then print(d) end end", "3 70 same-always"},
		"not before equal":           {"if not arg[1] == 'x' then print(1) end", "3 18 same-always"},
		"equal to a new table":       {"if arg == {} then print(1) end", "3 4 same-always"},
		"operation never nil":        {"if sdk.projects.search == nil then print(1) end", "3 17 same-always"},
		"manager never nil":          {"if sdk.projects == nil then print(1) end", "3 8 same-always"},
		"text behind or":             {"if arg[1] == 'a' or 'b' then print(1) end", "3 21 same-always"},
		"length as a condition":      {"if #arg then print(1) end", "3 5 same-always"},
		"list as a condition":        {"if sdk.projects.search{} then print(1) end", "3 17 same-always"},
		"function as a condition":    {"if fs.exists then print(1) end", "3 7 same-always"},
		"zero as a condition":        {"local n = 0\nif 0 then print(n) end", "4 4 same-always"},
		"branch repeated":            {"local a = arg[1]\nif a == 'x' then print(1) elseif a == 'x' then print(2) end", "4 1 same-always"},
		"own value":                  {"local a = arg[1]\na = a\nprint(a)", "4 5 same-always"},
		"key twice":                  {"print({ name = 1, size = 2, name = 3 })", "3 29 duplicate-key"},
		"argument twice":             {"sdk.projects.search{ limit = 1, limit = 2 }", "3 33 duplicate-key"},
		"parameter twice":            {"print(function(a, a) return a end)", "3 19 hidden-name"},
		"parameter hides table":      {"print(function(table) table.insert(table, 1) end)", "3 29 hidden-name"},
		"parameter hides a module":   {"local path = require('path')\nprint(path, function(path) return path.join(path, 'x') end)", "4 40 hidden-name"},
		"try of a result":            {"local t = try(fs.read('a'))\nprint(t)", "3 18 wrong-call"},
		"pcall of a result":          {"print(pcall(sdk.projects.describe('x')))", "3 26 wrong-call"},
		"try without a function":     {"try('x')", "3 5 wrong-call"},
		"through try":                {"try(fs.read, 'a', 'b')", "3 19 too-many-arguments"},
		"format wants more":          {"print(string.format('%s of %d', 'a'))", "3 14 missing-argument"},
		"format gets more":           {"print(('%d %%'):format(1, 2))", "3 27 too-many-arguments"},
		"no such directive":          {"print(string.format('%y', 1))", "3 21 wrong-value"},
		"pattern without its end":    {"print(('a'):find('[ab'))", "3 18 wrong-value"},
		"pattern with a bracket":     {"print(string.gsub(arg[1], '(', ''))", "3 27 wrong-value"},
		"separator before the list":  {"print(table.concat(', ', {}))", "3 13 wrong-type+3 20 wrong-type"},
		"insert without a value":     {"print(table.concat())", "3 13 missing-argument"},
		"argument of the script":     {"local args = require('script').args{ 'folder', dry_run = 'boolean' }\nprint(args.foldr)", "4 12 unknown-argument"},
		"plus equal of C":            {"local x = 1 x += 1", "3 15 syntax"},
		"not equal of C":             {"if arg[1] != 'x' then print(1) end", "3 11 syntax"},
	} {
		t.Run(name, func(t *testing.T) {
			got := strings.Join(found(t, head+c.code), "+")
			if got != c.want {
				t.Errorf("%s\ngot  %s\nwant %s", c.code, got, c.want)
			}
		})
	}
}

// What other languages have is told as what Lua has instead.
func TestOtherLanguages(t *testing.T) {
	for code, want := range map[string]string{
		"print(a != b)":                    "~=",
		"x += 1":                           "x = x + 1",
		"local i = 1 i++":                  "i = i + 1",
		"if a && b then end":               "and",
		"if a || b then end":               "or",
		"if !a then end":                   "not",
		"for i = 1, 2 do continue end":     "goto",
		"sdk:projects.search{}":            "with a dot",
		"if a = 1 then end":                "==",
		"local x = a ? b : c":              "and … or",
		"x = 7 // 2":                       "math.floor",
		"if x then y() else if z then end": "elseif",
		"const x = 1":                      "local",
		"local t = [1, 2]":                 "{ 1, 2 }",
		"f{ limit: 5 }":                    "=",
		"local x <const> = 1":              "local",
		"print(null)":                      "nil",
		"throw('x')":                       "error",
		"print(len(arg))":                  "#",

		"sdk.projects.search{ filter = { name = { $eq = 'x' } } }": `["$eq"]`,
		"for p in sdk.projects.search():\n  print(p)":              "then or do",
		"print(1)\nif x: print(1)":                                 "see line 2",
		"while True:\n  break":                                     "then or do",
		"function f(a)\n  return a\nprint(f(1))":                   "an end is missing",
		"print(f\"{arg} files\")":                                  `("%d files"):format(n)`,
		"print('%s files' % 3)":                                    `("%d files"):format(n)`,
		"print('x' * 3)":                                           ":rep(3)",
		"local f = lambda x: x":                                    "function(x) return",
		"print('a' if arg else 'b')":                               "condition and a or b",
		"if 1 in arg then print(1) end":                            "Lua has no in",
		"raise ValueError('x')":                                    "error(…)",
		"print(os.path.join('a', 'b'))":                            `require("path")`,
		"print(require('json').dumps({}))":                         "json.encode",
		"print(datetime.now())":                                    `require("time")`,
		"print('abc'.upper())":                                     `("text"):upper()`,
		"print(('abc'):startswith('a'))":                           "s:sub(1, #p) == p",
		"x = 2 ** 3":                                               "2^3",
		`local d = {"a" = 1}`:                                      `["key"] = value`,
		`"""what it does"""`:                                       "[[",
		"local a, b = (1, 2)":                                      "without parentheses",
		"local found = require('sdk').projects.search{} print(found[-1])": "list[#list]",
		"global x":                         "global",
		"local x = 3 # three":              "--",
		"import alteia":                    `require("sdk")`,
		"local alteia = require('alteia')": `require("sdk")`,
	} {
		problems := New().Script("script.lua", []byte(code))
		if len(problems) == 0 || !slices.ContainsFunc(problems, func(p Problem) bool { return strings.Contains(p.Hint, want) }) {
			t.Errorf("%s\ntold %+v", code, problems)
		}
	}
}

// What is right is left alone.
func TestNoFalseAlarms(t *testing.T) {
	for _, code := range []string{
		"for i, d in ipairs({}) do print(d) end",
		"local type = arg[1] or 'x' if type == 'name' then print(1) end",
		"local type = sdk.users.describe().email if type == 'name' then print(1) end",
		"local unpack = table.unpack or unpack print(unpack({ 1 }))",
		"if jit then print(jit.version) end",
		"local V = setmetatable({}, { __add = print }) print(V + 1)",
		"for d in sdk.datasets.search_generator{} do if d.name == nil or d.name:upper() == 'X' then print(d) end end",
		"local flight, mission = sdk.missions.create{ project = 'p', survey_date = '2026-01-01', number_of_images = 3, name = 'x', coordinates = {} } print(flight, mission)",
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
		"while 1 do if sdk then break end end",
		"local t = {} if t then print(t) end",
		"print((arg[1] or 'x') .. 'y', arg[1] and 1 or 2)",
		"local function f() return fs.write('a', 'b') end print(f())",
		"local _ = fs.remove('a')",
		"local all = sdk.projects.search{ return_total = true } print(all.total)",
		"local found = sdk.projects.search{} found.name = 'mine' print(found.name)",
		"local g = sdk.projects.search_generator{} print(g())",
		"for p in sdk.projects.search_generator{} do print(p) end",
		"for k in pairs(sdk.projects.search{}) do print(k) end",
		"local p = sdk.analytics.describe_by_name('x') if p == nil then print(1) end",
		"local s = ('x'):gsub('%[', '') print(s, ('a]'):find('[]]'), ('%d%%'):format(1))",
		";('a b'):gsub('%S+', function(word) print(word) end)",
		"print(string.format('%5.2f %s', 1, 2), string.format(unpack(arg)))",
		"print(type(arg[1]) == 'userdata', not arg[1] == not arg[2], not arg[1] == true)",
		"print(#fs.list('.') == 3, 'a' < 'b', arg[1] == nil, nil == arg[2])",
		"local n = '5' print(n + 1, '0x10' + 1)",
		"for i = 10, 1, -1 do print(i) end",
		"local function f(a, ...) return a, ... end print(f(1, 2, 3))",
		"local function f(time) return time + 1 end print(f(1))",
		"local r = require('http').get('x') print(r:json(), r.json(r), r.status)",
		"print(({ x = 1, y = 1 }).x, { [1] = 'a', 'b' })",
		"local x x = pcall(fs.read, 'a') print(x)",
		"local args = require('script').args{ 'folder', n = 'integer' } print(args.folder, args.n)",
		"local value, why = arg[1], arg[2] print(value, why)",
		"if arg[1] == 'a' or arg[1] == 'b' then print(1) end",
		"if debug then debug.traceback() end",
		"local flag = false task.spawn(function() flag = true end) if flag == true then print(1) end",
		"table.insert(arg, 1) table.insert(arg, 1, 2) table.sort(arg) print(tostring(nil), tostring(sdk))",
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
		c.Local = func(file, module string) string { // beside the workflows
			found, _ := filepath.Glob(filepath.Join(filepath.Dir(file), strings.ReplaceAll(module, ".", "/")+".lua"))
			return strings.Join(found, "")
		}
		for _, p := range c.Script(file, code) {
			t.Errorf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
		}
	}
}

// Every documented example, of modules, objects and operations, is clean, and
// so are the tests of the workflows and what a new project begins with.
func TestExamplesAreClean(t *testing.T) {
	c := New()
	clean := func(name, code string) {
		t.Helper()
		c.Local = func(_, module string) string { // the script's own
			if c.env.has(module) {
				return ""
			}
			return module + ".lua"
		}
		for _, p := range c.Script(name, []byte(code)) {
			if p.Rule == UnusedVariable {
				continue // examples name what there is
			}
			t.Errorf("%s:%d:%d: %s [%s]\n%s", p.File, p.Line, p.Column, p.Message, p.Rule, strings.Split(code, "\n")[p.Line-1])
		}
	}
	for name, example := range examples.Of(stdlib.Examples, bindings.Examples, ingest.Examples, lookup.Examples) {
		clean(name, example.Text())
	}
	for _, pattern := range []string{"../../scripts/*_test.lua", "../../scripts/[lt]*/*.lua", "../reference/project/[^.]*.lua"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, file := range files {
			code, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			clean(file, string(code))
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

// Each rule's example breaks it and no other, and can be allowed.
func TestRules(t *testing.T) {
	for _, rule := range Rules() {
		c := New()
		c.Local = func(_, module string) string {
			if module == "json" {
				return "json.lua"
			}
			return ""
		}
		rules := func(code string) (names []string) {
			for _, p := range c.Script("script.lua", []byte(code)) {
				names = append(names, p.Rule)
			}
			return names
		}
		if got := rules(rule.Example); !slices.Equal(got, []string{rule.Name}) {
			t.Errorf("%s breaks %v, not %s", rule.Example, got, rule.Name)
		}
		for _, allowing := range []string{
			rule.Example + " -- check: allow " + rule.Name, "-- check: allow no-value, " + rule.Name + "\n" + rule.Example,
			rule.Example + " -- check: ignore",
		} {
			if got := rules(allowing); len(got) > 0 {
				t.Errorf("%s: %v", allowing, got)
			}
		}
		if got := rules("print(1) -- check: allow " + rule.Name + "\n" + rule.Example); len(got) != 1 {
			t.Errorf("allowed in another line: %v", got)
		}
		c.Allowed = []string{rule.Name}
		if got := rules(rule.Example); len(got) > 0 {
			t.Errorf("allowed: %v", got)
		}
	}
}

// A module that a part of the program adds is checked like others.
func TestModulesOfTheProgram(t *testing.T) {
	own := &module.Module{Name: "calls", Funcs: []module.Func{{Name: "count", Params: []module.Param{{Name: "operation", Type: "string"}}}}}
	checker := New(append(stdlib.Modules(), own)...)
	for code, want := range map[string]string{
		`print(require("calls").count("x"))`: "", `print(require("calls").cuont("x"))`: UnknownFunction, `print(require("calls").count({}))`: WrongType,
	} {
		got := ""
		for _, p := range checker.Script("s.lua", []byte(code)) {
			got += p.Rule
		}
		if got != want {
			t.Errorf("%s: %q, want %q", code, got, want)
		}
	}
}
