package module

import (
	"math"
	"reflect"
	"strings"
	"time"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/client/schema"
	"transect/runtime/vm"
)

// Has reports whether an argument or option was given.
func (c *Call) Has(name string) bool { return c.args[name] != nil }

// Value returns an argument as a Lua value, nil in Lua when not given.
func (c *Call) Value(name string) lua.LValue {
	if v := c.args[name]; v != nil {
		return v
	}
	return lua.LNil
}

// String returns a text argument.
func (c *Call) String(name string) string {
	if v := c.Value(name); v != lua.LNil {
		return v.String()
	}
	return ""
}

// Number returns a number argument.
func (c *Call) Number(name string) float64 {
	n, _ := c.args[name].(lua.LNumber)
	return float64(n)
}

// Int returns an integer argument.
func (c *Call) Int(name string) int { return int(c.Number(name)) }

// Seconds returns a number argument as a duration.
func (c *Call) Seconds(name string) time.Duration {
	return time.Duration(c.Number(name) * float64(time.Second))
}

// Bool returns a boolean argument.
func (c *Call) Bool(name string) bool { return lua.LVAsBool(c.Value(name)) }

// Table returns a table argument, or nil.
func (c *Call) Table(name string) *lua.LTable {
	t, _ := c.args[name].(*lua.LTable)
	return t
}

// Function returns a function argument, or nil.
func (c *Call) Function(name string) *lua.LFunction {
	f, _ := c.args[name].(*lua.LFunction)
	return f
}

// Go returns an argument converted by FromLua, or raises an error.
func (c *Call) Go(name string) any {
	v, err := vm.FromLua(c.L, c.Value(name))
	if err != nil {
		c.Raise(fault.Of(&fault.ParameterError{}, "argument %s: %w", name, err))
	}
	return v
}

// Fill sets a struct from the options in its argument names. The options are declared by the same struct:
// schema.TableOf. It raises errors.
func (c *Call) Fill(in any) {
	params, err := schema.FromStruct(reflect.TypeOf(in).Elem())
	c.Must(err)
	values := map[string]any{}
	for i := range params {
		p := &params[i]
		if f := c.Function(p.Name); f != nil {
			values[p.Name] = f
			continue
		}
		v := c.Go(p.Name)
		if v == nil {
			continue
		}
		if values[p.Name], err = p.Check(v); err != nil {
			f := fault.Find(err)
			f.Facts().Message = "option " + f.Facts().Message
			c.Raise(f)
		}
	}
	c.Must(schema.Fill(params, in, values, nil))
}

// Object returns the Go value of an object argument, or nil.
func (c *Call) Object(name string) any {
	v, _ := ObjectValue(c.Value(name))
	return v
}

// Rest returns the arguments of a "..." parameter.
func (c *Call) Rest() []lua.LValue { return c.rest }

// Accepts reports whether v has a declared type: one of the schema's, or the name of an object type.
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

// schemaKind classifies a Lua value. A number is a string, too, as everywhere in
// Lua; object is the name of a declared object type.
func schemaKind(v lua.LValue) (kind schema.Kind, object string) {
	switch v := v.(type) {
	case *lua.LNilType:
		return schema.Nil, ""
	case lua.LString:
		return schema.Text, ""
	case lua.LBool:
		return schema.Boolean, ""
	case lua.LNumber:
		if n := float64(v); n == math.Trunc(n) && math.Abs(n) <= vm.MaxExact {
			return schema.Text | schema.Integer, ""
		}
		return schema.Text | schema.Fraction, ""
	case *lua.LTable:
		return schema.List | schema.Table | schema.EmptyTable, ""
	case *lua.LFunction:
		return schema.Function, ""
	case *lua.LUserData:
		if o := objectOf(v); o != nil {
			return schema.Other, o.typ.Name
		}
		if vm.ErrorOf(v) != nil {
			return schema.Error | schema.Other, ""
		}
		if _, ok := v.Value.(schema.Identified); ok {
			return schema.Resource | schema.Other, "userdata"
		}
		return schema.Other, "userdata"
	}
	return schema.Other, ""
}
