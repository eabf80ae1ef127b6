package bindings

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"

	"github.com/tidwall/gjson"
	lua "github.com/yuin/gopher-lua"

	"transect/client"
	"transect/client/declare"
	"transect/client/fault"
	"transect/client/schema"
	"transect/runtime/vm"
)

func rawJSON(b []byte) json.RawMessage { return json.RawMessage(b) }

// resource is a record of the platform in Lua: its JSON, with fields decoded and cached when read.
type resource struct {
	kind   string // manager that returned it
	raw    []byte
	fields []field // fields read so far
	first  [1]field
	doubt  *string // why the search that found it may find more than intended, or nil
}

// field is a converted value. Scripts read few fields of a record, so searching a list is faster than a map.
type field struct {
	name  string
	value lua.LValue
}

// allocation combines a resource and its userdata in one allocation.
type allocation struct {
	userdata lua.LUserData
	resource resource
}

type resourceKey struct{}

// NewRecord returns the userdata of a record; nil for an empty one. kind is its manager.
func NewRecord(L *lua.LState, kind string, raw []byte) lua.LValue {
	return resourceWith(L, metaOf(L), kind, raw, nil)
}

func metaOf(L *lua.LState) *lua.LTable {
	return vm.State(vm.Of(L), resourceKey{}, func() *lua.LTable { return resourceMeta(L) })
}

func resourceWith(L *lua.LState, meta *lua.LTable, kind string, raw []byte, doubt *string) lua.LValue {
	if len(raw) == 0 {
		return lua.LNil
	}
	h := &allocation{resource: resource{kind: kind, raw: raw, doubt: doubt}}
	h.userdata = lua.LUserData{Value: &h.resource, Env: L.Env, Metatable: meta}
	return &h.userdata
}

// ResourceID returns the id, so that a resource is accepted wherever an id is.
func (r *resource) ResourceID() string {
	id := gjson.GetBytes(r.raw, "_id")
	if !id.Exists() {
		id = gjson.GetBytes(r.raw, "id")
	}
	return id.String()
}

// LuaValue returns the resource itself: in a converted table it stays whole.
func (r *resource) LuaValue() any { return r }

// MarshalJSON returns the record as the platform sent it, with its identifier as both _id and id.
func (r *resource) MarshalJSON() ([]byte, error) { return client.WithBothIDs(r.raw), nil }

// String formats the resource in one line: its kind, name and id.
func (r *resource) String() string {
	kind := declare.Singular(r.kind)
	if name := gjson.GetBytes(r.raw, "name"); name.Type == gjson.String {
		return kind + " " + name.String() + " (" + r.ResourceID() + ")"
	}
	return kind + " " + r.ResourceID()
}

func check(L *lua.LState, n int) *resource {
	if ud, ok := L.Get(n).(*lua.LUserData); ok {
		if r, ok := ud.Value.(*resource); ok {
			return r
		}
	}
	vm.Raise(L, fault.Hinted(fault.Of(&fault.ParameterError{}, "must be a resource, got %s", L.Get(n).Type()),
		"methods are called with a colon: resource:totable()"))
	return nil
}

func resourceMeta(L *lua.LState) *lua.LTable {
	methods := map[string]*lua.LFunction{
		"totable": L.NewFunction(func(L *lua.LState) int {
			return vm.Push(L, check(L, 1).table(L))
		}),
		"fields": L.NewFunction(func(L *lua.LState) int {
			return vm.Push(L, vm.ToLua(L, check(L, 1).names()))
		}),
	}
	meta := L.NewTable()
	meta.RawSetString("__metatable", lua.LString("resource"))
	meta.RawSetString("__index", L.NewFunction(func(L *lua.LState) int {
		r, name := check(L, 1), L.Get(2).String()
		v := r.field(L, name)
		if f, ok := methods[name]; ok && v == lua.LNil {
			v = f
		} else if v == lua.LNil && !gjson.GetBytes(r.raw, gjson.Escape(name)).Exists() {
			warnOfField(L, r, name)
		}
		return vm.Push(L, v)
	}))
	meta.RawSetString("__newindex", L.NewFunction(func(L *lua.LState) int {
		vm.Raise(L, fault.Hinted(fault.Of(&fault.ImmutableAttribute{}, "%s of a %s cannot be assigned", L.Get(2),
			declare.Singular(check(L, 1).kind)),
			"change it on the platform with an operation, or work on a copy: resource:totable()"))
		return 0
	}))
	meta.RawSetString("__tostring", L.NewFunction(func(L *lua.LState) int {
		return vm.Push(L, lua.LString(check(L, 1).String()))
	}))
	meta.RawSetString("__eq", L.NewFunction(func(L *lua.LState) int {
		a, b := check(L, 1), check(L, 2)
		return vm.Push(L, lua.LBool(a.kind == b.kind && a.ResourceID() == b.ResourceID() && bytes.Equal(a.raw, b.raw)))
	}))
	return meta
}

