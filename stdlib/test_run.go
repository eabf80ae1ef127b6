package stdlib

import (
	"context"
	"path/filepath"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/runtime/module"
	"transect/runtime/vm"
)

// runFunc lets a test run the script it is about.
var runFunc = module.Func{
	Name: "run", Doc: "Runs a script as transect run would, in an interpreter of its own, on the local platform of the test.",
	Params: []module.Param{
		{Name: "script", Type: "string", Doc: "its path, from the folder of the test file"},
		{Name: "...", Type: "string|number|boolean", Doc: "its arguments", Optional: true},
	},
	Returns: "a table: code is the exit code, output what it printed, errors what it wrote to the error stream",
	Call: func(c *module.Call) (any, error) {
		run := SuiteOf(c.In).Run
		if run == nil {
			return nil, fault.Hinted(fault.Of(&fault.RuntimeError{}, "there is no test under way"),
				"call it within a test, and run the file with transect test")
		}
		script, args := c.String("script"), []string{}
		if !filepath.IsAbs(script) {
			script = filepath.Join(filepath.Dir(c.In.Options().Script), script)
		}
		for _, v := range c.Rest() {
			args = append(args, lua.LVAsString(c.L.ToStringMeta(v)))
		}
		var o Outcome
		err := vm.Blocking(c.L, func(ctx context.Context) error {
			o = run(ctx, script, args)
			return ctx.Err()
		})
		return map[string]any{"code": o.Code, "output": o.Output, "errors": o.Errors}, err
	},
}
