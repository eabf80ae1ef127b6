package compile

import (
	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
)

// function is a function that is being compiled. Its active locals are in the
// registers 0, 1, …, in the order of their declaration; temporary values follow.
type function struct {
	chunk  *chunk
	outer  *function
	proto  *lua.FunctionProto
	line   int // of what is being compiled
	free   int // first free register
	block  *block
	vararg bool

	active   []*lua.DbgLocalInfo
	upvalues []upvalue
	numbers  map[lua.LNumber]int // index of constants
	texts    map[string]int
	others   map[lua.LValue]int
	names    int // constants that must be in the template: those below

	here        int // list of jumps to the next instruction
	target      int // last instruction that is the target of a jump
	exits       []*exit
	trampolines []trampoline
}

// upvalue is a variable of an outer function.
type upvalue struct {
	name  string
	local bool // of the function next outside, else an upvalue of it
	index int
}

func newFunction(c *chunk, outer *function, params *ast.ParList) *function {
	f := &function{chunk: c, outer: outer, here: noJump, target: -1, vararg: params.HasVargs,
		proto: &lua.FunctionProto{SourceName: c.name, NumUsedRegisters: 2}}
	if params.HasVargs {
		f.proto.IsVarArg = lua.VarArgIsVarArg
	}
	return f
}

// body compiles the statements of a function after its parameters are declared.
func (f *function) body(stmts []ast.Stmt) {
	f.block = &block{}
	f.statements(stmts, true)
	f.line = f.proto.LastLineDefined
	f.emit(abc(lua.OP_RETURN, 0, 1, 0))
	f.closeBlock()
	f.finish()
}

// emit appends an instruction and returns its index.
func (f *function) emit(inst uint32) int {
	f.patchHere()
	p := f.proto
	pc := len(p.Code)
	p.Code = append(p.Code, inst)
	p.DbgSourcePositions = append(p.DbgSourcePositions, position(f.line, pc))
	return pc
}

func (f *function) pc() int { return len(f.proto.Code) }

// setLine sets the line of the last instruction.
func (f *function) setLine(line int) {
	if line > 0 {
		pc := f.pc() - 1
		f.proto.DbgSourcePositions[pc] = position(line, pc)
	}
}

// reserve takes registers and returns the first.
func (f *function) reserve(n int) int {
	first := f.free
	f.free += n
	if f.free > maxRegisters {
		f.fail("function or expression too complex")
	}
	// One more than are used: a tail call of the virtual machine loses the last one.
	f.proto.NumUsedRegisters = uint8(max(int(f.proto.NumUsedRegisters), f.free+1))
	return first
}

// release gives back a register if it is temporary.
func (f *function) release(register int) {
	if register&isConstant == 0 && register >= len(f.active) {
		f.free--
		if register != f.free {
			panic("registers are released in the wrong order")
		}
	}
}

// constant returns the index of a constant.
func (f *function) constant(v lua.LValue) int {
	index, ok := 0, false
	switch v := v.(type) {
	case lua.LNumber:
		index, ok = f.numbers[v]
	case lua.LString:
		index, ok = f.texts[string(v)]
	default:
		index, ok = f.others[v]
	}
	if ok {
		return index
	}
	index = len(f.proto.Constants)
	if index > maxBx {
		f.fail("constant table overflow")
	}
	f.proto.Constants = append(f.proto.Constants, v)
	switch v := v.(type) {
	case lua.LNumber:
		put(&f.numbers, v, index)
	case lua.LString:
		put(&f.texts, string(v), index)
	default:
		put(&f.others, v, index)
	}
	return index
}

func put[K comparable](m *map[K]int, k K, v int) {
	if *m == nil {
		*m = map[K]int{}
	}
	(*m)[k] = v
}

// name returns the index of a constant that names a field or a global. ok is false
// when it is beyond what instructions can name.
func (f *function) name(text string, most int) (index int, ok bool) {
	if len(text) > maxName {
		f.fail("a name in the code is longer than %d bytes", maxName)
	}
	index = f.constant(lua.LString(text))
	if index > most {
		return index, false
	}
	f.names = max(f.names, index+1)
	return index, true
}

