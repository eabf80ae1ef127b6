package vm

import (
	"fmt"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/client/suggest"
	"transect/runtime/engine/compile"
)

// Doubt warns, once per place in the script, that a value is probably not the intended one. With Options.Strict it
// raises.
func Doubt(L *lua.LState, hint, format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	if Of(L).opt.Strict {
		Raise(L, fault.Hinted(fault.Of(&fault.RuntimeError{}, "%s", message), "%s", hint))
	}
	warn(L, message, hint)
}

func warn(L *lua.LState, message, hint string) {
	in, at := Of(L), Where(L, 1)
	if key := at + message; !in.doubted[key] && len(in.doubted) < maxDoubts {
		in.doubted[key] = true
		if hint != "" {
			message += " (" + hint + ")"
		}
		in.opt.Logger.Warn(at + message)
	}
}

// maxDoubts limits the warnings of a run.
const maxDoubts = 1000

// reading returns the instruction that reads a field through the running function, such as an __index, and its
// operands.
func reading(L *lua.LState) (p place, at compile.Operands, ok bool) {
	if p, ok = placeAt(L, 1); !ok || p.fn.IsG {
		return p, at, false
	}
	at = compile.At(p.fn.Proto, p.pc)
	return p, at, at.Op == lua.OP_GETTABLE || at.Op == lua.OP_GETTABLEKS
}

// isTested reports whether what an instruction reads is tested at once, as by "if not
// t[1]" or "if t[1] == nil": then the script expects nil.
func isTested(p place, at compile.Operands) bool {
	for pc := p.pc + 1; pc < len(p.fn.Proto.Code); pc++ {
		switch next := compile.At(p.fn.Proto, pc); next.Op {
		case lua.OP_LOADNIL, lua.OP_LOADBOOL, lua.OP_LOADK: // what it is compared with
			continue
		case lua.OP_RETURN: // left to the caller
			return next.A == at.A
		case lua.OP_NOT:
			return next.B == at.A
		case lua.OP_TEST:
			return next.A == at.A
		case lua.OP_TESTSET:
			return next.B == at.A
		case lua.OP_EQ:
			return next.B == at.A && p.mayBeNil(next.C) || next.C == at.A && p.mayBeNil(next.B)
		}
		break
	}
	return false
}

// Tested reports whether the script tests at once what the running function reads for it, as by "if not record.x".
// It is true as well if the function does not run for an instruction of the script.
func Tested(L *lua.LState) bool {
	p, at, ok := reading(L)
	return !ok || isTested(p, at)
}

// mayBeNil reports whether an operand is nil, or not a constant.
func (p place) mayBeNil(operand int) bool {
	v, constant := compile.Constant(p.fn.Proto, operand)
	return !constant || v == lua.LNil
}

// DoubtText warns of reading a field from a text: often it is an id that was taken for its record.
func DoubtText(L *lua.LState, library *lua.LTable) {
	meta := L.NewTable()
	meta.RawSetString("__index", L.NewFunction(func(L *lua.LState) int {
		p, at, ok := reading(L)
		if !ok || isTested(p, at) {
			return 0
		}
		text, isText := p.register(L, at.B).(lua.LString)
		key := L.Get(2).String()
		if !isText {
			return 0 // a function of the string library
		}
		name := compile.Name(p.fn.Proto, p.pc, at.B)
		if name == "" || strings.Contains(name, "?") {
			name = "the value"
		}
		if !isID(string(text)) {
			Doubt(L, "", "%s is a text, which has no field %s", name, key)
			return 0
		}
		Doubt(L, Of(L).recordOf(name, key), "%s is an id, which has no field %s", name, key)
		return 0
	}))
	library.Metatable = meta
}

// recordOf returns the hint where an id is read like its record.
func (in *Interp) recordOf(name, key string) string {
	word := name
	if _, quoted, ok := strings.Cut(name, "'"); ok {
		word = strings.TrimSuffix(strings.TrimSuffix(quoted, "'"), "_id")
	}
	for _, manager := range []string{word + "s", strings.TrimSuffix(word, "y") + "ies"} {
		if in.loaders[manager] != nil {
			return "sdk." + manager + ".describe(" + word + ")." + key + " asks for the record"
		}
	}
	return "describe of its manager returns the record"
}

// isID reports whether a text looks like an id of the platform.
func isID(text string) bool {
	return len(text) == 24 && strings.Trim(text, "0123456789abcdef") == ""
}

// Declared warns of reading fields that a result does not have. what names the result; names lists its fields, and is
// called once.
func Declared(L *lua.LState, t *lua.LTable, what string, names func() []string) {
	in := Of(L)
	meta := in.results[what]
	if meta == nil {
		fields := names()
		meta = L.NewTable()
		meta.RawSetString("__index", L.NewFunction(func(L *lua.LState) int {
			if p, at, ok := reading(L); ok && isTested(p, at) {
				return 0
			}
			DoubtField(L, what, L.Get(2), fields)
			return 0
		}))
		in.results[what] = meta
	}
	t.Metatable = meta
}

// DoubtLoop warns of a loop over a result that is not a list.
func DoubtLoop(L *lua.LState, t *lua.LTable) {
	if meta, ok := t.Metatable.(*lua.LTable); ok && len(Of(L).results) > 0 {
		for what, m := range Of(L).results {
			if m == meta && !isList(t) {
				DoubtField(L, what, lua.LNumber(1), keysOf(t))
			}
		}
	}
}

func keysOf(t *lua.LTable) (keys []string) {
	t.ForEach(func(k, _ lua.LValue) { keys = append(keys, k.String()) })
	slices.Sort(keys)
	return keys
}

// DoubtField warns of a field that a result does not have.
func DoubtField(L *lua.LState, what string, key lua.LValue, fields []string) {
	name := key.String()
	if slices.Contains(fields, name) {
		return // a declared field that was not sent
	}
	if key.Type() == lua.LTNumber {
		name = "[" + name + "]"
	}
	Doubt(L, "it has "+strings.Join(fields, ", "), "%s has no %s%s", what, name, suggest.Suffix(name, fields))
}

// NothingFound marks a list as the empty result of a search: reading its first element warns.
func NothingFound(L *lua.LState, t *lua.LTable, search string) {
	in := Of(L)
	meta := in.results["none of "+search]
	if meta == nil {
		meta = L.NewTable()
		meta.RawSetString("__metatable", lua.LString("list"))
		meta.RawSetString("__index", L.NewFunction(func(L *lua.LState) int {
			p, at, ok := reading(L)
			if L.Get(2) == lua.LNumber(1) && ok && !isTested(p, at) {
				warn(L, search+" found nothing, so that [1] is nil", "") // a warning even if Strict
			}
			return 0
		}))
		in.results["none of "+search] = meta
	}
	t.Metatable = meta
}
