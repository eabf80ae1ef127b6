package lint

import (
	"fmt"
	"strings"
	"testing"
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
		{"local n = nil\nfunction f()\n  n = 1 1\nend\nprint(n + 1, f)\nlocal unused\n",
			"3 syntax, 6 unused-variable"},
		{"local used = 1\nlocal function f()\n  if used then\nend\nprint(nowhere)\n", "5 syntax"},
		{"local a =\nlocal b = 1\nprint(b)\n", "2 syntax"},
		{"if true then\nprint(1)\nif x the\nprint(2)\nend\n", "3 syntax"},
		{"print('\\999')\nprint(zzz)\n", "1 syntax, 2 undeclared-global"},
		{"x = [[\nprint(1)\n", "2 syntax"},
		{"print(1))\nprint(zzz)\n", "1 syntax"},
	} {
		var got []string
		for _, p := range checker.Script("test.lua", []byte(test.code)) {
			if p.Rule != AssignedGlobal {
				got = append(got, fmt.Sprintf("%d %s", p.Line, p.Rule))
			}
		}
		if list := strings.Join(got, ", "); list != test.want {
			t.Errorf("%s\ngot %s, want %s", test.code, list, test.want)
		}
	}
}
