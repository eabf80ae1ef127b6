package vm

import (
	"unsafe" // for linkname, and the frame that is only passed on

	lua "github.com/yuin/gopher-lua"

	"transect/runtime/sandbox"
)

// instructions is gopher-lua's table of what each instruction does. It has no
// other hook: what .. builds must be measured before, and a function in its place
// would cost every concatenation a call; and ... copies any number of values.
//
//go:linkname instructions github.com/yuin/gopher-lua.jumpTable
var instructions [lua.OP_NOP + 1]func(L *lua.LState, inst uint32, frame unsafe.Pointer) int

func init() {
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
