package module

import (
	"math"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/runtime/vm"
)

// Has says whether an argument or option was given.
func (c *Call) Has(name string) bool { return c.args[name] != nil }

// Value is an argument as Lua has it, nil in Lua when not given.
func (c *Call) Value(name string) lua.LValue {
	if v := c.args[name]; v != nil {
		return v
	}
	return lua.LNil
}

// String is a text argument.
func (c *Call) String(name string) string {
	if v := c.Value(name); v != lua.LNil {
		return v.String()
	}
	return ""
}

// Number is a number argument.
func (c *Call) Number(name string) float64 {
	n, _ := c.args[name].(lua.LNumber)
	return float64(n)
}

// Int is an integer argument.
func (c *Call) Int(name string) int { return int(c.Number(name)) }

// Bool is a boolean argument.
func (c *Call) Bool(name string) bool { return lua.LVAsBool(c.Value(name)) }

// Table is a table argument, or nil.
func (c *Call) Table(name string) *lua.LTable {
	t, _ := c.args[name].(*lua.LTable)
	return t
}

// Function is a function argument, or nil.
func (c *Call) Function(name string) *lua.LFunction {
	f, _ := c.args[name].(*lua.LFunction)
	return f
}

// Go is an argument converted by FromLua.
func (c *Call) Go(name string) (any, error) {
	v, err := vm.FromLua(c.Value(name))
	if err != nil {
		return nil, fault.Of(&fault.ParameterError{}, "argument %s: %w", name, err)
	}
	return v, nil
}

// Object is the Go value of an object argument, or nil.
func (c *Call) Object(name string) any {
	v, _ := ObjectValue(c.Value(name))
	return v
}

// Rest is what a "..." parameter took.
func (c *Call) Rest() []lua.LValue { return c.rest }

// Accepts says whether v is of a declared type.
func Accepts(declared string, v lua.LValue) bool {
	for _, t := range strings.Split(declared, "|") {
		if acceptsOne(t, v) {
			return true
		}
	}
	return false
}

func acceptsOne(declared string, v lua.LValue) bool {
	switch declared {
	case "any":
		return true
	case "string":
		return v.Type() == lua.LTString || v.Type() == lua.LTNumber
	case "integer":
		n, ok := v.(lua.LNumber)
		return ok && float64(n) == math.Trunc(float64(n)) && math.Abs(float64(n)) <= vm.MaxExact
	case "table":
		return v.Type() == lua.LTTable
	case "error":
		return vm.ErrorOf(v) != nil
	case "number", "boolean", "function", "userdata", "nil":
		return v.Type().String() == declared
	}
	o := objectOf(v)
	return o != nil && o.typ.Name == declared
}
