package repl

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"transect/runtime/lint"
	"transect/runtime/luastd"
	"transect/runtime/vm"
)

// A saved session is a script that gives what the session gave.
func TestScriptOfSession(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		inputs []string
		from   string // the file all came from
		out    string
	}{
		{inputs: []string{"1 + 1"}, out: "2\n"},
		{inputs: []string{"local x = 20", "x * 2", "_ + 2", "_ .. '!'"}, out: "42!\n"},
		{inputs: []string{"return 5"}, out: "5\n"},
		{inputs: []string{"return"}, out: ""},
		{inputs: []string{"return 1, 2;", "3"}, out: "1\t2\n3\n"},
		{inputs: []string{"print('a') return 'return'", "_"}, out: "a\nreturn\n"},
		{inputs: []string{"local function f() return 'return 1' end return f() .. '!'"}, out: "return 1!\n"},
		{inputs: []string{"x = 1", "if x then return 7 end", "x"}, out: "1\n"},
		{inputs: []string{"do return end", "2"}, out: "2\n"},
		{inputs: []string{"x = print", "(x or print)('called')"}, out: "called\n\n"},
		{inputs: []string{"'a' -- note", "#_"}, out: "1\n"},
		{inputs: []string{"{ 1 } -- note"}, out: "table\n"},
		{inputs: []string{"local x = 1\n-- return 3\nprint(x)\nreturn x + 41 -- the answer\n", "_"}, from: "a.lua", out: "1\n42\n"},
	} {
		var list []input
		for _, text := range test.inputs {
			list = append(list, input{text: text, from: test.from})
		}
		code := script(list)
		var out bytes.Buffer
		in := luastd.New(context.Background(), vm.Options{Stdout: &out, Stderr: io.Discard})
		_, err := in.RunString("saved", code)
		in.Close()
		got := out.String()
		if strings.HasPrefix(got, "table: ") {
			got = "table\n"
		}
		if err != nil || got != test.out {
			t.Errorf("%q: it printed %q, error %v; the script is\n%s", test.inputs, got, err, code)
		}
	}
}

// What is declared at the prompt is one variable for all inputs, also in a script.
func TestScriptDeclares(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		inputs []string
		out    string
		first  string // line of the script
	}{
		{[]string{"local n = 1", "function f() return n end", "local n = 2", "print(f())"}, "2\n", "local f"},
		{[]string{"function f() return n end", "local n = 5", "print(f())"}, "5\n", "local n, f"},
		{[]string{"local a = 1", "local b, a = 2, 3", "local function f() return a + b end", "local a", "a = 4", "print(f())"}, "6\n",
			"local b"},
		{[]string{"local x = 1 local x", "print(x)"}, "nil\n", "local x = 1 x = nil"},
		{[]string{"for i = 1, 2 do local x = i print(x) end", "local x = 3", "x"}, "1\n2\n3\n", "local x"},
		{[]string{"unused = 7", "local never = 8", "undefined", "'[[' -- local z"}, "nil\n[[\n", "local unused -- check: ignore"},
		{[]string{"local s = 'local a'", "s, s:len()"}, "local a\t7\n", `local s = "local a"`},
	} {
		var list []input
		for _, text := range test.inputs {
			list = append(list, input{text: text})
		}
		code := script(list)
		var out bytes.Buffer
		in := luastd.New(context.Background(), vm.Options{Stdout: &out, Stderr: io.Discard})
		_, err := in.RunString("saved", code)
		in.Close()
		first, _, _ := strings.Cut(code, "\n")
		if problems := lint.New().Script("", []byte(code)); err != nil || out.String() != test.out || len(problems) > 0 ||
			first != test.first {
			t.Errorf("%q: it printed %q, error %v, problems %v; the script is\n%s", test.inputs, out.String(), err, problems, code)
		}
	}
}
