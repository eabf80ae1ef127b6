package compile

import lua "github.com/yuin/gopher-lua"

// form is where the value of an operand is.
type form uint8

const (
	nothing       form = iota
	nilValue           // and the next two: the value itself
	trueValue          //
	falseValue         //
	constantValue      // info is the index of the constant
	numberValue        // number
	localValue         // info is the register of the variable
	upvalueValue       // info is the index of the upvalue
	globalValue        // info is the constant that names it
	farGlobal          // the same, beyond what instructions can name
	indexedValue       // info is the register of the table, aux the register or constant of the key
	fieldValue         // the same with a key that is a name
	jumpValue          // a comparison: info is the jump that follows it
	relocatable        // info is the instruction that writes it, to any register
	inRegister         // info is the register
	callValue          // info is the call
	varargValue        // info is the instruction
)

// operand is an expression whose value is not used yet. The lists hold jumps out of
// it that are taken when it turned out true or false.
type operand struct {
	form                form
	info, aux           int
	number              lua.LNumber
	whenTrue, whenFalse int
}

func value(form form, info int) operand {
	return operand{form: form, info: info, whenTrue: noJump, whenFalse: noJump}
}

func (e *operand) hasJumps() bool { return e.whenTrue != e.whenFalse }

func (e *operand) isNumber() bool {
	return e.form == numberValue && e.whenTrue == noJump && e.whenFalse == noJump
}

// isOpen reports whether the operand may have several values.
func (e *operand) isOpen() bool { return e.form == callValue || e.form == varargValue }

// discharge makes a variable a value that an instruction produces.
func (f *function) discharge(e *operand) {
	switch e.form {
	case localValue:
		e.form = inRegister
	case upvalueValue:
		e.form, e.info = relocatable, f.emit(abc(lua.OP_GETUPVAL, 0, e.info, 0))
	case globalValue:
		e.form, e.info = relocatable, f.emit(abx(lua.OP_GETGLOBAL, 0, e.info))
	case farGlobal:
		call := f.beginCall(f.chunk.runtime.GetGlobal)
		f.emit(abx(lua.OP_LOADK, f.reserve(1), e.info))
		e.form, e.info = inRegister, f.endCall(call, 1).info
	case indexedValue, fieldValue:
		op := lua.OP_GETTABLE
		if e.form == fieldValue {
			op = lua.OP_GETTABLEKS
		}
		f.release(e.aux)
		f.release(e.info)
		e.form, e.info = relocatable, f.emit(abc(op, 0, e.info, e.aux))
	case callValue, varargValue:
		f.single(e)
	}
}

// single takes the first value of an operand that may have several. The virtual machine
// forgets the registers behind the values of "...": they go to the next free ones.
func (f *function) single(e *operand) {
	switch e.form {
	case callValue:
		e.form, e.info = inRegister, aOf(f.proto.Code[e.info])
	case varargValue:
		register := f.reserve(1)
		f.proto.Code[e.info] = withA(withB(f.proto.Code[e.info], 2), register)
		e.form, e.info = inRegister, register
	}
}

// open takes n values of an operand that may have several, -1 for all.
func (f *function) open(e *operand, n int) {
	i := &f.proto.Code[e.info]
	switch e.form {
	case callValue:
		*i = withC(*i, n+1)
	case varargValue:
		*i = withA(withB(*i, n+1), f.free)
		f.reserve(1)
	}
}

// toRegisterPlain puts the value in a register, whatever jumps out of it.
func (f *function) toRegisterPlain(e *operand, register int) {
	f.discharge(e)
	switch e.form {
	case nilValue:
		f.loadNil(register, 1)
	case trueValue:
		f.emit(abc(lua.OP_LOADBOOL, register, 1, 0))
	case falseValue:
		f.emit(abc(lua.OP_LOADBOOL, register, 0, 0))
	case constantValue:
		f.emit(abx(lua.OP_LOADK, register, e.info))
	case numberValue:
		f.emit(abx(lua.OP_LOADK, register, f.constant(e.number)))
	case relocatable:
		f.proto.Code[e.info] = withA(f.proto.Code[e.info], register)
	case inRegister:
		if register != e.info {
			f.emit(abc(lua.OP_MOVE, register, e.info, 0))
		}
	default:
		return
	}
	e.form, e.info = inRegister, register
}

func (f *function) toAnyRegisterPlain(e *operand) {
	if e.form != inRegister {
		f.toRegisterPlain(e, f.reserve(1))
	}
}

