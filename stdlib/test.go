package stdlib

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/runtime/engine/table"
	"transect/runtime/module"
	"transect/runtime/vm"
)

// Suite holds the tests of a test file, and the hooks around each.
type Suite struct {
	Cases   []Case
	Skipped string // why the last case was skipped
	before  []*lua.LFunction
	after   []*lua.LFunction

	// Run runs a script on the platform of the test; nil outside of one.
	Run func(ctx context.Context, script string, args []string) Outcome
}

// Outcome is the result of a script.
type Outcome struct {
	Code           int // exit code of transect run
	Output, Errors string
}

// Case is one test.
type Case struct {
	Name string
	body *lua.LFunction
	row  lua.LValue // of a table of tests
}

type suiteKey struct{}

// SuiteOf returns the tests declared so far. Call it only between runs.
func SuiteOf(in *vm.Interp) *Suite {
	return vm.State(in, suiteKey{}, func() *Suite { return &Suite{} })
}

// RunCase returns Lua code that runs a part of case number n, from 1: "before", "body", or "after". It is for
// the test runner.
func RunCase(part string, n int) string {
	return fmt.Sprintf(`require("test")[0](%q, %d)`, part, n)
}

var testModule = &module.Module{
	Name: "test",
	Doc: "Tests of scripts, in files named like survey_test.lua. transect test runs each case in an interpreter of its " +
		"own, " +
		"on a fresh local platform in memory.",
	Open: func(L *lua.LState, module *lua.LTable) {
		// Without a name: it belongs to the test runner.
		module.RawSetInt(0, L.NewFunction(runPart))
	},
	Lazy: testFuncs,
}

