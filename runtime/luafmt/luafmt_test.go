package luafmt

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"transect/runtime/engine/compile"
	"transect/testdata/luaoracle"
)

// TestScriptsAreFormatted holds the ready scripts to what the formatter writes.
func TestScriptsAreFormatted(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"*.lua", "*/*.lua"} {
		paths, err := filepath.Glob(filepath.Join("../../scripts", pattern))
		if err != nil || len(paths) == 0 {
			t.Fatal(paths, err)
		}
		for _, path := range paths {
			code, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			formatted, err := Source(path, code)
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			if !bytes.Equal(code, formatted) {
				old, now := bytes.Split(code, []byte("\n")), bytes.Split(formatted, []byte("\n"))
				for i := range min(len(old), len(now)) {
					if !bytes.Equal(old[i], now[i]) {
						t.Errorf("%s:%d:\n%s\nbecomes\n%s", path, i+1, old[i], now[i])
						break
					}
				}
			}
		}
	}
}

// TestFormatting shows what is changed and what stays.
func TestFormatting(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ code, want string }{
		{"", ""},
		{"\xef\xbb\xbf#!/usr/bin/env transect\nprint( 1 )\r\n", "#!/usr/bin/env transect\nprint(1)\n"},
		{"\n\n\nlocal x=1\n\n\n\ny = -x  ;  z=- -x\n\n", "local x = 1\n\ny = -x; z = - -x\n"},
		{"a=b-1 c=-1 d=#t-#u e=not-x f={...}[1]", ""},
		{"a=b-1 c=-1 d=#t-#u e=not-x f=({...})[1]", "a = b - 1 c = -1 d = #t - #u e = not -x f = ({ ... })[1]\n"},
		{`x='it is' y='"no"' z='\'' w='\n'`, `x = "it is" y = '"no"' z = '\'' w = "\n"` + "\n"},
		{"f {a=1,[2]=3;}  g'x' h[[y]] a[ [[k]] ]=1", "f{ a = 1, [2] = 3; } g \"x\" h [[y]] a[ [[k]]] = 1\n"},
		{"x=1 ..2 y=a..5 z=(a)..(b)", "x = 1 .. 2 y = a .. 5 z = (a) .. (b)\n"},
		{"goto a ::a:: ::b::x()", "goto a ::a:: ::b:: x()\n"},
		{"function a.b:c ( ... ) return ... end", "function a.b:c(...) return ... end\n"},
		{"f(function(x)\n\n-- first  \nreturn x\n\n end)", "f(function(x)\n  -- first\n  return x\nend)\n"},
		{"if a\nand b\nthen\nc()\n-- no\nelse\nd()\nend", "if a\n  and b\nthen\n  c()\n  -- no\nelse\n  d()\nend\n"},
		{"while a do\nif b then break end\nend\nfor i=1,2 do f(i)\nend\nrepeat\nlocal x\nuntil x",
			"while a do\n  if b then break end\nend\nfor i = 1, 2 do f(i)\nend\nrepeat\n  local x\nuntil x\n"},
		{"local x =\na\n.. b\n+ f(\n1,\n2\n)\nlocal y", "local x =\n  a\n  .. b\n  + f(\n    1,\n    2\n  )\nlocal y\n"},
		{"f(\na\n.. b)\nx = (\na\nor b\n)", "f(\n  a\n    .. b)\nx = (\n  a\n  or b\n)\n"},
		{"x:y()\n:z()\nlocal t = {\n-- a\n'b', -- c\n\n\nd = 1 -- e\n}",
			"x:y()\n  :z()\nlocal t = {\n  -- a\n  \"b\", -- c\n\n  d = 1 -- e\n}\n"},
		{"--[==[ a\n  b ]==] x = [[\n  c\n]]   -- d", "--[==[ a\n  b ]==] x = [[\n  c\n]] -- d\n"},
		{"do\nlocal function f()\nend end -- x\n-- y", "do\n  local function f()\n  end end -- x\n-- y\n"},
		{"x = a --[[b]] + c", "x = a --[[b]] + c\n"},
		{"return\n\n-- end", "return\n\n-- end\n"},
	} {
		got, err := Source("test.lua", []byte(test.code))
		if test.want == "" && test.code != "" {
			if err == nil {
				t.Errorf("%q is not refused", test.code)
			}
			continue
		}
		if err != nil || string(got) != test.want {
			t.Errorf("%q: %v\n%s\nwant\n%s", test.code, err, got, test.want)
		}
		if again, err := Source("test.lua", got); err != nil || !bytes.Equal(again, got) {
			t.Errorf("%q: formatted again it is, with %v,\n%s", test.code, err, again)
		}
	}
}

