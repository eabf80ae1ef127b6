package compile

import (
	"math"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
)

var operations = map[string]int{"+": lua.OP_ADD, "-": lua.OP_SUB, "*": lua.OP_MUL, "/": lua.OP_DIV, "%": lua.OP_MOD,
	"^": lua.OP_POW}

func (f *function) logical(n *ast.LogicalOpExpr) operand {
	l := f.left(n.Lhs)
	if n.Operator == "and" {
		f.whenTrue(&l)
		r := f.expression(n.Rhs)
		f.discharge(&r)
		f.join(&r.whenFalse, l.whenFalse)
		return r
	}
	f.whenFalse(&l)
	r := f.expression(n.Rhs)
	f.discharge(&r)
	f.join(&r.whenTrue, l.whenTrue)
	return r
}

func (f *function) relational(n *ast.RelationalOpExpr) operand {
	l := f.left(n.Lhs)
	a := f.toOperand(&l) // before the right side, whose jumps would pass by a constant that is loaded
	r := f.expression(n.Rhs)
	b := f.toOperand(&r)
	f.releaseBoth(&l, &r)
	op, cond := lua.OP_EQ, 1
	switch n.Operator {
	case "~=":
		cond = 0
	case "<":
		op = lua.OP_LT
	case "<=":
		op = lua.OP_LE
	case ">":
		op, a, b = lua.OP_LT, b, a
	case ">=":
		op, a, b = lua.OP_LE, b, a
	}
	f.emit(abc(op, cond, a, b))
	return value(jumpValue, f.jump())
}

// arithmetic compiles an operation on numbers, at once where both are known.
func (f *function) arithmetic(n *ast.ArithmeticOpExpr) operand {
	op := operations[n.Operator]
	switch op {
	case lua.OP_MOD:
		return f.callOperation(n, op, f.chunk.runtime.Modulo)
	case lua.OP_POW:
		return f.callOperation(n, op, f.chunk.runtime.Power)
	}
	l := f.left(n.Lhs)
	if !l.isNumber() {
		f.toOperand(&l)
	}
	r := f.expression(n.Rhs)
	if v, ok := fold(op, &l, &r); ok {
		return v
	}
	b := f.toOperand(&r)
	a := f.toOperand(&l)
	f.releaseBoth(&l, &r)
	return value(relocatable, f.emit(abc(op, 0, a, b)))
}

// releaseBoth gives back the registers of two operands, the last one first.
func (f *function) releaseBoth(a, b *operand) {
	if a.form == inRegister && b.form == inRegister && a.info > b.info {
		a, b = b, a
	}
	f.releaseOperand(b)
	f.releaseOperand(a)
}

// callOperation compiles an operation on numbers as a call. A local to the left
// is read when the right side has been computed, like an instruction's.
func (f *function) callOperation(n *ast.ArithmeticOpExpr, op int, fn *lua.LFunction) operand {
	if v, ok := f.known(n, 2); ok {
		e := value(numberValue, 0)
		e.number = v
		return e
	}
	call := f.reserve(1)
	l := f.left(n.Lhs)
	late := l.form == localValue && !l.hasJumps()
	if late {
		f.reserve(1)
	} else {
		f.toNext(&l)
	}
	r := f.expression(n.Rhs)
	f.toNext(&r)
	if late {
		f.emit(abc(lua.OP_MOVE, call+1, l.info, 0))
	}
	f.free = call
	f.beginCall(fn)
	f.reserve(2)
	return f.endCall(call, 1)
}

// known returns the value of an expression that is made of number literals alone.
func (f *function) known(n ast.Expr, depth int) (v lua.LNumber, ok bool) {
	switch n := n.(type) {
	case *ast.NumberExpr:
		return f.literal(n), true
	case *ast.UnaryMinusOpExpr:
		v, ok = f.known(n.Expr, depth)
		return -v, ok
	case *ast.ArithmeticOpExpr:
		if depth == 0 || n.Operator != "^" {
			return 0, false
		}
		a, ok := f.known(n.Lhs, depth-1)
		b, constant := f.known(n.Rhs, depth-1)
		if !ok || !constant {
			return 0, false
		}
		v = f.chunk.runtime.Exponent(a, b)
		return v, v == v // NaN is not a constant
	}
	return 0, false
}

// fold computes an operation on two known numbers, where the result is one that
// source code can have: not of a division by zero.
func fold(op int, l, r *operand) (operand, bool) {
	if !l.isNumber() || !r.isNumber() {
		return operand{}, false
	}
	a, b, e := float64(l.number), float64(r.number), value(numberValue, 0)
	var v float64
	switch op {
	case lua.OP_ADD:
		v = a + b
	case lua.OP_SUB:
		v = a - b
	case lua.OP_MUL:
		v = a * b
	case lua.OP_DIV:
		if b == 0 {
			return e, false
		}
		v = a / b
	default:
		return e, false
	}
	e.number = lua.LNumber(v)
	return e, !math.IsNaN(v)
}

func (f *function) unary(op int, n ast.Expr) operand {
	e := f.expression(n)
	if op == lua.OP_UNM && e.isNumber() {
		e.number = -e.number
		return e
	}
	register := 0
	if op == lua.OP_UNM || e.form != numberValue && e.form != constantValue {
		register = f.toAny(&e)
	} else {
		register = f.toNext(&e)
	}
	f.releaseOperand(&e)
	return value(relocatable, f.emit(abc(op, 0, register, 0)))
}

func (f *function) not(n ast.Expr) operand {
	e := f.expression(n)
	f.discharge(&e)
	switch e.form {
	case nilValue, falseValue:
		e.form = trueValue
	case constantValue, numberValue, trueValue:
		e.form = falseValue
	case jumpValue:
		f.invert(&e)
	default:
		f.toAnyRegisterPlain(&e)
		f.releaseOperand(&e)
		e.form, e.info = relocatable, f.emit(abc(lua.OP_NOT, 0, e.info, 0))
	}
	e.whenTrue, e.whenFalse = e.whenFalse, e.whenTrue
	f.dropValues(e.whenTrue)
	f.dropValues(e.whenFalse)
	return e
}

// dropValues makes the jumps of a list leave no value.
func (f *function) dropValues(list int) {
	for ; list != noJump; list = f.next(list) {
		f.patchTest(list, noRegister)
	}
}

// concat compiles a..b..c as one call.
func (f *function) concat(n *ast.StringConcatOpExpr) operand {
	call := f.beginCall(f.chunk.runtime.Concat)
	var rest ast.Expr = n
	for {
		pair, more := rest.(*ast.StringConcatOpExpr)
		if !more {
			e := f.expression(rest)
			f.toNext(&e)
			return f.endCall(call, 1)
		}
		e := f.expression(pair.Lhs)
		f.toNext(&e)
		rest = pair.Rhs
	}
}
