package compile

import lua "github.com/yuin/gopher-lua"

// An instruction is, from the highest bit: the opcode (6 bits), A (8), C (9), B (9).
// Bx is C and B as one number, sBx the same with an offset. An operand that may be a
// register or a constant is a constant when the bit isConstant is set.
const (
	isConstant  = 1 << 8
	maxConstant = 1<<8 - 1 // constant that an operand can name
	maxBx       = 1<<18 - 1
	offsetBx    = maxBx >> 1
	noRegister  = 1<<8 - 1
	perFlush    = 50 // list elements stored by one instruction
)

func abc(op, a, b, c int) uint32 { return uint32(op<<26 | a<<18 | c<<9 | b) }
func abx(op, a, bx int) uint32   { return uint32(op<<26 | a<<18 | bx) }
func asbx(op, a, sbx int) uint32 { return abx(op, a, sbx+offsetBx) }

func opOf(i uint32) int  { return int(i >> 26) }
func aOf(i uint32) int   { return int(i>>18) & 0xff }
func bOf(i uint32) int   { return int(i) & 0x1ff }
func cOf(i uint32) int   { return int(i>>9) & 0x1ff }
func bxOf(i uint32) int  { return int(i) & maxBx }
func sbxOf(i uint32) int { return bxOf(i) - offsetBx }

func withA(i uint32, a int) uint32     { return i&^(0xff<<18) | uint32(a)<<18 }
func withB(i uint32, b int) uint32     { return i&^0x1ff | uint32(b) }
func withC(i uint32, c int) uint32     { return i&^(0x1ff<<9) | uint32(c)<<9 }
func withSbx(i uint32, sbx int) uint32 { return i&^maxBx | uint32(sbx+offsetBx) }

// isTest reports whether an instruction skips the next one, which is a jump.
func isTest(i uint32) bool {
	switch opOf(i) {
	case lua.OP_EQ, lua.OP_LT, lua.OP_LE, lua.OP_TEST, lua.OP_TESTSET:
		return true
	}
	return false
}

// setsA reports whether an instruction writes register A. As in Lua 5.1 a test does: what
// it lets pass may come from elsewhere and has no name.
func setsA(i uint32) bool {
	switch opOf(i) {
	case lua.OP_SETGLOBAL, lua.OP_SETUPVAL, lua.OP_SETTABLE, lua.OP_SETTABLEKS, lua.OP_JMP, lua.OP_EQ, lua.OP_LT,
		lua.OP_LE,
		lua.OP_RETURN, lua.OP_SETLIST, lua.OP_CLOSE, lua.OP_NOP, lua.OP_TFORLOOP:
		return false
	}
	return true
}
