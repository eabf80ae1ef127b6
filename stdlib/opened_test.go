package stdlib_test

import (
	"context"
	"testing"

	lua "github.com/yuin/gopher-lua"

	"transect/runtime/luastd"
	"transect/runtime/module"
	"transect/runtime/vm"
	"transect/stdlib"
)

// session is an interpreter for many calls.
type session struct{ in *vm.Interp }

// failing is a test, a property or a fuzz target.
type failing interface {
	Helper()
	Fatal(args ...any)
}

// opened runs code that defines global functions.
func opened(t testing.TB, code string) session {
	t.Helper()
	in := luastd.New(context.Background(), vm.Options{Dir: t.TempDir()})
	module.Preload(in, stdlib.Modules()...)
	t.Cleanup(in.Close)
	s := session{in}
	s.run(t, code)
	return s
}

func (s session) run(t failing, code string) []lua.LValue {
	t.Helper()
	values, err := s.in.RunString("test", code)
	if err != nil {
		t.Fatal(err)
	}
	return values
}

// call calls a global function with texts of any bytes.
func (s session) call(t failing, name string, args ...string) []lua.LValue {
	t.Helper()
	code := "return " + name + "("
	for i, a := range args {
		if i > 0 {
			code += ", "
		}
		code += quoted(a)
	}
	return s.run(t, code+")")
}

// quoted is a text as Lua reads it, every byte by its number.
func quoted(text string) string {
	out := []byte{'"'}
	for i := range len(text) {
		b := text[i]
		out = append(out, '\\', '0'+b/100, '0'+b/10%10, '0'+b%10)
	}
	return string(append(out, '"'))
}
