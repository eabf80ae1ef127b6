package vm

import (
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	lua "github.com/yuin/gopher-lua"

	"transect/client/schema"
)

// MaxExact is the largest magnitude below which every integer is a Lua number.
const MaxExact = 1 << 53

// Null is the sentinel scripts see as json.null, and Go as schema.Null: a field
// that is there and empty. Go's nil means no value.
var Null = &lua.LUserData{Value: schema.Null{}, Metatable: nullMeta}

var nullMeta = share(map[string]lua.LValue{"__metatable": lua.LString("null"),
	"__tostring": &lua.LFunction{IsG: true, GFunction: func(L *lua.LState) int {
		return Push(L, lua.LString("null"))
	}}})

// listMeta marks an empty table as a list, so that [] does not come back as {}.
var listMeta = share(map[string]lua.LValue{"__metatable": lua.LString("list")})

// share makes a metatable that all interpreters of the process share.
func share(fields map[string]lua.LValue) *lua.LTable {
	mt := &lua.LTable{Metatable: lua.LNil}
	for name, v := range fields {
		mt.RawSetString(name, v)
	}
	return mt
}

// isList reports whether a table is marked as a list.
func isList(t *lua.LTable) bool {
	meta, ok := t.Metatable.(*lua.LTable)
	return ok && (meta == listMeta || meta.RawGetString("__metatable") == lua.LString("list"))
}

// MarkList makes FromLua take the table for a list even while it is empty.
func MarkList(t *lua.LTable) { t.Metatable = listMeta }

// ToLua converts a Go value. A nil in a map is left out, in a list it becomes
// the Null sentinel; times become RFC 3339 text in UTC with milliseconds;
// durations become seconds; integers a Lua number cannot hold exactly become
// text, never a rounded number.
func ToLua(L *lua.LState, v any) lua.LValue {
	switch v := v.(type) {
	case nil:
		return lua.LNil
	case lua.LValue:
		return v
	case schema.Null:
		return Null
	case bool:
		return lua.LBool(v)
	case string:
		return lua.LString(v)
	case []byte:
		return lua.LString(v)
	case int:
		return integer(int64(v))
	case int64:
		return integer(v)
	case uint64:
		if v > MaxExact {
			return lua.LString(strconv.FormatUint(v, 10))
		}
		return lua.LNumber(v)
	case float64:
		return lua.LNumber(v)
	case json.Number:
		return exactNumber(string(v))
	case json.RawMessage:
		return decoded(L, v)
	case time.Time:
		return lua.LString(v.UTC().Format("2006-01-02T15:04:05.000Z07:00"))
	case time.Duration:
		return lua.LNumber(v.Seconds())
	case []any:
		return list(L, len(v), func(i int) any {
			if v[i] == nil {
				return schema.Null{} // keeps the indexes of those after it
			}
			return v[i]
		})
	case schema.Empty:
		return L.NewTable()
	case []string:
		return list(L, len(v), func(i int) any { return v[i] })
	case map[string]any:
		count(L, 2*len(v))
		t := L.CreateTable(0, len(v))
		for _, k := range schema.SortedKeys(v) {
			t.RawSetString(k, ToLua(L, v[k]))
		}
		return t
	case *object:
		count(L, 2*len(v.keys))
		t := L.CreateTable(0, len(v.keys))
		for i, k := range v.keys {
			t.RawSetString(k, ToLua(L, v.values[i]))
		}
		return t
	case error:
		return Of(L).newError(v, nil)
	}
	return reflected(L, v)
}

func list(L *lua.LState, n int, at func(int) any) lua.LValue {
	count(L, n)
	t := L.CreateTable(n, 0)
	if n == 0 {
		MarkList(t)
	}
	for i := range n {
		t.RawSetInt(i+1, ToLua(L, at(i)))
	}
	return t
}

func integer(n int64) lua.LValue {
	if n > MaxExact || n < -MaxExact {
		return lua.LString(strconv.FormatInt(n, 10))
	}
	return lua.LNumber(n)
}

// exactNumber keeps the text of an integer that would be rounded.
func exactNumber(text string) lua.LValue {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return lua.LString(text)
	}
	if math.Abs(f) >= MaxExact && !strings.ContainsAny(text, ".eE") {
		if n, err := strconv.ParseInt(text, 10, 64); err != nil || n > MaxExact || n < -MaxExact {
			return lua.LString(text)
		}
	}
	return lua.LNumber(f)
}

func decoded(L *lua.LState, raw json.RawMessage) lua.LValue {
	v, err := DecodeJSON(raw, false)
	if err != nil {
		return lua.LString(raw)
	}
	return ToLua(L, v)
}

// reflected converts what has no case of its own: named types, slices, maps
// and structs go the way of their JSON.
func reflected(L *lua.LState, v any) lua.LValue {
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return integer(r.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return ToLua(L, r.Uint())
	case reflect.Float32:
		return lua.LNumber(r.Float())
	case reflect.String:
		return lua.LString(r.String())
	case reflect.Bool:
		return lua.LBool(r.Bool())
	case reflect.Pointer, reflect.Map, reflect.Slice:
		if r.IsNil() {
			return lua.LNil
		}
	}
	data, err := json.Marshal(v)
	if err != nil {
		return Of(L).newError(err, nil)
	}
	return decoded(L, data)
}
