package vm

import (
	"errors"
	"fmt"
	"math"
	"sort"
	"strconv"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/client/schema"
)

var errTrailing = errors.New("text after the end of the JSON value")

// FromLua converts a Lua value: nil, bool, string, int64 (whole numbers up to
// 2^53) or float64, []any, map[string]any, schema.Empty, schema.Null. Userdata
// says itself what it is through LuaValue() any. Tables that are neither a
// list nor an object, and tables that contain themselves, are errors.
func FromLua(v lua.LValue) (any, error) {
	return fromLua(v, "", nil)
}

type outer struct {
	table *lua.LTable
	up    *outer
}

func fromLua(v lua.LValue, path string, up *outer) (any, error) {
	switch v := v.(type) {
	case nil, *lua.LNilType:
		return nil, nil
	case lua.LBool:
		return bool(v), nil
	case lua.LString:
		return string(v), nil
	case lua.LNumber:
		return goNumber(float64(v)), nil
	case *lua.LTable:
		for o := up; o != nil; o = o.up {
			if o.table == v {
				return nil, unconvertible(path, "the table contains itself")
			}
		}
		return fromTable(v, path, &outer{v, up})
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
	return nil, unconvertible(path, "a "+v.Type().String()+" has no value outside of Lua")
}

func goNumber(f float64) any {
	if f == math.Trunc(f) && math.Abs(f) <= MaxExact {
		return int64(f)
	}
	return f
}

func fromTable(t *lua.LTable, path string, up *outer) (any, error) {
	keys, texts, err := keysOf(t, path)
	if err != nil {
		return nil, err
	}
	switch {
	case keys == 0 && len(texts) == 0:
		if t.Metatable == listMeta {
			return []any{}, nil
		}
		return schema.Empty{}, nil
	case keys > 0 && len(texts) > 0:
		return nil, unconvertible(path, fmt.Sprintf("the table mixes list items with the key %q", texts[0]))
	case keys > 0:
		items := make([]any, keys)
		for i := range items {
			e := t.RawGetInt(i + 1)
			if e == lua.LNil {
				return nil, unconvertible(path, fmt.Sprintf("the list has a gap at [%d]", i+1))
			}
			if items[i], err = fromLua(e, path+"["+strconv.Itoa(i+1)+"]", up); err != nil {
				return nil, err
			}
		}
		return items, nil
	}
	object := make(map[string]any, len(texts))
	for _, k := range texts {
		if object[k], err = fromLua(t.RawGetString(k), join(path, k), up); err != nil {
			return nil, err
		}
	}
	return object, nil
}

// keysOf counts the list keys of a table and lists its text keys, sorted.
func keysOf(t *lua.LTable, path string) (list int, texts []string, err error) {
	t.ForEach(func(k, _ lua.LValue) {
		switch k := k.(type) {
		case lua.LString:
			texts = append(texts, string(k))
		case lua.LNumber:
			if f := float64(k); f < 1 || f != math.Trunc(f) {
				err = unconvertible(path, fmt.Sprintf("the key [%s] is not a list index", k))
			}
			list++
		default:
			err = unconvertible(path, "a "+k.Type().String()+" cannot be a key")
		}
	})
	sort.Strings(texts)
	return list, texts, err
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func unconvertible(path, why string) error {
	if path != "" {
		why = "at " + path + ": " + why
	}
	return fault.Of(&fault.ParameterError{}, "%s", why)
}
