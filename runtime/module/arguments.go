package module

import (
	"math"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
<<<<<<< HEAD:runtime/module/arguments.go
	"transect/runtime/vm"
=======
	"transect/client/schema"
>>>>>>> dd2525f (Describe arguments by one schema package that operations and Lua modules share):runtime/vm/arguments.go
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

// Accepts tells whether v is of a declared type: one of the schema's, or the
// name of an object type.
func Accepts(declared schema.Type, v lua.LValue) bool {
	kind, object := schemaKind(v)
	if declared.Kinds()&kind != 0 {
		return true
	}
	for rest, more := string(declared), object != ""; more; {
		var one string
		if one, rest, more = strings.Cut(rest, "|"); one == object {
			return true
		}
	}
	return false
}

<<<<<<< HEAD:runtime/module/arguments.go
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
=======
// schemaKind classifies a Lua value. A number is a string, too, as everywhere in
// Lua; object is the name of a declared object type.
func schemaKind(v lua.LValue) (kind schema.Kind, object string) {
	switch v := v.(type) {
	case *lua.LNilType:
		return schema.Nil, ""
	case lua.LString:
		return schema.String_, ""
	case lua.LBool:
		return schema.Boolean, ""
	case lua.LNumber:
		if n := float64(v); n == math.Trunc(n) && math.Abs(n) <= exact {
			return schema.String_ | schema.Integer, ""
		}
		return schema.String_ | schema.Fraction, ""
	case *lua.LTable:
		return schema.List | schema.Table | schema.EmptyOne, ""
	case *lua.LFunction:
		return schema.Function, ""
	case *lua.LUserData:
		if o := objectOf(v); o != nil {
			return schema.Other, o.typ.Name
		}
		if raisedOf(v) != nil {
			return schema.Error | schema.Other, ""
		}
		return schema.Other, "userdata"
>>>>>>> dd2525f (Describe arguments by one schema package that operations and Lua modules share):runtime/vm/arguments.go
	}
	return schema.Other, ""
}
<<<<<<< HEAD:runtime/module/arguments.go
=======

// typeName names the type of a value the way messages do.
func typeName(v lua.LValue) string {
	switch {
	case raisedOf(v) != nil:
		return "an error"
	case objectOf(v) != nil:
		return schema.Type(objectOf(v).typ.Name).Article()
	case v == Null:
		return "json.null"
	case v == lua.LNil:
		return "nil"
	}
	return article(v.Type().String())
}

func article(name string) string {
	if strings.ContainsAny(name[:1], "aeioAEIO") {
		return "an " + name
	}
	return "a " + name
}
>>>>>>> dd2525f (Describe arguments by one schema package that operations and Lua modules share):runtime/vm/arguments.go
