package stdlib_test

import (
	"bytes"
	"context"
	"testing"

	"go.uber.org/goleak"

	"transect/runtime/examples"
	"transect/runtime/luastd"
	"transect/runtime/module"
	"transect/runtime/vm"
	"transect/stdlib"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// run executes code in a folder of its own and returns what it wrote.
func run(t testing.TB, opt vm.Options, code string) (stdout, stderr string, err error) {
	t.Helper()
	var out, errs bytes.Buffer
	opt.Stdout, opt.Stderr = &out, &errs
	if opt.Dir == "" {
		opt.Dir = t.TempDir()
	}
	in := luastd.New(context.Background(), opt)
	module.Preload(in, stdlib.Modules()...)
	_, err = in.RunString("test", code)
	in.Close()
	return out.String(), errs.String(), err
}

func TestEveryFunctionHasARunningExample(t *testing.T) {
	outside := exampleWorld(t)
	checked := map[string]bool{}
	check := func(name string, f module.Func) {
		checked[name] = true
		t.Run(name, func(t *testing.T) {
			example := examples.Of(stdlib.Examples)[name].Text()
			if f.Doc == "" || example == "" || f.Call == nil {
				t.Fatal("needs a doc, an example and a call")
			}
			for _, p := range f.Params {
				if p.Doc == "" && p.Fields == nil {
					t.Errorf("parameter %s needs a doc", p.Name)
				}
			}
			opt := (&workers{}).options()
			opt.Env = outside
			if _, _, err := run(t, opt, example); err != nil {
				t.Errorf("%v\n%+v", err, vm.Failure(err).Frames)
			}
		})
	}
	for _, m := range stdlib.Modules() {
		for _, f := range m.Declare().Funcs {
			check(m.Name+"."+f.Name, f)
		}
		for _, typ := range m.Types {
			for _, f := range typ.Methods {
				check(typ.Name+":"+f.Name, f)
			}
		}
	}
	for name := range examples.Of(stdlib.Examples) {
		if !checked[name] {
			t.Errorf("there is an example of %s, which is no function", name)
		}
	}
}
