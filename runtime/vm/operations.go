package vm

import (
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"transect/runtime/engine/compile"
	"transect/runtime/engine/number"
	"transect/runtime/sandbox"
)

// operations are called by compiled code in place of instructions that differ
// from Lua 5.1, or have no limits.
var operations = &compile.Runtime{
	Number:    number.Parse,
	Concat:    builtin(concat),
	Modulo:    builtin(func(L *lua.LState) int { return arithmetic(L, "__mod", number.Modulo) }),
	Power:     builtin(func(L *lua.LState) int { return arithmetic(L, "__pow", number.Power) }),
	Exponent:  number.Power,
	GetGlobal: builtin(getGlobal),
	SetGlobal: builtin(setGlobal),
}

// builtins are the functions of operations.
var builtins []*lua.LFunction

func builtin(f lua.LGFunction) *lua.LFunction {
	builtins = append(builtins, &lua.LFunction{IsG: true, GFunction: f})
	return builtins[len(builtins)-1]
}

func isOperation(fn *lua.LFunction) bool { return slices.Contains(builtins, fn) }

// concat joins its arguments from the right, as a..b..c does.
func concat(L *lua.LState) int {
	last := L.GetTop()
	var few [8]string
	parts := few[:0]
	size := 0
	for i := 1; i <= last; i++ {
		part, ok := number.TextOf(L.Get(i))
		if !ok {
			return Push(L, concatValues(L, last))
		}
		size += len(part)
		parts = append(parts, part)
	}
	return Push(L, join(L, parts, size))
}

func join(L *lua.LState, parts []string, size int) lua.LValue {
	if size >= small {
		in := Of(L)
		if size > in.maxText {
			err := sandbox.TooLong("..", float64(size), in.maxText)
			RaiseAsText(L, err.Error(), err)
		}
		Grow(L, size)
	}
	if len(parts) == 2 {
		return lua.LString(parts[0] + parts[1])
	}
	return lua.LString(strings.Join(parts, ""))
}

// concatValues joins values that are not all texts.
func concatValues(L *lua.LState, last int) lua.LValue {
	right := L.Get(last)
	for i := last - 1; i > 0; i-- {
		left := L.Get(i)
		a, ok := number.TextOf(left)
		if b, both := number.TextOf(right); ok && both {
			right = join(L, []string{a, b}, len(a)+len(b))
			continue
		}
		handler := metamethod(L, left, right, "__concat")
		switch {
		case handler != lua.LNil:
			right = Call(L, handler, left, right)
		case ok:
			failOperand(L, "concatenate", "", i+1, right)
		default:
			failOperand(L, "concatenate", "", i, left)
		}
	}
	return right
}

// metamethod returns the metamethod of the first value that has one, or nil.
func metamethod(L *lua.LState, a, b lua.LValue, event string) lua.LValue {
	if m := L.GetMetaField(a, event); m != lua.LNil {
		return m
	}
	return L.GetMetaField(b, event)
}

// arithmetic computes an operation on two arguments.
func arithmetic(L *lua.LState, event string, compute func(a, b lua.LNumber) lua.LNumber) int {
	a, b := L.Get(1), L.Get(2)
	x, ok := a.(lua.LNumber)
	y, both := b.(lua.LNumber)
	if ok && both {
		return Push(L, compute(x, y))
	}
	return Push(L, arithmeticOf(L, event, compute, a, b))
}

// arithmeticOf computes an operation on operands that are not both numbers.
func arithmeticOf(L *lua.LState, event string, compute func(a, b lua.LNumber) lua.LNumber, a, b lua.LValue) lua.LValue {
	x, ok := number.Of(a)
	y, both := number.Of(b)
	if ok && both {
		return compute(x, y)
	}
	for _, v := range []lua.LValue{a, b} {
		if m := L.GetMetaField(v, event); m != lua.LNil && m != textArithmetic[event] {
			return Call(L, m, a, b)
		}
	}
	at, v := 1, a
	if ok {
		at, v = 2, b
	}
	failOperand(L, "perform arithmetic on", event, at, v)
	return nil
}

// textArithmetic are the operators of texts: a text that reads as a number is one.
// The virtual machine reads other forms of numbers than Lua.
var textArithmetic map[string]lua.LValue

func init() {
	operators := map[string]func(a, b lua.LNumber) lua.LNumber{
		"__add": func(a, b lua.LNumber) lua.LNumber { return a + b },
		"__sub": func(a, b lua.LNumber) lua.LNumber { return a - b },
		"__mul": func(a, b lua.LNumber) lua.LNumber { return a * b },
		"__div": func(a, b lua.LNumber) lua.LNumber { return a / b },
		"__unm": func(a, _ lua.LNumber) lua.LNumber { return -a },
	}
	textArithmetic = map[string]lua.LValue{}
	for event, compute := range operators {
		textArithmetic[event] = builtin(func(L *lua.LState) int {
			if event == "__unm" {
				L.SetTop(1)
				L.Push(L.Get(1))
			}
			return arithmetic(L, event, compute)
		})
	}
}

func (in *Interp) openArithmetic() {
	if meta, ok := in.main.GetMetatable(lua.LString("")).(*lua.LTable); ok {
		for event, operator := range textArithmetic {
			meta.RawSetString(event, operator)
		}
	}
}

// environment returns the environment of the calling Lua function.
func environment(L *lua.LState) *lua.LTable {
	if dbg, ok := L.GetStack(1); ok {
		if fn, err := L.GetInfo("f", dbg, lua.LNil); err == nil {
			return fn.(*lua.LFunction).Env
		}
	}
	return L.G.Global
}

func getGlobal(L *lua.LState) int {
	return Push(L, L.GetTable(environment(L), L.Get(1)))
}

func setGlobal(L *lua.LState) int {
	L.SetTable(environment(L), L.Get(1), L.Get(2))
	return 0
}
