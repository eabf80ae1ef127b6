package vm_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"transect/client/fault"
	"transect/runtime/vm"
)

// What was wrong with the engine's own compiler and virtual machine, each with its
// smallest example.
func TestAsLua51(t *testing.T) {
	join := func(n int, format, separator string) string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = strings.ReplaceAll(format, "#", fmt.Sprint(i+1))
		}
		return strings.Join(parts, separator)
	}
	for name, code := range map[string]string{
		"a call in parentheses assigned": `local function f(s) s = (s:gsub("a", "b")) return s end; assert(f("aa") == "bb")`,
		"other locals beside it":         `local a, b, c = "x", 2, 3; b = (a:upper()); assert(a == "x" and b == "X" and c == 3)`,
		"yield in a tail call":           `local c = coroutine.wrap(function(x) return coroutine.yield(x) end); assert(c(1) == 1 and c(2) == 2)`,
		"a keyed call last":              `local function two() return 1, 2 end; local t = { 10, 20, k = two() }; assert(#t == 2 and t.k == 1)`,
		"keyed varargs last":             `local function f(...) return { 10, x = ... } end; local t = f(7, 8); assert(#t == 1 and t.x == 7)`,
		"a long list":                    `local t = { ` + join(30_000, "#", ",") + ` }; assert(#t == 30000 and t[25551] == 25551)`,
		"a list of a million":            `local t = { ` + strings.Repeat("1,", 1_000_000) + ` }; assert(#t == 1000000)`,
		"many texts":                     `local t = { ` + join(40_000, "'s#'", ",") + ` }; assert(t[40000] == "s40000")`,
		"many globals":                   join(3000, "g# = #", "; ") + `; assert(g1 + g1500 + g3000 == 4501)`,
		"many fields":                    `local t = {}; ` + join(3000, "t.g# = #", "; ") + `; assert(t.g1 + t.g1500 + t.g3000 == 4501)`,
		"many methods":                   `local t = {}; ` + join(600, "function t:m#() return self, # end", "; ") + `; local s, n = t:m600(); assert(s == t and n == 600)`,
		"deep recursion":                 `local function f(n) if n == 0 then return 0 end return 1 + f(n - 1) end; assert(f(19000) == 19000)`,
		"deep recursion in pcall":        `local function f(n) if n == 0 then return 0 end return 1 + f(n - 1) end; assert(select(2, pcall(f, 19000)) == 19000)`,
		"a stack overflow":               `local function f() return 1 + f() end; local ok, e = pcall(f); assert(not ok and e:find("overflow: .*stack overflow") or e:find("stack overflow"), e)`,
		"200 locals and a call":          join(199, "local a# = #", "; ") + `; assert(tostring(a199) == "199")`,
		"240 arguments":                  `assert(select("#", ` + join(240, "#", ",") + `) == 240)`,
		"60 upvalues":                    join(60, "local a# = #", "; ") + `; assert((function() return ` + join(60, "a#", "+") + ` end)() == 1830)`,
		"a function's own name":          `f = 1; local f = function() return f end; assert(f() == 1)`,
		"yield in a comparator":          `local ok, e = coroutine.resume(coroutine.create(function() table.sort({ 2, 1 }, coroutine.yield) end)); assert(not ok and e:find("attempt to yield across"))`,
		"yield in an iterator":           `local ok, e = coroutine.resume(coroutine.create(function() for x in coroutine.yield do end end)); assert(not ok and e:find("attempt to yield across"))`,
		"yield in a metamethod":          `local t = setmetatable({}, { __index = coroutine.yield }); local ok, e = coroutine.resume(coroutine.create(function() return t.x end)); assert(not ok and e:find("attempt to yield across"))`,
		"yield in pcall":                 `coroutine.wrap(function() local ok, e = pcall(coroutine.yield); assert(not ok and e:find("attempt to yield across")) end)()`,
		"texts as numbers":               `assert("0x10" + 1 == 17 and " 10 " * 2 == 20 and "1e3" - 1 == 999 and -"2" == -2); assert(not pcall(function() return "0b1" + 1 end))`,
		"a loop over texts":              `local n = 0; for i = "1", "3" do n = n + i end; assert(n == 6)`,
		"numbers in texts":               `assert(1 .. "" == "1" and 0.1 .. "" == "0.1" and 2^53 .. "" == "9.007199254741e+15" and 1/0 .. "" == "inf")`,
		"remainders":                     `assert(tostring(-6 % 3) == "0" and 5 % -3 == -1 and 5.5 % 2 == 1.5)`,
		"a tail call after 1,000,000":    `local function f(n) if n == 0 then error("end", 0) end return f(n - 1) end; local ok, e = pcall(f, 1e6); assert(e == "end")`,
		"fresh locals of repeat":         `local t = {}; local i = 0; repeat local j = i; t[#t + 1] = function() return j end; i = i + 1 until j == 2; assert(t[1]() == 0 and t[3]() == 2)`,
		"a break that closes":            `local t = {}; for i = 1, 3 do local j = i; t[i] = function() j = j + 1; return j end; if i == 2 then break end end; assert(t[1]() == 2 and t[2]() == 3 and t[2]() == 4)`,
		"goto out of a closure's block":  `local t = {}; for i = 1, 3 do do local j = i; t[i] = function() return j end; if i < 3 then goto next end end ::next:: end; assert(t[1]() == 1 and t[2]() == 2 and t[3]() == 3)`,
		"closures after an error":        `local n = 0; local function add() n = n + 1 end; pcall(function() add(); error("x") end); n = n + 10; add(); assert(n == 12)`,
		"errors of coroutine.wrap":       `local ok, e = pcall(coroutine.wrap(function() error("x", 0) end)); assert(e == "x", e)`,
		"positions of library errors":    `local ok, e = pcall(string.rep); assert(e == "bad argument #1 to '?' (string expected, got no value)", e)`,
		"the handler sees the stack":     `local function fails() local t; t.x = 1 end; local _, trace = xpcall(fails, debug.traceback); assert(trace:find("in function 'fails'") or trace:find("function <"), trace)`,
		"lines of a chain of calls":      "local o = {}; function o:f() return self end\nlocal ok, e = pcall(function()\n  return o:f()\n    :f()\n    :nothing()\nend)\nassert(e:find(\":5: attempt to call method 'nothing'\"), e)",
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := interp(t, vm.Options{}).RunString("as", code); err != nil {
				t.Error(err)
			}
		})
	}
}

