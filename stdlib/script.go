package stdlib

import (
	"fmt"
	"io"
	"path/filepath"

	"transect/client/fault"
	"transect/runtime/module"
	"transect/runtime/vm"
)

var scriptModule = &module.Module{
	Name: "script",
	Doc:  "The script itself: its arguments and how it ends.",
	Funcs: []module.Func{
		{
			Name: "args",
			Doc: "Declares the script's arguments and reads them from the command line, as --name value, --name=value, " +
				"--flag, or by position. Names listed without a key are positional, in that order. A declaration is a type " +
				"(string, number, integer, boolean, strings) or a table: type first, then default, doc, choices, optional, env. " +
				"Arguments without default that are not optional must be given. --help prints what was declared and ends the run.",
			Params:  []module.Param{{Name: "declared", Type: "table", Doc: "the arguments; _doc says what the script does"}},
			Returns: "a table of the values",
			Call: func(c *module.Call) (any, error) {
				spec, err := readArgSpec(c.Table("declared"))
				if err != nil {
					return nil, err
				}
				opt := c.In.Options()
				if spec.HelpAsked(opt.Args) {
					if _, err := io.WriteString(opt.Stdout, spec.Usage(opt.Script)); err != nil {
						return nil, err
					}
					vm.Stop(c.L, &vm.Exit{})
				}
				var refused error
				values, err := spec.Parse(opt.Args, func(name string) (string, bool) {
					text, ok, err := c.In.Env(name)
					if err != nil && refused == nil {
						refused = err
					}
					return text, ok
				})
				if refused != nil {
					return nil, refused
				}
				return values, err
			},
		},
		{
			Name: "exit", Doc: "Ends the run with an exit code: 0 success, 3 finished but some items failed.",
			Params: []module.Param{{Name: "code", Type: "integer", Doc: "0 to 255", Default: 0}},
			Call: func(c *module.Call) (any, error) {
				code := c.Int("code")
				if code < 0 || code > 255 {
					return nil, fault.Of(&fault.ParameterError{}, "argument code must be between 0 and 255, got %d", code)
				}
				vm.Stop(c.L, &vm.Exit{Code: code})
				return nil, nil
			},
		},
		{
			Name: "fail_items", Doc: "Ends a run that finished although some items failed: exit code 3, after a line that says how many. With 0 the script goes on.",
			Params: []module.Param{{Name: "failed", Type: "integer", Doc: "how many failed"},
				{Name: "total", Type: "integer", Doc: "of how many", Optional: true}},
			Call: func(c *module.Call) (any, error) {
				failed := c.Int("failed")
				if failed == 0 {
					if c.Has("total") {
						c.In.SetItems(vm.Items{Done: int64(c.Int("total"))})
					}
					return nil, nil
				}
				items := vm.Items{Failed: int64(failed)}
				of := ""
				if c.Has("total") {
					of = fmt.Sprintf(" of %d", c.Int("total"))
					items.Done = max(0, int64(c.Int("total")-failed))
				}
				c.In.SetItems(items)
				c.In.Options().Logger.Warn(fmt.Sprintf("finished, but %d%s items failed", failed, of))
				vm.Stop(c.L, &vm.Exit{Code: 3})
				return nil, nil
			},
		},
		{
			Name: "checkpoint", Doc: "A place between two pieces of work. A run that was told to end (SIGTERM, with --grace) ends here and not in the middle of the next piece. " +
				"task.map and the loops over a search do it by themselves, each time round.",
			Call: func(c *module.Call) (any, error) {
				vm.Checkpoint(c.L)
				return nil, nil
			},
		},
		lockFunc,
		{
			Name: "path", Doc: "The script's file, from the root.", Returns: "its path; nil at the prompt",
			Call: func(c *module.Call) (any, error) {
				path, err := scriptPath(c)
				if err != nil || path == "" {
					return nil, err
				}
				return path, nil
			},
		},
		{
			Name: "dir", Doc: "The folder of the script's file, for what lies beside it: templates, lists.", Returns: "its path; at the prompt the current folder",
			Call: func(c *module.Call) (any, error) {
				path, err := scriptPath(c)
				if err != nil || path == "" {
					path = filepath.Join(c.In.Path("."), "x")
				}
				if path, err = filepath.Abs(path); err != nil {
					return nil, err
				}
				return filepath.Dir(path), nil
			},
		},
	},
}

// scriptPath is the script's file from the root, "" when there is none.
func scriptPath(c *module.Call) (string, error) {
	name := c.In.Options().Script
	if name == "" {
		return "", nil
	}
	return filepath.Abs(c.In.Path(name))
}
