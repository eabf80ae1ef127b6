package bindings

import (
	lua "github.com/yuin/gopher-lua"
)

// The prompt shows and completes what scripts hold. It reads the values from
// outside, without Lua and without a request.

// nameKey is the key for the name in the metatable of sdk and of managers.
const nameKey = "__name"

// iterates is kept with an iterator: the operation it came from.
type iterates string

// Record is a read-only view of a resource.
type Record struct {
	Manager string
	JSON    []byte
	Fields  []string // the keys the platform sent, in its order
	Text    string   // kind, name and id in one line
}

// RecordOf reads a resource; ok reports whether v is one.
func RecordOf(v lua.LValue) (Record, bool) {
	ud, ok := v.(*lua.LUserData)
	if !ok {
		return Record{}, false
	}
	r, ok := ud.Value.(*resource)
	if !ok {
		return Record{}, false
	}
	return Record{Manager: r.kind, JSON: r.raw, Fields: r.names(), Text: r.String()}, true
}

// IteratorOf returns the operation that an iterator came from, or "".
func IteratorOf(v lua.LValue) string {
	if f, ok := v.(*lua.LFunction); ok && f.IsG && len(f.Upvalues) == 1 {
		if ud, ok := f.Upvalues[0].Value().(*lua.LUserData); ok {
			name, _ := ud.Value.(iterates)
			return string(name)
		}
	}
	return ""
}

// ManagerOf returns the manager that a table represents, "sdk" for a connection, or "".
func ManagerOf(v lua.LValue) string {
	t, ok := v.(*lua.LTable)
	if !ok {
		return ""
	}
	meta, ok := t.Metatable.(*lua.LTable)
	if !ok {
		return ""
	}
	name, _ := meta.RawGetString(nameKey).(lua.LString)
	return string(name)
}