// What would be read otherwise than Lua 5.1 reads it is refused.
func TestRefusedCode(t *testing.T) {
	for code, want := range map[string]string{
		"local s = '\\300'":                "s.lua:1: escape sequence too large",
		"local a = 3x = 5":                 "s.lua:1: malformed number near '3x'",
		"local a = 0x":                     "s.lua:1: malformed number near '0x'",
		"local a = 1..2":                   "s.lua:1: malformed number near '1..2'",
		"x = f\n(g or h)()":                "s.lua:2: ambiguous syntax",
		"f'a'\n(g)()":                      "s.lua:2: ambiguous syntax",
		"(f())":                            "s.lua:1: syntax error near ')'",
		"return function() return ... end": "s.lua:1: cannot use '...' outside a vararg function",
		strings.Repeat("do ", 300) + strings.Repeat("end ", 300):                       "s.lua:1: chunk has too many syntax levels",
		"return " + strings.Repeat("{", 300) + strings.Repeat("}", 300):                "s.lua:1: chunk has too many syntax levels",
		strings.Repeat("local a;", 201):                                                "s.lua:1: main function has more than 200 local variables",
		"do goto out local a ::out:: print(a) end":                                     "s.lua:1: <goto out> at line 1 jumps into the scope of local 'a'",
		"return f(" + strings.Repeat("1,", 260) + "1)":                                 "s.lua:1: function or expression too complex",
		"return {" + strings.Repeat("[", 250) + "1" + strings.Repeat("]=1", 250) + "}": "",
	} {
		_, err := interp(t, vm.Options{}).RunString("s.lua", code)
		if fault.Find(err) == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.60q: got %.200v, want %s", code, err, want)
		}
	}
	for _, code := range []string{
		"local x\n(print)()", "local function f()\n(print)() end", "x = {}\n(print)()", "x = 'a'\n(print)()", "local n = 0x1F + 3e-2 + .5 + 3.",
		"x = [[\n]]\nlocal y --[==[ ' ]] ]==] = 1\n(print)()", `local s = "\255\z\"'"`, "x = a and\n(b)", "print\n{}", "function a.b.c:d\n(x) end",
	} {
		if err := vm.Check("s.lua", []byte(code)); err != nil {
			t.Errorf("%q: %v", code, err)
		}
	}
}

// Compiling takes time in proportion to the code.
func TestCompilingIsLinear(t *testing.T) {
	var b strings.Builder
	b.WriteString("local t = {")
	for i := range 100_000 {
		fmt.Fprintf(&b, "'text %d',", i)
	}
	b.WriteString("}")
	start := time.Now()
	if err := vm.Check("s.lua", []byte(b.String())); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took > 20*time.Second { // it took minutes
		t.Errorf("it took %s", took)
	}
}
