package lint

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"transect/runtime/engine/compile"
)

// TestSeveralSyntaxErrors tells each error of a script, and nothing that is wrong only
// because another statement could not be read.
func TestSeveralSyntaxErrors(t *testing.T) {
	t.Parallel()
	checker := New()
	for _, test := range []struct {
		code string
		want string // lines and rules
	}{
		{"x = = 1\nlocal a = 2\nprint(a)\ny = = 2\n", "1 syntax, 4 syntax"},
		{"local json = require('json')\nlocal a = 1\nif a the\n  print(1)\nend\njson.decod('')\nprint(b c)\n",
			"3 syntax, 6 unknown-function, 7 syntax"},
		{"local n = nil\nfunction f()\n  n = 1 1\nend\nprint(n + 1, f)\nif 1 then end\n",
			"3 syntax, 6 same-always"},
		{"local used = 1\nlocal function f()\n  if used then\nend\nprint(nowhere)\n", "5 syntax"},
		{"local a =\nlocal b = 1\nprint(b)\n", "2 syntax"},
		{"if true then\nprint(1)\nif x the\nprint(2)\nend\n", "3 syntax"},
		{"print('\\999')\nfor _ in 1 do end\n", "1 syntax, 2 no-iterator"},
		{"x = [[\nprint(1)\n", "2 syntax"},
		{"print(1))\nprint(zzz)\n", "1 syntax"},
		{"local json = require('json')\nfor i = 1, 2 do\n  json.decod(i)\n  print(json.\nend\n", "3 unknown-function, 5 syntax"},
		{"local json = require('json')\nlocal function f()\n  local a = = 1\n  print(a, json.decod(b))\nend\nf()\n",
			"3 syntax, 4 unknown-function"},
		{"local json = require('json')\njson.encode(1, {\n  indent 2,\n})\n", "3 syntax"},
		{"while true do\n  if x then break y end\nend\nprint(1)\n", "2 syntax"},
		{"local function f()\n  local a = = 1\n  print(a)\n  local b = = 2\n  return b c\nend\nf()\n", "2 syntax, 4 syntax, 5 syntax"},
		{"while true do\n  x = = 2\n  y = 3 3\n  if a the\n    z()\n  else\n    z(1 2)\n  end\nend\nprint(1 2)\n",
			"2 syntax, 3 syntax, 4 syntax, 7 syntax, 10 syntax"},
		{"for i = 1 10 do\n  if i > then\n    print(i i)\n  end\nend\n", "1 syntax, 2 syntax, 3 syntax"},
		{"local function f(a b)\n  local json = require('json')\n  print(json.decod('') a)\n  return json.decod(b)\nend\nf()\n", "1 syntax, 3 syntax"},
		{"local function x() end\nlocal function f()\n  local = 1\n  for _ in pairs(x) do end\nend\nf()\n", "3 syntax"},
		{"function f()\n  local a = = 1 +\n    2\n  local b = = 2\nend\n", "2 syntax"},
		{"function f()\n  local a = = [[\n  x = = 1\n  ]]\n  b = 1\nend\n", "2 syntax"},
		{"function f()\n  if a b and\n    c then\n    g(\"x\")\n  end\nend\n", "2 syntax"},
	} {
		if list := rules(checker.Script("test.lua", []byte(test.code))); list != test.want {
			t.Errorf("%s\ngot %s, want %s", test.code, list, test.want)
		}
	}
}

func rules(problems []Problem) string {
	var list []string
	for _, p := range problems {
		list = append(list, fmt.Sprintf("%d %s", p.Line, p.Rule))
	}
	return strings.Join(list, ", ")
}

// TestOneErrorMakesNoOthers damages one token of scripts without problems: where that is a
// syntax error, nothing else is told.
// The same holds within a function around the whole script.
func TestOneErrorMakesNoOthers(t *testing.T) {
	t.Parallel()
	t.Run("script", func(t *testing.T) { t.Parallel(); oneErrorMakesNoOthers(t, false) })
	t.Run("function", func(t *testing.T) { t.Parallel(); oneErrorMakesNoOthers(t, true) })
}

func oneErrorMakesNoOthers(t *testing.T, inFunction bool) {
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	paths, err := filepath.Glob("../../scripts/*/*.lua")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	checker := New()
	checker.Local = func(_, module string) string {
		if checker.env.has(module) {
			return ""
		}
		return module + ".lua"
	}
	wrong := 0
	for range 1000 {
		path := paths[random.IntN(len(paths))]
		code, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if inFunction {
			code = slices.Concat([]byte("local function all(...)\n  "), bytes.ReplaceAll(code, []byte("\n"), []byte("\n  ")), []byte("\nend\nall()\n"))
		}
		tokens := compile.Tokens(code)
		at := tokens[random.IntN(len(tokens))]
		with := []string{"", "end", "(", ")", "}", "{", "=", "if", "then", "x y", "[[", "'", "--[[", "function", "return", ","}
		damaged := slices.Concat(code[:at.From], []byte(with[random.IntN(len(with))]), code[at.To:])
		problems := checker.Script(path, damaged)
		if !slices.ContainsFunc(problems, func(p Problem) bool { return p.Rule == Syntax }) {
			continue
		}
		if wrong++; len(problems) > 1 {
			t.Errorf("seed %d: %s:%d: %q: %v", seed, path, at.Line, damaged[max(0, at.From-40):min(len(damaged), at.From+40)], problems)
		}
	}
	t.Logf("%d syntax errors", wrong)
}
