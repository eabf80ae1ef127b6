package module

import (
	"context"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/client/human"
	"transect/client/schema"
	"transect/client/suggest"
	"transect/runtime/vm"
	"transect/runtime/vm/mistake"
)

// Call is one call of a declared function with checked arguments. Arguments and options are read by name;
// missing ones read as their Default, or the zero value.
type Call struct {
	L    *lua.LState
	In   *vm.Interp
	Self any // the object, for methods
	Name string
	args map[string]lua.LValue
	rest []lua.LValue
}

// bind returns the Lua function.
func (f *Func) bind(name string, self *Type) lua.LGFunction {
	return func(L *lua.LState) int {
		c := &Call{L: L, In: vm.Of(L), Name: name}
		result, err := c.run(f, self)
		vm.Must(L, fault.In(name, err))
		switch values := result.(type) {
		case Values:
			return values.push(L)
		case []lua.LValue:
			return vm.Push(L, values...)
		}
		if result == nil && f.Returns == "" {
			return 0
		}
		return Values{result}.push(L)
	}
}

// notAsMethod refuses a function called with a colon, which would take the module as its first argument.
func (c *Call) notAsMethod(self *Type) error {
	first, ok := c.L.Get(1).(*lua.LTable)
	if !ok || self != nil {
		return nil
	}
	name, function, _ := strings.Cut(c.Name, ".")
	if loaded, ok := c.L.GetField(c.L.Get(lua.RegistryIndex), "_LOADED").(*lua.LTable); !ok ||
		loaded.RawGetString(name) != lua.LValue(first) {
		return nil
	}
	return fault.Hinted(fault.Of(&fault.ParameterError{}, "is called with a colon"), "%s", mistake.Colon(name, function))
}

// run converts Go panics to faults, except the interpreter's, by which Lua errors travel.
func (c *Call) run(f *Func, self *Type) (result any, err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *lua.ApiError:
			panic(p)
		default:
			err = vm.Internal(p)
		}
	}()
	if err := c.notAsMethod(self); err != nil {
		return nil, err
	}
	if err := c.check(f, self); err != nil {
		return nil, err
	}
	return f.Call(c)
}

// check binds the arguments to the parameters.
func (c *Call) check(f *Func, self *Type) error {
	given := vm.Args(c.L, 1)
	if self != nil {
		if len(given) == 0 || objectOf(given[0]) == nil || objectOf(given[0]).typ != self {
			return fault.Of(&fault.ParameterError{}, "called without its object, write object:%s(…)", f.Name)
		}
		c.Self, given = objectOf(given[0]).value, given[1:]
	}
	for len(given) > 0 && len(given) > len(f.Params) && given[len(given)-1] == lua.LNil {
		given = given[:len(given)-1]
	}
	c.args = make(map[string]lua.LValue, len(f.Params))
	if t := alone(given); t != nil && TakesNames(f.Params, keysOf(t)) {
		return c.bindNamed(f.Params, t, "argument")
	}
	for i := range f.Params {
		p := &f.Params[i]
		if p.Name == "..." {
			if i < len(given) {
				c.rest = given[i:]
			}
			return nil
		}
		var v lua.LValue = lua.LNil
		if i < len(given) {
			v = given[i]
		}
		if err := c.bindParam(p, v, "argument"); err != nil {
			return err
		}
	}
	if len(given) > len(f.Params) {
		return fault.Of(&fault.ParameterError{}, "takes %s, got %d", AtMost(len(f.Params)), len(given))
	}
	return nil
}

// TakesNames reports whether a table with some keys, given alone, names the arguments of a function, as operations of
// managers take them: the first parameter takes no table, and a key is the name of a parameter, or may be meant as one.
func TakesNames(params []Param, keys []string) bool {
	if len(params) == 0 || params[0].Fields != nil || params[0].Type.Kinds()&schema.Table != 0 ||
		schema.Find(params, "...") != nil {
		return false
	}
	names := schema.Names(params)
	return slices.ContainsFunc(keys, func(key string) bool {
		return slices.Contains(names, key) || suggest.Nearest(key, names) != ""
	})
}

// alone returns the only argument of a call if it is a plain table.
func alone(given []lua.LValue) *lua.LTable {
	if len(given) != 1 {
		return nil
	}
	t, _ := given[0].(*lua.LTable)
	return t
}