func testFuncs() []module.Func {
	return append([]module.Func{
		{
			Name: "case", Doc: "Declares a test. It passes when its function returns.",
			Params: []module.Param{{Name: "name", Type: "string", Doc: "what must be true"},
				{Name: "body", Type: "function", Doc: "the test"}},
			Call: func(c *module.Call) (any, error) { return nil, declareCase(c, c.String("name"), lua.LNil) },
		},
		{
			Name: "each",
			Doc:  "Declares a test for each row of a table. A row's name, or its number, becomes part of the test's.",
			Params: []module.Param{
				{Name: "name", Type: "string", Doc: "what must be true"},
				{Name: "rows", Type: "table", Doc: "list of what the function is called with"},
				{Name: "body", Type: "function", Doc: "the test, called with a row"},
			},
			Call: func(c *module.Call) (any, error) {
				rows := c.Table("rows")
				for i := 1; i <= table.Length(rows); i++ {
					name, row := fmt.Sprint(i), table.Element(rows, i)
					if t, ok := row.(*lua.LTable); ok && t.RawGetString("name") != lua.LNil {
						name = t.RawGetString("name").String()
					}
					c.Must(declareCase(c, c.String("name")+"/"+name, row))
				}
				return nil, nil
			},
		},
		hookFunc("before", "Registers a function to call before each test of the file.",
			func(s *Suite) *[]*lua.LFunction { return &s.before }),
		hookFunc("after", "Registers a function to call after each test of the file, also after failures.",
			func(s *Suite) *[]*lua.LFunction { return &s.after }),
		{
			Name: "temp_dir", Doc: "Creates a folder that is removed when the test ends.", Returns: "its path",
			Call: func(c *module.Call) (any, error) {
				dir, err := c.In.TempDir("transect-test-")
				if err != nil && fault.Find(err) == nil {
					err = fault.Of(&fault.FileError{}, "cannot make a folder: %w", err)
				}
				return dir, err
			},
		},
		{
			Name: "run",
			Doc:  "Runs a script as transect run would, in a separate interpreter, on the local platform of the test.",
			Params: []module.Param{
				{Name: "script", Type: "string", Doc: "its path, from the folder of the test file"},
				{Name: "...", Type: "string|number|boolean", Doc: "its arguments", Optional: true},
			},
			Returns: "a table: code is the exit code, output what it printed, errors what it wrote to the error stream",
			Call: func(c *module.Call) (any, error) {
				run := SuiteOf(c.In).Run
				if run == nil {
					return nil, fault.Hinted(fault.Of(&fault.RuntimeError{}, "no test is running"),
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
		},
		{
			Name: "skip", Doc: "Skips the rest of the test.",
			Params: []module.Param{{Name: "reason", Type: "string", Doc: "why"}},
			Call: func(c *module.Call) (any, error) {
				SuiteOf(c.In).Skipped = c.String("reason")
				return nil, fault.Of(&fault.AssertionError{}, "skipped: %s", c.String("reason"))
			},
		},
		{
			Name: "fail", Doc: "Fails the test.",
			Params: []module.Param{{Name: "message", Type: "string", Doc: "why"}},
			Call:   func(c *module.Call) (any, error) { return nil, failed("%s", c.String("message")) },
		},
	}, assertions...)
}

func hookFunc(name, doc string, hooks func(*Suite) *[]*lua.LFunction) module.Func {
	return module.Func{
		Name: name, Doc: doc, Params: []module.Param{{Name: "body", Type: "function", Doc: "what to do"}},
		Call: func(c *module.Call) (any, error) {
			list := hooks(SuiteOf(c.In))
			*list = append(*list, c.Function("body"))
			return nil, nil
		},
	}
}

func declareCase(c *module.Call, name string, row lua.LValue) error {
	s := SuiteOf(c.In)
	if slices.ContainsFunc(s.Cases, func(other Case) bool { return other.Name == name }) {
		return fault.Of(&fault.ParameterError{}, "a test %q exists already", name)
	}
	s.Cases = append(s.Cases, Case{Name: name, body: c.Function("body"), row: row})
	return nil
}

func runPart(L *lua.LState) int {
	s := SuiteOf(vm.Of(L))
	one := s.Cases[L.CheckInt(2)-1]
	if part := L.CheckString(1); part == "body" {
		L.Push(one.body)
		L.Push(one.row)
		L.Call(1, 0)
	} else {
		for _, f := range map[string][]*lua.LFunction{"before": s.before, "after": s.after}[part] {
			L.Push(f)
			L.Call(0, 0)
		}
	}
	return 0
}

func failed(format string, args ...any) error {
	return fault.Of(&fault.AssertionError{}, format, args...)
}

// assertion declares a check. found returns what is wrong with the arguments, "" if nothing.
func assertion(name, doc string, params []module.Param, found func(c *module.Call) string) module.Func {
	return module.Func{
		Name: name, Doc: doc,
		Params: append(params,
			module.Param{Name: "message", Type: "string", Doc: "what was expected, for the report", Optional: true}),
		Call: func(c *module.Call) (any, error) {
			wrong, message := found(c), c.String("message")
			switch {
			case wrong == "":
				return nil, nil
			case message == "":
				return nil, failed("%s", wrong)
			}
			return nil, failed("%s: %s", message, wrong)
		},
	}
}

func truth(name, doc string, want bool) module.Func {
	return assertion(name, doc, []module.Param{gotAny}, func(c *module.Call) string {
		if c.Bool("got") == want {
			return ""
		}
		return "got " + show(c.L, c.Value("got"))
	})
}

var gotAny = module.Param{Name: "got", Type: "any", Doc: "the value"}

var assertions = []module.Func{
	assertion("equal",
		"Asserts that two values are equal; tables and resources are compared by content. The report names each differing "+
			"field.",
		[]module.Param{gotAny, {Name: "want", Type: "any", Doc: "what it should be"}},
		func(c *module.Call) string {
			return strings.Join(differences(c.L, c.Value("got"), c.Value("want")), "\n")
		}),
	assertion("different", "Asserts that two values differ.",
		[]module.Param{gotAny, {Name: "other", Type: "any", Doc: "what it should not be"}},
		func(c *module.Call) string {
			if len(differences(c.L, c.Value("got"), c.Value("other"))) > 0 {
				return ""
			}
			return "both are " + show(c.L, c.Value("got"))
		}),
	truth("truthy", "Asserts that a value is neither nil nor false.", true),
	truth("falsy", "Asserts that a value is nil or false.", false),
	assertion("matches", "Asserts that a string matches a Lua pattern.",
		[]module.Param{{Name: "got", Type: "string", Doc: "the text"},
			{Name: "pattern", Type: "string", Doc: "such as ^DJI_%d+"}},
		func(c *module.Call) string {
			values, caught := vm.Try(c.L, c.L.GetField(c.L.GetGlobal("string"), "find"), c.Value("got"), c.Value("pattern"))
			if caught != nil {
				c.Raise(fault.Of(&fault.ParameterError{}, "argument pattern: %s", c.L.ToStringMeta(caught.Value)))
			}
			if values[0] != lua.LNil {
				return ""
			}
			return fmt.Sprintf("%s does not match %q", show(c.L, c.Value("got")), c.String("pattern"))
		}),
	assertion("near", "Asserts that two numbers differ by no more than a tolerance.",
		[]module.Param{{Name: "got", Type: "number", Doc: "the number"},
			{Name: "want", Type: "number", Doc: "what it should be"},
			{Name: "tolerance", Type: "number", Doc: "the most they may differ by", Default: 1e-9}},
		func(c *module.Call) string {
			got, want, most := c.Number("got"), c.Number("want"), c.Number("tolerance")
			if math.Abs(got-want) <= most {
				return ""
			}
			return fmt.Sprintf("got %v, want %v within %v", got, want, most)
		}),
	assertion("contains", "Asserts that a string contains a string, or a list a value.",
		[]module.Param{{Name: "got", Type: "string|table", Doc: "text or list"},
			{Name: "item", Type: "any", Doc: "what should be in it"}},
		func(c *module.Call) string {
			if holds(c.L, c.Value("got"), c.Value("item")) {
				return ""
			}
			return show(c.L, c.Value("item")) + " is not in " + show(c.L, c.Value("got"))
		}),
	{
		Name: "raises", Doc: "Asserts that a function raises an error with a given name or with a given text in its message.",
		Params: []module.Param{{Name: "body", Type: "function", Doc: "what should fail"},
			{Name: "expected", Type: "string", Doc: "name of the error, or part of its message", Optional: true}},
		Returns: "the error",
		Call:    raises,
	},
}

func raises(c *module.Call) (any, error) {
	want := c.String("expected")
	_, caught := vm.Try(c.L, c.Value("body"))
	if caught == nil {
		return nil, failed("nothing was raised")
	}
	raised := caught.Value
	text := c.L.ToStringMeta(raised).String()
	if f := fault.Find(vm.ErrorOf(raised)); f != nil && f.Name() == want {
		return raised, nil
	}
	if !strings.Contains(text, want) {
		return nil, failed("raised %q, not %q", text, want)
	}
	return raised, nil
}

func holds(L *lua.LState, in, item lua.LValue) bool {
	if text, ok := in.(lua.LString); ok {
		return strings.Contains(string(text), item.String())
	}
	found := false
	if list, ok := in.(*lua.LTable); ok {
		list.ForEach(func(_, v lua.LValue) { found = found || len(differences(L, v, item)) == 0 })
	}
	return found
}