// toRegister puts the value in a register, also where jumps lead out of it.
func (f *function) toRegister(e *operand, register int) {
	f.toRegisterPlain(e, register)
	if e.form == jumpValue {
		f.join(&e.whenTrue, e.info)
	}
	if e.hasJumps() {
		isFalse, isTrue := noJump, noJump
		if f.needsValue(e.whenTrue) || f.needsValue(e.whenFalse) {
			over := noJump
			if e.form != jumpValue {
				over = f.jump()
			}
			f.mark()
			isFalse = f.emit(abc(lua.OP_LOADBOOL, register, 0, 1))
			f.mark()
			isTrue = f.emit(abc(lua.OP_LOADBOOL, register, 1, 0))
			f.patchToHere(over)
		}
		end := f.mark()
		f.patch(e.whenFalse, end, register, isFalse)
		f.patch(e.whenTrue, end, register, isTrue)
	}
	*e = value(inRegister, register)
}

// toNext puts the value in the next free register.
func (f *function) toNext(e *operand) int {
	f.discharge(e)
	f.releaseOperand(e)
	register := f.reserve(1)
	f.toRegister(e, register)
	return register
}

// toAny puts the value in a register, which may be a variable's.
func (f *function) toAny(e *operand) int {
	f.discharge(e)
	if e.form == inRegister {
		if !e.hasJumps() {
			return e.info
		}
		if e.info >= len(f.active) {
			f.toRegister(e, e.info)
			return e.info
		}
	}
	return f.toNext(e)
}

// toValue puts the value in a register if it is not a constant.
func (f *function) toValue(e *operand) {
	if e.hasJumps() {
		f.toAny(e)
	} else {
		f.discharge(e)
	}
}

// toOperand returns the value as an operand: a register or a constant.
func (f *function) toOperand(e *operand) int {
	f.toValue(e)
	index := -1
	switch {
	case e.form == constantValue:
		index = e.info
	case len(f.proto.Constants) > maxConstant:
	case e.form == nilValue:
		index = f.constant(lua.LNil)
	case e.form == trueValue:
		index = f.constant(lua.LTrue)
	case e.form == falseValue:
		index = f.constant(lua.LFalse)
	}
	if e.form == numberValue {
		index = f.constant(e.number)
	}
	if index < 0 {
		return f.toAny(e)
	}
	e.form, e.info = constantValue, index
	if index <= maxConstant {
		return index | isConstant
	}
	return f.toAny(e)
}

func (f *function) releaseOperand(e *operand) {
	if e.form == inRegister {
		f.release(e.info)
	}
}

// store assigns a value to a variable.
func (f *function) store(variable, e *operand) {
	switch variable.form {
	case localValue:
		f.releaseOperand(e)
		f.toRegister(e, variable.info)
		return
	case upvalueValue:
		f.emit(abc(lua.OP_SETUPVAL, f.toAny(e), variable.info, 0))
	case globalValue:
		f.emit(abx(lua.OP_SETGLOBAL, f.toAny(e), variable.info))
	case farGlobal:
		from := f.toAny(e)
		call := f.beginCall(f.chunk.runtime.SetGlobal)
		f.emit(abx(lua.OP_LOADK, f.reserve(1), variable.info))
		f.emit(abc(lua.OP_MOVE, f.reserve(1), from, 0))
		f.endCall(call, 0)
	case indexedValue:
		f.emit(abc(lua.OP_SETTABLE, variable.info, variable.aux, f.toOperand(e)))
	case fieldValue:
		f.emit(abc(lua.OP_SETTABLEKS, variable.info, variable.aux, f.toOperand(e)))
	}
	f.releaseOperand(e)
}

// loadNil makes n registers nil, with the instruction before if that does the same.
func (f *function) loadNil(first, n int) {
	if f.pc() > f.target {
		if f.pc() == 0 {
			if first >= len(f.active) {
				return // they are nil when the function begins
			}
		} else if last := &f.proto.Code[f.pc()-1]; opOf(*last) == lua.OP_LOADNIL {
			if from, to := aOf(*last), bOf(*last); from <= first && first <= to+1 {
				*last = withB(*last, max(to, first+n-1))
				return
			}
		}
	}
	f.emit(abc(lua.OP_LOADNIL, first, first+n-1, 0))
}

// beginCall loads a function of ours and returns its register. Its arguments go in
// the registers behind it.
func (f *function) beginCall(fn *lua.LFunction) int {
	register := f.reserve(1)
	var v lua.LValue = lua.LNil
	if fn != nil {
		v = fn
	}
	f.emit(abx(lua.OP_LOADK, register, f.constant(v)))
	return register
}

// endCall calls the function in register with what is behind it.
func (f *function) endCall(register, results int) operand {
	f.emit(abc(lua.OP_CALL, register, f.free-register, results+1))
	f.free = register + results
	return value(inRegister, register)
}