func keysOf(t *lua.LTable) (keys []string) {
	t.ForEach(func(k, _ lua.LValue) { keys = append(keys, k.String()) })
	return keys
}

// AtMost returns how many arguments a function takes, in words.
func AtMost(n int) string {
	if n == 0 {
		return "no arguments"
	}
	return "at most " + human.Count(n, "argument")
}

// bindParam checks one argument, or one option of a table.
func (c *Call) bindParam(p *Param, v lua.LValue, noun string) error {
	if p.Fields != nil {
		return c.bindOptions(p, v)
	}
	if v == lua.LNil {
		if p.Required() {
			return fault.Of(&fault.ParameterError{}, "%s %s", noun, p.Missing())
		}
		if p.Default != nil {
			c.args[p.Name] = vm.ToLua(c.L, p.Default)
		}
		return nil
	}
	if !Accepts(p.Type, v) {
		return fault.Of(&fault.ParameterError{}, "%s %s %w", noun, p.Name,
			&schema.Mismatch{Want: p.Type, Got: vm.TypeName(v)})
	}
	var err error
	switch v := v.(type) {
	case lua.LString:
		vm.Grow(c.L, len(v)) // it is processed, and often copied
		err = p.Choose(string(v))
	case lua.LNumber:
		if err = p.InRange(float64(v)); p.Type.Kinds()&(schema.Integer|schema.Fraction) == 0 {
			err = p.Choose(v.String())
		}
	}
	if err != nil {
		return fault.Of(&fault.ParameterError{}, "%s %s %w", noun, p.Name, err)
	}
	c.args[p.Name] = v
	return nil
}

func (c *Call) bindOptions(p *Param, v lua.LValue) error {
	t, ok := v.(*lua.LTable)
	if v != lua.LNil && !ok {
		return fault.Of(&fault.ParameterError{}, "argument %s must be a table of options, got %s", p.Name, vm.TypeName(v))
	}
	if t != nil {
		c.args[p.Name] = t
	}
	return c.bindNamed(p.Fields, t, "option")
}

// bindNamed binds the values of a table, which may be nil, to the parameters of their names.
func (c *Call) bindNamed(params []Param, t *lua.LTable, noun string) error {
	for i := range params {
		var value lua.LValue = lua.LNil
		if t != nil {
			value = t.RawGetString(params[i].Name)
		}
		if err := c.bindParam(&params[i], value, noun); err != nil {
			return err
		}
	}
	if t == nil {
		return nil
	}
	unknown := slices.DeleteFunc(keysOf(t), func(name string) bool { return schema.Find(params, name) != nil })
	if len(unknown) > 0 {
		return schema.Unknown(noun, slices.Min(unknown), params)
	}
	return nil
}

// Iterator returns the function for a for loop. next returns the values of a step, none at the end; its call
// belongs to the task that steps.
func (c *Call) Iterator(next func(c *Call) (Values, error)) lua.LValue {
	return c.L.NewFunction(func(L *lua.LState) int {
		if c.L != L {
			here := *c
			here.L = L
			c = &here
		}
		values, err := next(c)
		vm.Must(L, fault.In(c.Name, err))
		if len(values) == 0 {
			values = Values{nil}
		}
		return values.push(L)
	})
}

// Context returns the context of the running task.
func (c *Call) Context() context.Context { return vm.Context(c.L) }

// Raise raises err as the error of the call. It does not return; inside
// Blocking return the error instead.
func (c *Call) Raise(err error) { vm.Raise(c.L, fault.In(c.Name, err)) }

// Must raises err unless it is nil.
func (c *Call) Must(err error) { vm.Must(c.L, fault.In(c.Name, err)) }

// Blocking runs f without the interpreter lock.
func (c *Call) Blocking(f func(ctx context.Context) error) error {
	return vm.BlockingFor(c.L, vm.Waiting{Name: c.Name, Kind: kindOf(c.Name)}, f)
}

// kindOf returns what a function of a module waits for.
func kindOf(name string) vm.WaitKind {
	module, function, _ := strings.Cut(name, ".")
	switch {
	case function == "sleep" || module == "retry":
		return vm.ForTime
	case module == "task" || module == "channel":
		return vm.ForTasks
	case module == "ingest" || module == "lookup":
		return vm.ForPlatform
	}
	return vm.ForOther
}