// field converts one field at its first reading. JSON null reads as nil.
func (r *resource) field(L *lua.LState, name string) lua.LValue {
	for i := range r.fields {
		if r.fields[i].name == name {
			return r.fields[i].value
		}
	}
	found := gjson.GetBytes(r.raw, gjson.Escape(name))
	if !found.Exists() {
		found = gjson.GetBytes(r.raw, r.wireName(name))
	}
	v := fromJSON(L, found)
	if t, ok := v.(*lua.LTable); ok {
		r.addNames(t, name+".")
	}
	if r.fields == nil {
		r.fields = r.first[:0]
	}
	r.fields = append(r.fields, field{name, v})
	return v
}

func fromJSON(L *lua.LState, found gjson.Result) lua.LValue {
	switch found.Type {
	case gjson.Null:
		return lua.LNil
	case gjson.String:
		return lua.LString(found.Str)
	case gjson.True, gjson.False:
		return lua.LBool(found.Type == gjson.True)
	case gjson.Number:
		return vm.ToLua(L, json.Number(found.Raw))
	}
	return vm.ToLua(L, rawJSON([]byte(found.Raw)))
}

// wireName returns the path of a field whose name on the wire differs from the documented one.
func (r *resource) wireName(name string) string {
	switch name {
	case "id":
		return "_id"
	case "_id":
		return "id"
	}
	if wire, ok := client.WireNames(r.kind)[name]; ok {
		return wire
	}
	return gjson.Escape(name)
}

// addNames adds the documented names of fields below a dotted name to a table.
func (r *resource) addNames(t *lua.LTable, at string) {
	for name, wire := range client.WireNames(r.kind) {
		own, here := strings.CutPrefix(name, at)
		sent, there := strings.CutPrefix(wire, at)
		if here && there && !strings.Contains(own+sent, ".") && t.RawGetString(own) == lua.LNil {
			if v := t.RawGetString(sent); v != lua.LNil {
				t.RawSetString(own, v)
			}
		}
	}
}

// table returns a plain copy that a script may change, with both wire names and documented names.
func (r *resource) table(L *lua.LState) lua.LValue {
	t, ok := vm.ToLua(L, rawJSON(r.raw)).(*lua.LTable)
	if !ok {
		return lua.LNil
	}
	t.RawSetString("id", lua.LString(r.ResourceID()))
	for name, wire := range client.WireNames(r.kind) {
		if found := gjson.GetBytes(r.raw, wire); found.Exists() && !strings.Contains(name, ".") &&
			t.RawGetString(name) == lua.LNil {
			t.RawSetString(name, fromJSON(L, found))
		}
	}
	t.ForEach(func(name, v lua.LValue) {
		if inner, ok := v.(*lua.LTable); ok {
			r.addNames(inner, name.String()+".")
		}
	})
	return t
}

// construct implements sdk.Resource: a record from an id and properties. Revision 3 drops properties that are
// json.null by default; only such a property opens the connection to find the revision.
func construct(L *lua.LState, open connection) int {
	properties := map[string]any{}
	drop, explicit := L.OptBool(3, false), L.Get(3) != lua.LNil
	for i := 1; i <= 2; i++ {
		v, err := vm.FromLua(L, L.Get(i))
		if err != nil {
			vm.Raise(L, fault.In("sdk.Resource", fault.Of(&fault.ParameterError{}, "%w", err)))
		}
		switch v := v.(type) {
		case nil, schema.Empty:
		case string:
			properties["_id"] = v
		case schema.Identified:
			properties["_id"] = v.ResourceID()
		case map[string]any:
			maps.Copy(properties, v)
		default:
			vm.Raise(L, fault.In("sdk.Resource",
				fault.Of(&fault.ParameterError{}, "argument %d must be an id or a table, got %s", i, schema.Describe(v))))
		}
	}
	if remove, given := properties["_Resource__remove_undefined"]; given {
		drop, explicit = remove == true, true
		delete(properties, "_Resource__remove_undefined")
	}
	id, _ := properties["_id"].(string)
	if own, _ := properties["id"].(string); id == "" {
		id = own
	}
	if id == "" {
		vm.Raise(L, fault.In("sdk.Resource",
			fault.Hinted(fault.Of(&fault.KeyError{}, "id is missing"),
				"sdk.Resource(id, { name = … }) or sdk.Resource{ id = …, name = … }")))
	}
	properties["_id"] = id
	delete(properties, "id")
	for name, v := range properties {
		if _, undefined := v.(schema.Null); !undefined {
			continue
		}
		if !explicit {
			drop, explicit = open(L).Revision() == 3, true
		}
		if drop {
			delete(properties, name)
		}
	}
	raw, err := declare.Encode(properties)
	if err != nil {
		vm.Raise(L, fault.In("sdk.Resource", fault.Of(&fault.ParameterError{}, "%w", err)))
	}
	return vm.Push(L, NewRecord(L, "resources", raw))
}

// names lists the fields the platform sent, in its order.
func (r *resource) names() []string {
	names := []string{}
	gjson.ParseBytes(r.raw).ForEach(func(key, _ gjson.Result) bool {
		names = append(names, key.String())
		return true
	})
	return names
}
