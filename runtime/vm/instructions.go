package vm

import (
	"unsafe" // for linkname, and the frame that is only passed on

	lua "github.com/yuin/gopher-lua"

	"transect/runtime/sandbox"
)

// instructions is gopher-lua's table of what each instruction does. It has no
// other hook: what .. builds must be measured before, and a function in its place
// would cost every concatenation a call; ... copies any number of values; and long
// texts are compared, and hashed as keys of tables, within one instruction.
//
//go:linkname instructions github.com/yuin/gopher-lua.jumpTable
var instructions [lua.OP_NOP + 1]func(L *lua.LState, inst uint32, frame unsafe.Pointer) int

// rkValue is an operand: a register or a constant.
//
//go:linkname rkValue github.com/yuin/gopher-lua.(*LState).rkValue
func rkValue(L *lua.LState, operand int) lua.LValue

// texts is the length of what two operands have in common when both are texts.
func texts(a, b lua.LValue) int {
	if a, ok := a.(lua.LString); ok && len(a) >= small {
		if b, ok := b.(lua.LString); ok {
			return min(len(a), len(b))
		}
	}
	return 0
}

// Compared counts the comparison of two values, which matters for long texts.
func Compared(L *lua.LState, a, b lua.LValue) {
	if n := texts(a, b); n >= small {
		work(L, n/perCompare)
	}
}

// Key counts what a table does with a key.
func Key(L *lua.LState, key lua.LValue) {
	if text, ok := key.(lua.LString); ok && len(text) >= small {
		work(L, len(text)/perWork)
	}
}

// work is Work for threads of any interpreter.
func work(L *lua.LState, n int) {
	if _, ours := L.Context().(*clock); ours {
		Work(L, n)
	}
}

// before counts the work of an instruction, which cost knows from its operands B
// and C.
func before(opcode int, cost func(L *lua.LState, b, c int)) {
	original := instructions[opcode]
	instructions[opcode] = func(L *lua.LState, inst uint32, frame unsafe.Pointer) int {
		cost(L, int(inst&0x1ff), int(inst>>9&0x1ff))
		return original(L, inst, frame)
	}
}

func init() {
	before(lua.OP_EQ, func(L *lua.LState, b, c int) {
		if x, ok := rkValue(L, b).(lua.LString); ok && len(x) >= small {
			if y, ok := rkValue(L, c).(lua.LString); ok && len(x) == len(y) {
				work(L, len(x)/perWork)
			}
		}
	})
	for _, opcode := range []int{lua.OP_LT, lua.OP_LE} {
		before(opcode, func(L *lua.LState, b, c int) {
			if x, ok := rkValue(L, b).(lua.LString); ok && len(x) >= small {
				Compared(L, x, rkValue(L, c))
			}
		})
	}
	before(lua.OP_GETTABLE, func(L *lua.LState, _, c int) { Key(L, rkValue(L, c)) })
	before(lua.OP_SETTABLE, func(L *lua.LState, b, _ int) { Key(L, rkValue(L, b)) })
	concat := instructions[lua.OP_CONCAT]
	instructions[lua.OP_CONCAT] = func(L *lua.LState, inst uint32, frame unsafe.Pointer) int {
		total := 0
		for i, last := int(inst&0x1ff), int(inst>>9&0x1ff); i <= last; i++ {
			if text, ok := L.Get(i + 1).(lua.LString); ok {
				total += len(text)
			}
		}
		if c, ours := L.Context().(*clock); ours && total >= small {
			if total > c.in.maxText {
				Raise(L, sandbox.TooLong("..", float64(total), c.in.maxText))
			}
			Grow(L, total)
		}
		return concat(L, inst, frame)
	}
	vararg := instructions[lua.OP_VARARG]
	instructions[lua.OP_VARARG] = func(L *lua.LState, inst uint32, frame unsafe.Pointer) int {
		end := vararg(L, inst, frame)
		if n := L.GetTop(); n >= small {
			if _, ours := L.Context().(*clock); ours {
				Work(L, n/4)
			}
		}
		return end
	}
}