// declare makes names of the next registers active locals.
func (f *function) declare(names ...string) {
	for _, name := range names {
		if len(f.active) >= maxLocals {
			f.failLimit(maxLocals, "local variables")
		}
		// The virtual machine counts a local as active behind StartPc.
		info := &lua.DbgLocalInfo{Name: name, StartPc: f.pc() - 1}
		f.proto.DbgLocals = append(f.proto.DbgLocals, info)
		f.active = append(f.active, info)
	}
}

// forget ends the scope of the locals beyond the first n.
func (f *function) forget(n int) {
	for _, info := range f.active[n:] {
		info.EndPc = f.pc()
	}
	f.active = f.active[:n]
	f.free = n
}

// local returns the register of an active local, or -1.
func (f *function) local(name string) int {
	for i := len(f.active) - 1; i >= 0; i-- {
		if f.active[i].Name == name {
			return i
		}
	}
	return -1
}

// upvalue returns the index of a variable of an outer function, or -1.
func (f *function) upvalue(name string) int {
	for i, u := range f.upvalues {
		if u.name == name {
			return i
		}
	}
	if f.outer == nil {
		return -1
	}
	u := upvalue{name, true, f.outer.local(name)}
	if u.index >= 0 {
		f.outer.capture(u.index)
	} else if u = (upvalue{name, false, f.outer.upvalue(name)}); u.index < 0 {
		return -1
	}
	if len(f.upvalues) >= maxUpvalues {
		f.failLimit(maxUpvalues, "upvalues")
	}
	f.upvalues = append(f.upvalues, u)
	f.proto.DbgUpvalues = append(f.proto.DbgUpvalues, name)
	return len(f.upvalues) - 1
}

// closure compiles a function expression; self adds the parameter of a method.
func (f *function) closure(n *ast.FunctionExpr, self bool) operand {
	f.enter()
	defer f.leave()
	inner := newFunction(f.chunk, f, n.ParList)
	inner.line = n.Line()
	inner.proto.LineDefined, inner.proto.LastLineDefined = n.Line(), n.LastLine()
	if self {
		inner.declare("self")
	}
	inner.declare(n.ParList.Names...)
	inner.proto.NumParameters = uint8(len(inner.active))
	if inner.vararg {
		inner.proto.IsVarArg |= lua.VarArgHasArg | lua.VarArgNeedsArg
		inner.declare("arg")
	}
	inner.reserve(len(inner.active))
	inner.body(n.Stmts)
	f.line = max(f.line, n.LastLine())

	f.proto.FunctionPrototypes = append(f.proto.FunctionPrototypes, inner.proto)
	e := operand{form: relocatable, info: f.emit(abx(lua.OP_CLOSURE, 0, len(f.proto.FunctionPrototypes)-1)),
		whenTrue: noJump, whenFalse: noJump}
	for _, u := range inner.upvalues {
		op := lua.OP_GETUPVAL
		if u.local {
			op = lua.OP_MOVE
		}
		f.emit(abc(op, 0, u.index, 0))
	}
	return e
}

// finish completes the prototype.
func (f *function) finish() {
	f.patchTrampolines()
	f.joinMoves()
	f.proto.NumUpvalues = uint8(len(f.upvalues))
	if f.names > 0 {
		f.chunk.named = append(f.chunk.named, named{f.proto, f.names})
	}
}

// joinMoves marks runs of moves, which the virtual machine then does in one step.
func (f *function) joinMoves() {
	code := f.proto.Code
	for pc := 0; pc < len(code); pc++ {
		switch opOf(code[pc]) {
		case lua.OP_CLOSURE:
			pc += int(f.proto.FunctionPrototypes[bxOf(code[pc])].NumUpvalues)
		case lua.OP_SETLIST:
			if cOf(code[pc]) == 0 {
				pc++
			}
		case lua.OP_MOVE:
			n := 1
			for pc+n < len(code) && opOf(code[pc+n]) == lua.OP_MOVE {
				n++
			}
			if n > 1 {
				code[pc] = abc(lua.OP_MOVEN, aOf(code[pc]), bOf(code[pc]), n-1)
				pc += n - 1
			}
		}
	}
}
