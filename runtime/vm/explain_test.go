package vm_test

import (
	"strings"
	"testing"

	"transect/client/fault"
	"transect/runtime/module"
	"transect/runtime/vm"
)

// What an error is about is named, where only one thing comes into question.
func TestErrorsNameWhatTheyAreAbout(t *testing.T) {
	for code, want := range map[string]string{
		`projetcs.search{}`:                         "attempt to index global 'projetcs' (a nil value)",
		`local p; p.x = 3`:                          "attempt to index local 'p' (a nil value)",
		`local p; return function() return p.x end`: "attempt to index upvalue 'p' (a nil value)",
		`local t = {} t.foo.bar()`:                  "attempt to index field 'foo' (a nil value)",
		`local t = {} t.foo.bar.baz = 1`:            "attempt to index field 'foo' (a nil value)",
		`local t = { a = 1 } print(t.a.b.c)`:        "attempt to index field 'a' (a number value)",
		`prnt("x")`:                                 "attempt to call global 'prnt' (a nil value)",
		`string.upcase("x")`:                        "attempt to call field 'upcase' (a nil value)",
		`local t = {} t:go()`:                       "attempt to call method 'go' (a nil value)",
		`local t = {} t.go(print("x"))`:             "attempt to call field 'go' (a nil value)",
		`local f; f()`:                              "attempt to call local 'f' (a nil value)",
		`x = print("a") or nothere()`:               "attempt to call global 'nothere' (a nil value)",
		`for k in {} do end`:                        "attempt to call a table value",
		`local sdk = { search = function() return {} end } for p in sdk.search{} do print(p) end`: "attempt to call a table value",
		`local t = { {} } for _, v in pairs(t) do v.go() end`:                                     "attempt to call field 'go' (a nil value)",
		`local function search() return {} end return search{}[0].name`:                           "attempt to index field '?' (a nil value)",
		`return #nil`: "attempt to get length of a nil value",
		`return -{}`:  "attempt to perform arithmetic on a table value",
		`local a, b = {}, {} return a.x.z, b.y.z`:                        "attempt to index field 'x' (a nil value)",
		`local t, k = {}, "z" return t[k][k]`:                            "attempt to index field '?' (a nil value)",
		`local f = (true and nil) or nil; (f or nil)()`:                  "attempt to call a nil value",
		`local ok, err = pcall(function() nothere() end) error(err, 0)`:  "attempt to call global 'nothere' (a nil value)",
		`local c = coroutine.wrap(function() nothere.x = 1 end) c()`:     "attempt to index global 'nothere' (a nil value)",
		"local x\n\n  = 1\nnothere.\n  y()":                              "attempt to index global 'nothere' (a nil value)",
		`nothere = nil; loadstring("nothere()", "made")()`:               "attempt to call global 'nothere' (a nil value)",
		`error("attempt to index a non-table object(nil) with key 'x'")`: "attempt to index a non-table object(nil) with key 'x'",
		`error("attempt to call a non-function object", 0)`:              "attempt to call a non-function object",
		`math.sin = nil; return function() return math.sin(1) end`:       "attempt to call field 'sin' (a nil value)",
		`local g = _G; return function() return g.nothere(1) end`:        "attempt to call field 'nothere' (a nil value)",
		`string.rep("x", 3):go()`:                                        "attempt to call method 'go' (a nil value)",
		`local t = setmetatable({}, { __call = 3 }) t()`:                 "attempt to call local 't' (a table value)",
		`print(nothere.x, alsonot.x)`:                                    "attempt to index global 'nothere' (a nil value)",
		`print(string.len, nothere.x)`:                                   "attempt to index global 'nothere' (a nil value)",
		`table.sort({ 3, 1 }, function(a, b) return a.x < b.x end)`:      "attempt to index local 'a' (a number value)",
		`local t = {} for _, v in ipairs(t.list.items) do print(v) end`:  "attempt to index field 'list' (a nil value)",
		`local r = {} return r.name and r.name.first or r.other.first`:   "attempt to index field 'other' (a nil value)",
		`return ("x").y.z`: "attempt to index field 'y' (a nil value)",
		`return math.pi.x`: "attempt to index field 'pi' (a number value)",
		`return (nil)[1]`:  "attempt to index a nil value",
		`local deep = { a = { b = {} } } return deep.a.b.c.d`: "attempt to index field 'c' (a nil value)",
		`local sdk = {} local d = sdk.datasets d.search{}`:    "attempt to index local 'd' (a nil value)",
		`local function f(p) return p.name.first end f({})`:   "attempt to index field 'name' (a nil value)",
		`local function f(a, b) return a.id, b.id end f({})`:  "attempt to index local 'b' (a nil value)",
		`a.b.c = 1`:                  "attempt to index global 'a' (a nil value)",
		`local t = {} t.list[1] = 2`: "attempt to index field 'list' (a nil value)",
		`local t = {} return function() t.list:go() end`: "attempt to index field 'list' (a nil value)",
		`return nothere.x + 1`:                           "attempt to index global 'nothere' (a nil value)",
		`return not nothere.x`:                           "attempt to index global 'nothere' (a nil value)",
		`return nothere[1]`:                              "attempt to index global 'nothere' (a nil value)",
		`local n = 1 return nothere[n]`:                  "attempt to index global 'nothere' (a nil value)",
		`return tostring(nothere("x").y)`:                "attempt to call global 'nothere' (a nil value)",
	} {
		in := interp(t, vm.Options{})
		full := code
		if strings.Contains(code, "return function()") {
			full = "local f = (function()\n" + code + "\nend)()\nf()"
		}
		_, err := in.RunString("script.lua", full)
		if err == nil || !strings.HasSuffix(err.Error(), want) || want[0] != 'a' && !strings.Contains(err.Error(), ": "+want) {
			t.Errorf("%s\n got %v\nwant %s", code, err, want)
		}
	}
}

