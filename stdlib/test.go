package stdlib

import (
	"context"
	"fmt"
	"math"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/runtime/module"
	"transect/runtime/vm"
)

// Suite is what a test file declared: its cases, and what runs around each.
type Suite struct {
	Cases   []Case
	Skipped string // why the case that ran last was left out
	before  []*lua.LFunction
	after   []*lua.LFunction

	// Run runs a script on the platform of the test; nil where none is under way.
	Run func(ctx context.Context, script string, args []string) Outcome
}

// Outcome is how a script ended.
type Outcome struct {
	Code           int // as transect run would exit with
	Output, Errors string
}

// Case is one test.
type Case struct {
	Name string
	body *lua.LFunction
	row  lua.LValue // of a table of tests
}

type suiteKey struct{}

// SuiteOf gives what test files run so far declared. Only between runs.
func SuiteOf(in *vm.Interp) *Suite {
	return vm.State(in, suiteKey{}, func() *Suite { return &Suite{} })
}

// RunCase is Lua that runs a part of case number n, from 1: "before", "body",
// or "after". It is for the runner of tests.
func RunCase(part string, n int) string {
	return fmt.Sprintf(`require("test")[0](%q, %d)`, part, n)
}

var message = module.Param{Name: "message", Type: "string", Doc: "what was expected, for the report", Optional: true}

var testModule = &module.Module{
	Name: "test",
	Doc: "Tests of scripts, in files named like survey_test.lua. transect test runs each case in an interpreter of its own, " +
		"on a fresh local platform in memory.",
	Open: func(L *lua.LState, module *lua.LTable) {
		// Not by a name: it belongs to the runner of tests.
		module.RawSetInt(0, L.NewFunction(runPart))
	},
	Funcs: append([]module.Func{
		{
			Name: "case", Doc: "Declares a test. It passes when its function returns.",
			Params: []module.Param{{Name: "name", Type: "string", Doc: "what must be true"}, {Name: "body", Type: "function", Doc: "the test"}},
			Call: func(c *module.Call) (any, error) {
				return nil, declareCase(c, Case{Name: c.String("name"), body: c.Value("body").(*lua.LFunction), row: lua.LNil})
			},
		},
		{
			Name: "each", Doc: "Declares a test for each row of a table. A row's name, or its number, becomes part of the test's.",
			Params: []module.Param{
				{Name: "name", Type: "string", Doc: "what must be true"},
				{Name: "rows", Type: "table", Doc: "list of what the function is called with"},
				{Name: "body", Type: "function", Doc: "the test, called with a row"},
			},
			Call: func(c *module.Call) (any, error) {
				rows := c.Table("rows")
				for i := 1; i <= rows.Len(); i++ {
					name := fmt.Sprint(i)
					if row, ok := rows.RawGetInt(i).(*lua.LTable); ok && row.RawGetString("name") != lua.LNil {
						name = row.RawGetString("name").String()
					}
					err := declareCase(c, Case{Name: c.String("name") + "/" + name, body: c.Value("body").(*lua.LFunction), row: rows.RawGetInt(i)})
					if err != nil {
						return nil, err
					}
				}
				return nil, nil
			},
		},
		{
			Name: "before", Doc: "Registers a function to call before each test of the file.",
			Params: []module.Param{{Name: "body", Type: "function", Doc: "what to do"}},
			Call: func(c *module.Call) (any, error) {
				s := SuiteOf(c.In)
				s.before = append(s.before, c.Value("body").(*lua.LFunction))
				return nil, nil
			},
		},
		{
			Name: "after", Doc: "Registers a function to call after each test of the file, also after failures.",
			Params: []module.Param{{Name: "body", Type: "function", Doc: "what to do"}},
			Call: func(c *module.Call) (any, error) {
				s := SuiteOf(c.In)
				s.after = append(s.after, c.Value("body").(*lua.LFunction))
				return nil, nil
			},
		},
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
		runFunc,
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
	}, assertions...),
}

func declareCase(c *module.Call, one Case) error {
	s := SuiteOf(c.In)
	for _, other := range s.Cases {
		if other.Name == one.Name {
			return fault.Of(&fault.ParameterError{}, "there is a test %q already", one.Name)
		}
	}
	s.Cases = append(s.Cases, one)
	return nil
}

func runPart(L *lua.LState) int {
	s := SuiteOf(vm.Of(L))
	one := s.Cases[L.CheckInt(2)-1]
	switch L.CheckString(1) {
	case "before":
		for _, f := range s.before {
			L.Push(f)
			L.Call(0, 0)
		}
	case "after":
		for _, f := range s.after {
			L.Push(f)
			L.Call(0, 0)
		}
	case "body":
		L.Push(one.body)
		L.Push(one.row)
		L.Call(1, 0)
	}
	return 0
}

