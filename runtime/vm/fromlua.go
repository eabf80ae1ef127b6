package vm

import (
	"errors"
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/client/schema"
	"transect/runtime/engine/table"
)

var errTrailing = errors.New("text after the end of the JSON value")

// FromLua converts a Lua value: nil, bool, string, int64 (whole numbers up to
// 2^53) or float64, []any, map[string]any, schema.Empty, schema.Null. Userdata
// converts itself with LuaValue() any. Tables that are neither a list nor an
// object, tables that contain themselves, and tables nested or repeated without
// measure are errors. Each value counts as an instruction, unless L is nil.
func FromLua(L *lua.LState, v lua.LValue) (any, error) {
	return (&converter{L: L}).value(v)
}

const (
	deepestTable = 1000    // levels of tables in one value
	maxRepeated  = 1 << 20 // values in tables that were converted before
	encodings    = 3       // copies of a text on its way out: encoded, buffered, sent
)

// converter converts one value.
type converter struct {
	L        *lua.LState
	path     []lua.LValue        // keys that lead to the value under way
	sizes    map[*lua.LTable]int // values in the tables met so far; 0 while inside
	values   int                 // converted so far
	repeated int                 // of those, in tables that were met before
}

func (c *converter) count(work int) {
	if c.L != nil {
		count(c.L, work)
	}
}

// count counts the work of a conversion, which raises in runs only.
func count(L *lua.LState, work int) {
	if clockOf(L).task != nil {
		Work(L, work)
	}
}

func (c *converter) value(v lua.LValue) (any, error) {
	c.values++
	switch v := v.(type) {
	case nil, *lua.LNilType:
		return nil, nil
	case lua.LBool:
		return bool(v), nil
	case lua.LString:
		if c.L != nil && clockOf(c.L).task != nil {
			Grow(c.L, encodings*len(v))
		}
		return string(v), nil
	case lua.LNumber:
		return goNumber(float64(v)), nil
	case *lua.LTable:
		return c.nested(v)
	case *lua.LUserData:
		value := v.Value
		if object, ok := value.(interface{ Unwrap() any }); ok {
			value = object.Unwrap()
		}
		switch u := value.(type) {
		case schema.Null:
			return u, nil
		case interface{ LuaValue() any }:
			return u.LuaValue(), nil
		}
	}
	return nil, c.unconvertible("a " + v.Type().String() + " has no value outside of Lua")
}

// nested converts a table and bounds what it may hold.
func (c *converter) nested(t *lua.LTable) (any, error) {
	size, met := c.sizes[t]
	if c.repeated += size; c.repeated > maxRepeated {
		return nil, c.unconvertible("the same tables are in it again and again, with more than a million values")
	}
	switch {
	case met && size == 0:
		return nil, c.unconvertible("the table contains itself")
	case len(c.path) >= deepestTable:
		return nil, c.unconvertible("the tables are nested deeper than " + strconv.Itoa(deepestTable) + " levels")
	}
	if c.sizes == nil {
		c.sizes = map[*lua.LTable]int{}
	}
	before := c.values
	c.sizes[t] = 0
	v, err := c.table(t)
	c.sizes[t] = c.values - before + 1
	return v, err
}

// at converts the value under a key.
func (c *converter) at(key, v lua.LValue) (any, error) {
	c.path = append(c.path, key)
	converted, err := c.value(v)
	c.path = c.path[:len(c.path)-1]
	return converted, err
}

func goNumber(f float64) any {
	if f == math.Trunc(f) && math.Abs(f) <= MaxExact {
		return int64(f)
	}
	return f
}

func (c *converter) table(t *lua.LTable) (any, error) {
	c.count(1 + t.Len()/8) // the array is gone through, gaps included
	keys, texts, err := c.keysOf(t)
	if err != nil {
		return nil, err
	}
	c.count(keys + 2*len(texts))
	switch {
	case keys == 0 && len(texts) == 0:
		if isList(t) {
			return []any{}, nil
		}
		return schema.Empty{}, nil
	case keys > 0 && len(texts) > 0:
		return nil, c.unconvertible(fmt.Sprintf("the table mixes list items with the key %q", texts[0]))
	case keys > 0:
		items := make([]any, keys)
		for i := range items {
			e := table.Element(t, i+1)
			if e == lua.LNil {
				return nil, c.unconvertible(fmt.Sprintf("the list has a gap at [%d]", i+1))
			}
			if items[i], err = c.at(lua.LNumber(i+1), e); err != nil {
				return nil, err
			}
		}
		return items, nil
	}
	object := make(map[string]any, len(texts))
	for _, k := range texts {
		if object[k], err = c.at(lua.LString(k), t.RawGetString(k)); err != nil {
			return nil, err
		}
	}
	return object, nil
}

// keysOf counts the list keys of a table and lists its text keys, sorted.
func (c *converter) keysOf(t *lua.LTable) (list int, texts []string, err error) {
	t.ForEach(func(k, _ lua.LValue) {
		switch k := k.(type) {
		case lua.LString:
			texts = append(texts, string(k))
		case lua.LNumber:
			if f := float64(k); f < 1 || f != math.Trunc(f) {
				err = c.unconvertible(fmt.Sprintf("the key [%s] is not a list index", k))
			}
			list++
		default:
			err = c.unconvertible("a " + k.Type().String() + " cannot be a key")
		}
	})
	sort.Strings(texts)
	return list, texts, err
}

// unconvertible returns an error at the current value.
func (c *converter) unconvertible(why string) error {
	var path strings.Builder
	for i, key := range c.path {
		if most := 10; len(c.path) > 2*most && i >= most && i < len(c.path)-most {
			if i == most {
				path.WriteString("…")
			}
			continue
		}
		switch key := key.(type) {
		case lua.LNumber:
			path.WriteString("[" + key.String() + "]")
		default:
			if i > 0 {
				path.WriteString(".")
			}
			path.WriteString(key.String())
		}
	}
	if path.Len() > 0 {
		why = "at " + path.String() + ": " + why
	}
	return fault.Of(&fault.ParameterError{}, "%s", why)
}