// A global that is nil is often one that was spelled otherwise.
func TestNilGlobalsHint(t *testing.T) {
	projects := &module.Module{Name: "projects", Doc: "x", Funcs: []module.Func{{Name: "go", Doc: "x", Call: func(*module.Call) (any, error) { return nil, nil }}}}
	for code, want := range map[string]string{
		`projetcs.search{}`:                    "did you mean projects?",
		`prnt("x")`:                            "did you mean print?",
		`local flight = {} print(flihgt.name)`: "did you mean flight?",
		`projects.go()`:                        `write local projects = require("projects") before it`,
		`zqxwvk.x = 1`:                         "",
		`local t = {} t.foo.bar()`:             "",
	} {
		in := interp(t, vm.Options{})
		module.Preload(in, projects)
		_, err := in.RunString("script.lua", code)
		if f := fault.Find(err); f == nil || f.Facts().Hint != want {
			t.Errorf("%s: %v, want the hint %q", code, err, want)
		} else if _, is := f.(*fault.RuntimeError); !is {
			t.Errorf("%s: %T", code, f)
		}
	}
}

func TestRaisedTablesAreShown(t *testing.T) {
	for code, want := range map[string]string{
		`error({ code = 3, why = "disk", list = { 1, 2 } })`: `{ code = 3, list = { 1, 2 }, why = "disk" }`,
		`error({})`: `{}`,
		`error({ "a", "b", ["c d"] = true, [2.5] = 1 })`:                  `{ "a", "b", [2.5] = 1, ["c d"] = true }`,
		`local t = {} t.t = t error(t)`:                                   `{ t = { … itself … } }`,
		`error({ a = { b = { c = { d = 1 } } } })`:                        `{ a = { b = { c = { … } } } }`,
		`error({ password = "hunter2", api_token = "x" })`:                `{ api_token = …, password = … }`,
		`local t = {} for i = 1, 100 do t[i] = i end error(t)`:            `{ 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, … 80 more }`,
		`local t = {} for i = 1, 100 do t["k" .. i] = 1 end error(t)`:     `, … 80 more }`,
		`error({ ("x"):rep(1e5) })`:                                       `x"… }`,
		`local t = {} for i = 1, 30 do t[i] = ("y"):rep(79) end error(t)`: ` more }`,
	} {
		in := interp(t, vm.Options{})
		_, err := in.RunString("script.lua", code)
		if err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 1000 {
			t.Errorf("%s\n got %v\nwant %s", code, err, want)
		}
	}
	in := interp(t, vm.Options{})
	if _, err := in.RunString("script.lua", `error({ message = "the disk is full", code = 3 })`); err == nil || err.Error() != "the disk is full" {
		t.Errorf("with a message: %v", err)
	}
}

func TestFormat(t *testing.T) {
	for call, want := range map[string]string{
		`"%d", "10"`: "10",
		`"%d|%i|%5d|%-5d|%05d|%+d", 3.7, -3.7, 42, 42, 42, 42`: "3|-3|   42|42   |00042|+42",
		`"%5.2f", "1.5"`:                       " 1.50",
		`"%x %X %o %#x", 255, 255, 8, 255`:     "ff FF 10 0xff",
		`"%x", -1`:                             "ffffffffffffffff",
		`"%g %g %g", 0.1, 1e20, 100000`:        "0.1 1e+20 100000",
		`"%e", 12345.678`:                      "1.234568e+04",
		`"%s %s %s", nil, true, 1.5`:           "nil true 1.5",
		`"%10s|%-10s|%.2s", "ab", "ab", "abc"`: "        ab|ab        |ab",
		`"%c%c", 72, 105`:                      "Hi",
		`"%q", 'say "x"\n'`:                    `"say \"x\"\` + "\n\"",
		`"100%%"`:                              "100%",
		`"%5.1f|%s", 1/0, -1/0`:                "  inf|-inf",
		`"%d", "0x10"`:                         "16",
		`"%s", setmetatable({}, { __tostring = function() return "own" end })`: "own",
		`"%d", "x"`:        "!bad argument #2 to 'format' (number expected, got string)",
		`"%d"`:             "!bad argument #2 to 'format' (no value)",
		`"%d %d", 1`:       "!bad argument #3 to 'format' (no value)",
		`"%d", "inf"`:      "-9223372036854775808",
		`"%d", {}`:         "!number expected, got table",
		`"%y", 1`:          "!invalid option '%y' to 'format'",
		`"%"`:              "!bad argument #2 to 'format' (no value)",
		`"%100d", 1`:       "!width or precision too long",
		`"%.100f", 1`:      "!width or precision too long",
		`"%999999999d", 1`: "!would build a string",
		`"%5-d", 1`:        "!invalid option '%-' to 'format'",
	} {
		in := interp(t, vm.Options{})
		values, err := in.RunString("script.lua", "return string.format("+call+")")
		if wrong, raises := strings.CutPrefix(want, "!"); raises {
			if err == nil || !strings.Contains(err.Error(), wrong) {
				t.Errorf("%s: %v %v, want an error: %s", call, values, err, wrong)
			}
		} else if err != nil || values[0].String() != want {
			t.Errorf("%s: %v %v, want %q", call, values, err, want)
		}
	}
}