func failed(format string, args ...any) error {
	return fault.Of(&fault.AssertionError{}, "%s", strings.TrimPrefix(fmt.Sprintf(format, args...), ": "))
}

// expectation is how a test said it, before what was found.
func expectation(c *module.Call, found string) error {
	if m := c.String("message"); m != "" {
		return failed("%s: %s", m, found)
	}
	return failed("%s", found)
}

var assertions = []module.Func{
	{
		Name: "equal", Doc: "Asserts that two values are equal; tables and resources are compared by content. The report names each differing field.",
		Params: []module.Param{{Name: "got", Type: "any", Doc: "the value"}, {Name: "want", Type: "any", Doc: "what it should be"}, message},
		Call: func(c *module.Call) (any, error) {
			if d := differences(c.L, c.Value("got"), c.Value("want")); len(d) > 0 {
				return nil, expectation(c, strings.Join(d, "\n"))
			}
			return nil, nil
		},
	},
	{
		Name: "different", Doc: "Asserts that two values differ.",
		Params: []module.Param{{Name: "got", Type: "any", Doc: "the value"}, {Name: "other", Type: "any", Doc: "what it should not be"}, message},
		Call: func(c *module.Call) (any, error) {
			if len(differences(c.L, c.Value("got"), c.Value("other"))) == 0 {
				return nil, expectation(c, "both are "+show(c.L, c.Value("got")))
			}
			return nil, nil
		},
	},
	{
		Name: "truthy", Doc: "Asserts that a value is neither nil nor false.",
		Params: []module.Param{{Name: "got", Type: "any", Doc: "the value"}, message},
		Call: func(c *module.Call) (any, error) {
			if !lua.LVAsBool(c.Value("got")) {
				return nil, expectation(c, "got "+show(c.L, c.Value("got")))
			}
			return nil, nil
		},
	},
	{
		Name: "falsy", Doc: "Asserts that a value is nil or false.",
		Params: []module.Param{{Name: "got", Type: "any", Doc: "the value"}, message},
		Call: func(c *module.Call) (any, error) {
			if lua.LVAsBool(c.Value("got")) {
				return nil, expectation(c, "got "+show(c.L, c.Value("got")))
			}
			return nil, nil
		},
	},
	{
		Name: "matches", Doc: "Asserts that a text matches a Lua pattern.",
		Params: []module.Param{{Name: "got", Type: "string", Doc: "the text"}, {Name: "pattern", Type: "string", Doc: "such as ^DJI_%d+"}, message},
		Call: func(c *module.Call) (any, error) {
			values, caught := vm.Try(c.L, c.L.GetField(c.L.GetGlobal("string"), "find"), c.Value("got"), c.Value("pattern"))
			if caught != nil {
				return nil, fault.Of(&fault.ParameterError{}, "argument pattern: %s", c.L.ToStringMeta(caught.Value()))
			}
			if values[0] == lua.LNil {
				return nil, expectation(c, fmt.Sprintf("%s does not match %q", show(c.L, c.Value("got")), c.String("pattern")))
			}
			return nil, nil
		},
	},
	{
		Name: "near", Doc: "Asserts that two numbers differ by no more than a tolerance.",
		Params: []module.Param{{Name: "got", Type: "number", Doc: "the number"}, {Name: "want", Type: "number", Doc: "what it should be"},
			{Name: "tolerance", Type: "number", Doc: "the most they may differ by", Default: 1e-9}, message},
		Call: func(c *module.Call) (any, error) {
			got, want, most := c.Number("got"), c.Number("want"), c.Number("tolerance")
			if !(math.Abs(got-want) <= most) {
				return nil, expectation(c, fmt.Sprintf("got %v, want %v within %v", got, want, most))
			}
			return nil, nil
		},
	},
	{
		Name: "contains", Doc: "Asserts that a text contains a text, or a list a value.",
		Params: []module.Param{{Name: "got", Type: "string|table", Doc: "text or list"}, {Name: "item", Type: "any", Doc: "what should be in it"}, message},
		Call: func(c *module.Call) (any, error) {
			if !holds(c.L, c.Value("got"), c.Value("item")) {
				return nil, expectation(c, show(c.L, c.Value("item"))+" is not in "+show(c.L, c.Value("got")))
			}
			return nil, nil
		},
	},
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
	c.L.Push(c.L.GetGlobal("pcall"))
	c.L.Push(c.Value("body"))
	c.L.Call(1, 2)
	ok, raised := c.L.Get(-2), c.L.Get(-1)
	c.L.Pop(2)
	if lua.LVAsBool(ok) {
		return nil, failed("nothing was raised")
	}
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
