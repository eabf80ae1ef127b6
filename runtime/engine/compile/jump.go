package compile

import lua "github.com/yuin/gopher-lua"

// noJump ends a list of jumps. A list is linked through the jumps themselves: each
// jumps to the next one of the list until its target is known.
const noJump = -1

// jump emits a jump and returns it as a list.
func (f *function) jump() int {
	here := f.here
	f.here = noJump
	list := f.emit(asbx(lua.OP_JMP, 0, noJump))
	f.join(&list, here)
	return list
}

// mark returns the next instruction as the target of a jump.
func (f *function) mark() int {
	f.target = f.pc()
	return f.target
}

func (f *function) next(pc int) int {
	if offset := sbxOf(f.proto.Code[pc]); offset != noJump {
		return pc + 1 + offset
	}
	return noJump
}

func (f *function) aim(pc, target int) {
	offset := target - (pc + 1)
	if max(offset, -offset) > offsetBx {
		f.fail("control structure too long")
	}
	f.proto.Code[pc] = withSbx(f.proto.Code[pc], offset)
}

// join appends a list of jumps to another.
func (f *function) join(list *int, other int) {
	switch {
	case other == noJump:
	case *list == noJump:
		*list = other
	default:
		last := *list
		for next := f.next(last); next != noJump; next = f.next(last) {
			last = next
		}
		f.aim(last, other)
	}
}

// control returns the instruction that decides whether a jump is taken.
func (f *function) control(pc int) *uint32 {
	if pc >= 1 && isTest(f.proto.Code[pc-1]) {
		return &f.proto.Code[pc-1]
	}
	return &f.proto.Code[pc]
}

// needsValue reports whether a jump of the list leaves no value behind.
func (f *function) needsValue(list int) bool {
	for ; list != noJump; list = f.next(list) {
		if opOf(*f.control(list)) != lua.OP_TESTSET {
			return true
		}
	}
	return false
}

// patchTest makes a test put its value in a register, or in none.
func (f *function) patchTest(pc, register int) bool {
	i := f.control(pc)
	if opOf(*i) != lua.OP_TESTSET {
		return false
	}
	if register != noRegister && register != bOf(*i) {
		*i = withA(*i, register)
	} else {
		*i = abc(lua.OP_TEST, bOf(*i), 0, cOf(*i))
	}
	return true
}

// patch aims the jumps of a list that leave a value at one target, with the value in
// register, and the others at another.
func (f *function) patch(list, target, register, other int) {
	for list != noJump {
		next := f.next(list)
		if f.patchTest(list, register) {
			f.aim(list, target)
		} else {
			f.aim(list, other)
		}
		list = next
	}
}

// patchTo aims a list of jumps at an instruction.
func (f *function) patchTo(list, target int) {
	if target == f.pc() {
		f.patchToHere(list)
		return
	}
	f.patch(list, target, noRegister, target)
}

// patchToHere aims a list of jumps at the next instruction.
func (f *function) patchToHere(list int) {
	f.mark()
	f.join(&f.here, list)
}

func (f *function) patchHere() {
	f.patch(f.here, f.pc(), noRegister, f.pc())
	f.here = noJump
}

// jumpWhen emits a test and the jump that is taken when the value of e is cond.
func (f *function) jumpWhen(e *operand, cond bool) int {
	if e.form == relocatable {
		if inst := f.proto.Code[e.info]; opOf(inst) == lua.OP_NOT {
			f.proto.Code = f.proto.Code[:e.info]
			f.proto.DbgSourcePositions = f.proto.DbgSourcePositions[:e.info]
			return f.test(lua.OP_TEST, bOf(inst), 0, !cond)
		}
	}
	f.toAnyRegisterPlain(e)
	f.releaseOperand(e)
	return f.test(lua.OP_TESTSET, noRegister, e.info, cond)
}

// test emits a test of a value and the jump behind it.
func (f *function) test(op, a, b int, cond bool) int {
	c := 0
	if cond {
		c = 1
	}
	f.emit(abc(op, a, b, c))
	return f.jump()
}

// whenTrue goes on when e is true; otherwise the jumps in e.whenFalse are taken.
func (f *function) whenTrue(e *operand) {
	f.discharge(e)
	exit := noJump
	switch e.form {
	case constantValue, numberValue, trueValue:
	case jumpValue:
		f.invert(e)
		exit = e.info
	default:
		exit = f.jumpWhen(e, false)
	}
	f.join(&e.whenFalse, exit)
	f.patchToHere(e.whenTrue)
	e.whenTrue = noJump
}

// whenFalse goes on when e is false; otherwise the jumps in e.whenTrue are taken.
func (f *function) whenFalse(e *operand) {
	f.discharge(e)
	exit := noJump
	switch e.form {
	case nilValue, falseValue:
	case jumpValue:
		exit = e.info
	default:
		exit = f.jumpWhen(e, true)
	}
	f.join(&e.whenTrue, exit)
	f.patchToHere(e.whenFalse)
	e.whenFalse = noJump
}

// invert turns the comparison before a jump around.
func (f *function) invert(e *operand) {
	i := f.control(e.info)
	*i = withA(*i, 1-aOf(*i))
}
