package compile

import (
	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
)

// Instruction operands as package vm reads them to explain an error.
type Operands struct {
	Op      int
	A, B, C int
}

// At returns the operands of an instruction.
func At(p *lua.FunctionProto, pc int) Operands {
	i := p.Code[pc]
	return Operands{opOf(i), aOf(i), bOf(i), cOf(i)}
}

// Returns reports whether a function may return values.
func Returns(p *lua.FunctionProto) bool {
	for _, i := range p.Code {
		if opOf(i) == lua.OP_RETURN && bOf(i) != 1 {
			return true
		}
	}
	return false
}

// Constant returns the value of an operand that is a constant.
func Constant(p *lua.FunctionProto, operand int) (lua.LValue, bool) {
	if operand&isConstant == 0 || operand&^isConstant >= len(p.Constants) {
		return nil, false
	}
	return p.Constants[operand&^isConstant], true
}

// CountsLoop reports whether an instruction makes a number of what a for loop counts
// with, and of what: 0 for where it begins, 1 for the limit, 2 for the step.
func CountsLoop(p *lua.FunctionProto, pc int) (which int, ok bool) {
	i := p.Code[pc]
	if opOf(i) != lua.OP_SUB || aOf(i) != bOf(i) {
		return 0, false
	}
	for next := pc + 1; next < len(p.Code) && next < pc+6; next++ {
		switch opOf(p.Code[next]) {
		case lua.OP_SUB, lua.OP_LOADK:
		case lua.OP_FORPREP:
			which = aOf(i) - aOf(p.Code[next])
			return which, which >= 0 && which < 3
		default:
			return 0, false
		}
	}
	return 0, false
}

// LocalName returns the name of the local in a register at an instruction, or "".
func LocalName(p *lua.FunctionProto, register, pc int) string {
	for _, l := range p.DbgLocals {
		if l.StartPc >= pc {
			break
		}
		if pc < l.EndPc {
			if register == 0 {
				return l.Name
			}
			register--
		}
	}
	return ""
}

// Name describes what a register holds at an instruction, as "global 'x'", or "" when that is unknown.
func Name(p *lua.FunctionProto, pc, register int) string {
	kind, name := describe(p, pc, register)
	if kind == "" {
		return ""
	}
	return kind + " '" + name + "'"
}

// CalledAs returns the kind and the name of what an instruction calls.
func CalledAs(p *lua.FunctionProto, pc int) (kind, name string) {
	switch i := p.Code[pc]; opOf(i) {
	case lua.OP_CALL, lua.OP_TAILCALL, lua.OP_TFORLOOP:
		return describe(p, pc, aOf(i))
	}
	return "", ""
}

// describe finds the instruction that put the value in the register.
func describe(p *lua.FunctionProto, pc, register int) (kind, name string) {
	if local := LocalName(p, register, pc); local != "" {
		return "local", local
	}
	at := writer(p, pc, register)
	if at < 0 {
		return "", ""
	}
	i := p.Code[at]
	switch opOf(i) {
	case lua.OP_GETGLOBAL:
		return "global", text(p.Constants[bxOf(i)])
	case lua.OP_MOVE, lua.OP_MOVEN:
		if bOf(i) < aOf(i) {
			return describe(p, at, bOf(i))
		}
	case lua.OP_GETTABLE, lua.OP_GETTABLEKS:
		return "field", keyName(p, cOf(i))
	case lua.OP_GETUPVAL:
		if b := bOf(i); b < len(p.DbgUpvalues) {
			return "upvalue", p.DbgUpvalues[b]
		}
		return "upvalue", "?"
	case lua.OP_SELF:
		return "method", keyName(p, cOf(i))
	}
	return "", ""
}

func keyName(p *lua.FunctionProto, operand int) string {
	v, _ := Constant(p, operand)
	return text(v)
}

func text(v lua.LValue) string {
	if s, ok := v.(lua.LString); ok {
		return string(s)
	}
	return "?"
}

// writer returns the last instruction before pc that wrote a register, in the order of the code; -1 for none.
func writer(p *lua.FunctionProto, end, register int) int {
	last := -1
	for pc := 0; pc < end; pc++ {
		i := p.Code[pc]
		op, a := opOf(i), aOf(i)
		if setsA(i) && a == register {
			last = pc
		}
		switch op {
		case lua.OP_LOADNIL:
			if a <= register && register <= bOf(i) {
				last = pc
			}
		case lua.OP_TFORLOOP:
			if register >= a+2 {
				last = pc
			}
		case lua.OP_CALL, lua.OP_TAILCALL, lua.OP_VARARG:
			if register >= a {
				last = pc
			}
		case lua.OP_SELF:
			if register == a+1 {
				last = pc
			}
		case lua.OP_JMP:
			if target := pc + 1 + sbxOf(i); target > pc && target <= end {
				pc = target - 1
			}
		case lua.OP_FORPREP:
			if target := pc + 1 + sbxOf(i); target <= end {
				pc = target - 1
			}
		case lua.OP_CLOSURE:
			pc += int(p.FunctionPrototypes[bxOf(i)].NumUpvalues)
		case lua.OP_SETLIST:
			if cOf(i) == 0 {
				pc++
			}
		}
	}
	return last
}

// ReadsZero reports whether a register holds the element 0 of a table.
func ReadsZero(p *lua.FunctionProto, pc, register int) bool {
	at := writer(p, pc, register)
	if at < 0 || opOf(p.Code[at]) != lua.OP_GETTABLE {
		return false
	}
	key, _ := Constant(p, cOf(p.Code[at]))
	return key == lua.LNumber(0)
}

// IsCall reports whether an instruction is a call that can be left and entered again.
func IsCall(p *lua.FunctionProto, pc int) bool { return opOf(p.Code[pc]) == lua.OP_CALL }

// Forward returns a function that calls another with its arguments and returns
// what that returns, without a tail call.
func Forward(fn *lua.LFunction) *lua.FunctionProto {
	f := newFunction(&chunk{name: "[C]"}, nil, &ast.ParList{HasVargs: true})
	call := f.beginCall(fn)
	args := value(varargValue, f.emit(abc(lua.OP_VARARG, 0, 1, 0)))
	f.open(&args, -1)
	f.emit(abc(lua.OP_CALL, call, 0, 0))
	f.emit(abc(lua.OP_RETURN, call, 0, 0))
	return f.proto
}
