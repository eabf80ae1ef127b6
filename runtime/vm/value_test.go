package vm_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	glua "github.com/yuin/gopher-lua"
	"pgregory.net/rapid"

	"transect/client/fault"
	"transect/client/schema"
	"transect/runtime/module"
	"transect/runtime/vm"
)

// jsonValue draws what JSON can say and Lua can hold: no nulls in objects.
func jsonValue(depth int) *rapid.Generator[any] {
	text := rapid.Map(rapid.String(), func(s string) any { return strings.ToValidUTF8(s, "?") })
	integer := rapid.Map(rapid.Int64Range(-1<<53, 1<<53), func(n int64) any { return n })
	flag := rapid.Map(rapid.Bool(), func(b bool) any { return b })
	fraction := rapid.Map(rapid.Float64Range(-1e6, 1e6), func(f float64) any { return f + 0.5 })
	scalars := []*rapid.Generator[any]{text, integer, flag, fraction}
	if depth == 0 {
		return rapid.OneOf(scalars...)
	}
	inner := rapid.Deferred(func() *rapid.Generator[any] { return jsonValue(depth - 1) })
	list := rapid.Map(rapid.SliceOfN(rapid.OneOf(inner, rapid.Just[any](schema.Null{})), 0, 5), func(l []any) any { return l })
	object := rapid.Map(rapid.MapOfN(rapid.StringMatching(`[a-z0-9 ]{1,6}`), inner, 1, 5), func(m map[string]any) any { return m })
	return rapid.OneOf(append(scalars, list, object)...)
}

func TestJSONSurvivesLua(t *testing.T) {
	in := interp(t, vm.Options{})
	module.Preload(in, &module.Module{Name: "trip", Funcs: []module.Func{{Name: "go", Call: func(c *module.Call) (any, error) {
		rapid.Check(t, func(t *rapid.T) {
			want, err := json.Marshal(jsonValue(3).Draw(t, "value"))
			if err != nil {
				t.Fatal(err)
			}
			decoded, err := vm.DecodeJSON(want, false)
			if err != nil {
				t.Fatal(err)
			}
			back, err := vm.FromLua(c.L, vm.ToLua(c.L, decoded))
			if err != nil {
				t.Fatalf("%s: %v", want, err)
			}
			got, err := json.Marshal(back)
			if err != nil {
				t.Fatal(err)
			}
			var a, b any
			if json.Unmarshal(want, &a) != nil || json.Unmarshal(got, &b) != nil || !reflect.DeepEqual(a, b) {
				t.Fatalf("%s came back as %s", want, got)
			}
		})
		return nil, nil
	}}}})
	if _, err := in.RunString("test", `require("trip").go()`); err != nil {
		t.Fatal(err)
	}
}

// Keys keep the order of the text, those of a Go map are sorted.
func TestOrderOfKeys(t *testing.T) {
	in := interp(t, vm.Options{})
	module.Preload(in, &module.Module{Name: "order", Funcs: []module.Func{
		{Name: "text", Call: func(*module.Call) (any, error) {
			return vm.DecodeJSON([]byte(`{"z": 1, "b" : {"y":true,"a\u0062":null,"x":"\ud800\n"},"a":[ -1.5e3 ,null,"",{}, []],"z":2}`), true)
		}},
		{Name: "map", Call: func(*module.Call) (any, error) {
			m := map[string]any{}
			for _, key := range strings.Split("qwertyuiopasdf", "") {
				m[key] = key
			}
			return m, nil
		}},
	}})
	values, err := in.RunString("test", `
		local order = require("order")
		local function keys(t) local all = "" for k, v in pairs(t) do all = all .. k .. (type(v) == "table" and "{" .. keys(v) .. "}" or "") end return all end
		local t = order.text()
		return keys(t) .. " " .. keys(order.map()) .. " " .. t.z .. t.a[1] .. tostring(t.a[2]) .. #t.b.x`)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := values[0].String(), "zb{yabx}a{1234{}5{}} adefiopqrstuwy 2-1500null4"; got != want {
		t.Errorf("%s, not %s", got, want)
	}
	for text, want := range map[string]string{`{"a":1} x`: "text after the end", `{"a":`: "unexpected EOF", "": "unexpected EOF", `{"a" 1}`: "invalid character"} {
		if _, err := vm.DecodeJSON([]byte(text), false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestFromLuaRefusesWhatHasNoMeaning(t *testing.T) {
	for code, want := range map[string]string{
		`return {1, 2, name = "x"}`:                           `the table mixes list items with the key "name"`,
		`return {a = {1, nil, 3}}`:                            "at a: the list has a gap at [2]",
		`return {[0] = 1}`:                                    "the key [0] is not a list index",
		`return {[1.5] = 1}`:                                  "the key [1.5] is not a list index",
		`return {[true] = 1}`:                                 "a boolean cannot be a key",
		`local t = {}; t.a = {t}; return t`:                   "at a[1]: the table contains itself",
		`return {f = {print}}`:                                "at f[1]: a function has no value outside of Lua",
		`return coroutine.create(function() end)`:             "a thread has no value outside of Lua",
		`local t = {1, 2, 3, 4, 5}; t[2] = nil; return {q=t}`: "at q: the list has a gap at [2]",
	} {
		values, err := interp(t, vm.Options{}).RunString("test", code)
		if err != nil {
			t.Fatal(err)
		}
		_, err = vm.FromLua(nil, values[0])
		var p *fault.ParameterError
		if !errors.As(err, &p) || err.Error() != want {
			t.Errorf("%s: got %v, want %s", code, err, want)
		}
	}
}

func TestBigIntegersStayExact(t *testing.T) {
	in := interp(t, vm.Options{})
	module.Preload(in, &module.Module{Name: "big", Fields: []module.Field{
		{Name: "number", Value: json.Number("9007199254740993")},
		{Name: "raw", Value: json.RawMessage(`{"id": -123456789012345678901, "ok": 9007199254740992}`)},
		{Name: "int", Value: int64(1<<62 + 1)},
		{Name: "uint", Value: uint64(1<<63 + 1)},
	}})
	values, err := in.RunString("test", `local b = require("big")
		return b.number, b.raw.id, b.raw.ok, b.int, b.uint`)
	if err != nil {
		t.Fatal(err)
	}
	want := []glua.LValue{glua.LString("9007199254740993"), glua.LString("-123456789012345678901"), glua.LNumber(1 << 53),
		glua.LString("4611686018427387905"), glua.LString("9223372036854775809")}
	if !reflect.DeepEqual(values, want) {
		t.Errorf("got %v, want %v", values, want)
	}
}