// TestMeaningIsKept formats random programs in an untidy form and runs both.
func TestMeaningIsKept(t *testing.T) {
	t.Parallel()
	seed, count := uint64(time.Now().UnixNano()), 100
	if n, err := strconv.Atoi(os.Getenv("TRANSECT_LUA_PROGRAMS")); err == nil {
		count = n
	}
	t.Logf("%d programs of seed %d", count, seed)
	for n := range count {
		random := rand.New(rand.NewPCG(seed, uint64(n)))
		program := untidy(random, luaoracle.Generate(seed, uint64(n)).String())
		formatted, err := Source("program", []byte(program))
		if err != nil {
			t.Fatalf("%v\n%s", err, program)
		}
		if a, b := comments(program), comments(string(formatted)); !slices.Equal(a, b) {
			t.Fatalf("comments %q become %q", a, b)
		}
		again, err := Source("program", formatted)
		if err != nil || !bytes.Equal(again, formatted) {
			t.Fatalf("formatted again it is, with %v:\n%s\nbefore:\n%s", err, again, formatted)
		}
		before := luaoracle.Ours(t.TempDir(), luaoracle.Program, program)
		if after := luaoracle.Ours(t.TempDir(), luaoracle.Program, string(formatted)); before != after {
			t.Fatalf("%s\nprints\n%s\nand formatted\n%s\nit prints\n%s", program, before, formatted, after)
		}
	}
}

// untidy puts other blanks, comments and, where Lua allows it, breaks between tokens. It
// begins no line with a bracket, which would be ambiguous.
func untidy(random *rand.Rand, program string) string {
	var b strings.Builder
	tokens := compile.Tokens([]byte(program))
	for i, t := range tokens {
		text := program[t.From:t.To]
		broken := i > 0 && t.Line > tokens[i-1].Line+strings.Count(program[tokens[i-1].From:tokens[i-1].To], "\n")
		switch n := random.IntN(20); {
		case broken:
			b.WriteString("\n")
		case text == "(" || i == 0:
			b.WriteString(" ")
		case n == 0:
			b.WriteString(" --[[x]] ")
		case n == 1:
			b.WriteString(" -- y \n\t")
		case n == 2:
			b.WriteString("\n    ")
		default:
			b.WriteString(strings.Repeat(" ", 1+random.IntN(2)))
		}
		b.WriteString(text)
	}
	return b.String()
}

func comments(program string) (list []string) {
	for _, t := range compile.Tokens([]byte(program)) {
		if t.Kind == compile.Comment {
			list = append(list, strings.TrimSpace(program[t.From:t.To]))
		}
	}
	return list
}

// TestEveryScriptIsFormattedOnce formats all scripts of the repository twice.
func TestEveryScriptIsFormattedOnce(t *testing.T) {
	t.Parallel()
	count := 0
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".lua" {
			return err
		}
		code, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		once, err := Source(path, code)
		if errors.Is(err, errChanged) {
			t.Errorf("%s: %v", path, err)
		} else if err != nil {
			return nil // a script with mistakes, for tests
		}
		count++
		if twice, err := Source(path, once); err != nil || !bytes.Equal(once, twice) {
			t.Errorf("%s: formatted again it is, with %v,\n%s", path, err, twice)
		}
		return nil
	})
	if err != nil || count < 50 {
		t.Error(count, err)
	}
}

// Lines end as they did.
func TestLineEnds(t *testing.T) {
	for in, want := range map[string]string{
		"x=1\r\ny = [[a\r\nb]]\r\n": "x = 1\r\ny = [[a\r\nb]]\r\n",
		"x=1\ny=2\n":                "x = 1\ny = 2\n",
		"x=1\r\ny=2\n":              "x = 1\r\ny = 2\r\n",
		"#!/bin/lua\r\nx=1\r\n":     "#!/bin/lua\r\nx = 1\r\n",
	} {
		if out, err := Source("a.lua", []byte(in)); err != nil || string(out) != want {
			t.Errorf("%q: %q %v", in, out, err)
		}
	}
}
