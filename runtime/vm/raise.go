package vm

import (
	"errors"
	"reflect"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
)

// raised is the value of an error userdata: the Go error and where it arose.
type errorValue struct {
	err    error
	frames []Frame
}

// LuaValue makes an error convertible: as its text.
func (r *errorValue) LuaValue() any { return r.err.Error() }

// Raise raises err in Lua as a userdata that holds it. Errors that are no
// faults become a RuntimeError around them. It does not return.
func Raise(L *lua.LState, err error) {
	in := Of(L)
	L.Error(in.newError(err, in.frames(L)), 1)
}

// RaiseValue raises a value as it is. It does not return.
func RaiseValue(L *lua.LState, v lua.LValue) {
	if text, ok := v.(lua.LString); ok {
		Of(L).exact = text
	}
	L.Error(v, 0)
}

// last is an error that was raised as a text.
type last struct {
	message, hint string
	raised        *errorValue // what a run that ends by it fails with
}

// RaiseAsText raises a text, as the functions of Lua 5.1 do, with the position of the
// code that called. A run that ends by it fails with err. It does not return.
func RaiseAsText(L *lua.LState, text string, err error) {
	in := Of(L)
	wrapped, _ := in.newError(err, in.frames(L)).Value.(*errorValue)
	in.last = last{message: Where(L, 1) + text, raised: wrapped}
	Grow(L, len(in.last.message))
	L.Error(lua.LString(in.last.message), 0)
}

// Must raises err unless it is nil.
func Must(L *lua.LState, err error) {
	if err != nil {
		Raise(L, err)
	}
}

// ErrorOf returns the Go error of a raised value, or nil.
func ErrorOf(v lua.LValue) error {
	if r := errorValueOf(v); r != nil {
		return r.err
	}
	return nil
}

func errorValueOf(v lua.LValue) *errorValue {
	if ud, ok := v.(*lua.LUserData); ok {
		r, _ := ud.Value.(*errorValue)
		return r
	}
	return nil
}

func (in *Interp) newError(err error, frames []Frame) *lua.LUserData {
	if located, ok := errors.AsType[*ScriptError](err); ok { // a module that does not compile: its line comes first
		err, frames = located.Err, append(located.Frames, frames...)
	}
	if fault.Find(err) == nil {
		err = fault.Of(&fault.RuntimeError{}, "%w", err)
	}
	return &lua.LUserData{Value: &errorValue{err, frames}, Env: in.main.Env, Metatable: in.errors}
}

func (in *Interp) openErrors() {
	L := in.main
	in.errors = L.NewTable()
	L.SetFuncs(in.errors, map[string]lua.LGFunction{
		"__index": func(L *lua.LState) int {
			r := errorValueOf(L.Get(1))
			if r == nil {
				return 0
			}
			return Push(L, ToLua(L, errorField(r.err, L.CheckString(2))))
		},
		"__newindex": func(L *lua.LState) int {
			Raise(L, fault.Of(&fault.ImmutableAttribute{}, "errors cannot be changed"))
			return 0
		},
		"__tostring": func(L *lua.LState) int {
			return Push(L, lua.LString(errorText(L.Get(1))))
		},
		"__concat": func(L *lua.LState) int {
			return Push(L, lua.LString(errorText(L.Get(1))+errorText(L.Get(2))))
		},
		"__eq": func(L *lua.LState) int {
			return Push(L, lua.LBool(sameError(ErrorOf(L.Get(1)), ErrorOf(L.Get(2)))))
		},
	})
	in.errors.RawSetString("__metatable", lua.LString("error"))
}

func errorText(v lua.LValue) string {
	if err := ErrorOf(v); err != nil {
		return strings.ReplaceAll(err.Error(), "\n", " ")
	}
	return v.String()
}

func sameError(a, b error) bool {
	if a == nil || b == nil || !reflect.TypeOf(a).Comparable() || !reflect.TypeOf(b).Comparable() {
		return false
	}
	return a == b
}

// errorField reads one field of an error as scripts see it; nil for fields it
// does not have.
func errorField(err error, name string) any {
	f := fault.Find(err)
	if f == nil {
		return nil
	}
	facts := f.Facts()
	answer, ok := errors.AsType[*fault.ResponseError](err)
	if !ok {
		answer = &fault.ResponseError{}
	}
	switch name {
	case "name":
		return f.Name()
	case "message":
		text := err.Error()
		if facts.Operation != "" {
			text = strings.TrimPrefix(text, facts.Operation+": ")
		}
		return text
	case "operation":
		return orNil(facts.Operation)
	case "hint":
		return orNil(facts.Hint)
	case "done", "pending":
		switch {
		case facts.Done == nil && facts.Pending == nil: // no list of ids was worked on
			return nil
		case name == "done":
			return facts.Done
		}
		return facts.Pending
	case "status":
		return orNil(answer.Status)
	case "service":
		return orNil(answer.Service)
	case "code":
		return orNil(answer.Code)
	case "details":
		return answer.Details
	case "data":
		return answer.Data
	}
	return nil
}

// orNil returns nil for a zero value.
func orNil[T comparable](v T) any {
	if v == *new(T) {
		return nil
	}
	return v
}
