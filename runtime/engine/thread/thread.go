// Package thread reads the stack of values of an engine's thread, which the engine shows for the running function
// only.
package thread

import (
	"reflect"
	"unsafe"

	lua "github.com/yuin/gopher-lua"
)

// registry mirrors the first fields of the engine's stack of values.
type registry struct {
	array []lua.LValue
	top   int
}

var offset = func() uintptr {
	f, ok := reflect.TypeFor[lua.LState]().FieldByName("reg")
	if !ok || f.Type.Elem().Field(0).Type != reflect.TypeFor[[]lua.LValue]() || f.Type.Elem().Field(1).Name != "top" {
		panic("gopher-lua keeps the stack of a thread elsewhere: mend package thread")
	}
	return f.Offset
}()

// Stack returns the values of all functions that a thread is in, and how many there is room for. Some may be nil.
// It is valid until the thread runs.
func Stack(L *lua.LState) (values []lua.LValue, room int) {
	r := *(**registry)(unsafe.Add(unsafe.Pointer(L), offset))
	if r == nil {
		return nil, 0
	}
	return r.array[:r.top], cap(r.array)
}
