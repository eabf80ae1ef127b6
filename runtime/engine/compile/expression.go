package compile

import (
	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
)

// at makes a node the place that instructions and errors belong to.
func (f *function) at(n ast.PositionHolder) {
	if n.Line() > 0 {
		f.line = n.Line()
	}
}

// expression compiles an expression to an operand.
func (f *function) expression(n ast.Expr) operand {
	f.chunk.depth++
	defer func() { f.chunk.depth-- }()
	if f.chunk.depth > maxDepth {
		f.fail("chunk has too many syntax levels")
	}
	f.at(n)
	switch n := n.(type) {
	case *ast.NilExpr:
		return value(nilValue, 0)
	case *ast.TrueExpr:
		return value(trueValue, 0)
	case *ast.FalseExpr:
		return value(falseValue, 0)
	case *ast.NumberExpr:
		e := value(numberValue, 0)
		e.number = f.literal(n)
		return e
	case *ast.StringExpr:
		return value(constantValue, f.constant(lua.LString(n.Value)))
	case *ast.IdentExpr:
		return f.variable(n.Value)
	case *ast.AttrGetExpr:
		return f.index(n)
	case *ast.Comma3Expr:
		return f.varargs(n)
	case *ast.FuncCallExpr:
		return f.call(n)
	case *ast.FunctionExpr:
		return f.closure(n, false)
	}
	f.enter()
	defer f.leave()
	switch n := n.(type) {
	case *ast.TableExpr:
		return f.table(n)
	case *ast.LogicalOpExpr:
		return f.logical(n)
	case *ast.RelationalOpExpr:
		return f.relational(n)
	case *ast.ArithmeticOpExpr:
		return f.arithmetic(n)
	case *ast.StringConcatOpExpr:
		return f.concat(n)
	case *ast.UnaryMinusOpExpr:
		return f.unary(lua.OP_UNM, n.Expr)
	case *ast.UnaryLenOpExpr:
		return f.unary(lua.OP_LEN, n.Expr)
	case *ast.UnaryNotOpExpr:
		return f.not(n.Expr)
	}
	f.fail("cannot compile %T", n)
	return operand{}
}

// left compiles an operand that comes before its operator: any number of them follow
// one another without being nested.
func (f *function) left(n ast.Expr) operand {
	f.leave()
	defer func() { f.chunk.levels++ }()
	return f.expression(n)
}

func (f *function) literal(n *ast.NumberExpr) lua.LNumber {
	number, ok := f.chunk.runtime.Number(n.Value)
	if !ok {
		f.fail("malformed number near '%s'", n.Value)
	}
	return number
}

// variable returns the operand of a local, an upvalue or a global.
func (f *function) variable(name string) operand {
	if register := f.local(name); register >= 0 {
		return value(localValue, register)
	}
	if index := f.upvalue(name); index >= 0 {
		return value(upvalueValue, index)
	}
	index, near := f.name(name, maxTemplate)
	if !near {
		return value(farGlobal, index)
	}
	return value(globalValue, index)
}

// index returns the operand of a table's field.
func (f *function) index(n *ast.AttrGetExpr) operand {
	table := f.expression(n.Object)
	f.toAny(&table)
	f.at(n.Key)
	return f.indexed(table, n.Key)
}

// indexed returns the operand of a field of the table in a register.
func (f *function) indexed(table operand, key ast.Expr) operand {
	if text, ok := key.(*ast.StringExpr); ok {
		return f.field(table, text.Value)
	}
	f.enter()
	k := f.expression(key)
	f.leave()
	e := value(indexedValue, table.info)
	e.aux = f.toOperand(&k)
	return e
}

// field returns the operand of a table's field with a constant name.
func (f *function) field(table operand, name string) operand {
	e := value(fieldValue, table.info)
	e.aux = f.nameOperand(name)
	return e
}

// nameOperand returns a name as an operand.
func (f *function) nameOperand(name string) int {
	index, near := f.name(name, maxConstant)
	if near {
		return index | isConstant
	}
	register := f.reserve(1)
	f.emit(abx(lua.OP_LOADK, register, index))
	return register
}

func (f *function) varargs(n *ast.Comma3Expr) operand {
	if !f.vararg {
		f.fail("cannot use '...' outside a vararg function near '...'")
	}
	f.proto.IsVarArg &^= lua.VarArgNeedsArg
	e := value(varargValue, f.emit(abc(lua.OP_VARARG, 0, 1, 0)))
	if n.AdjustRet {
		f.single(&e)
	}
	return e
}

// call compiles a function or method call.
func (f *function) call(n *ast.FuncCallExpr) operand {
	var function int
	if n.Func != nil {
		e := f.expression(n.Func)
		function = f.toNext(&e)
	} else {
		e := f.expression(n.Receiver)
		object := f.toAny(&e)
		f.releaseOperand(&e)
		function = f.reserve(2)
		key := f.nameOperand(n.Method)
		f.emit(abc(lua.OP_SELF, function, object, key))
		f.setLine(n.Line())
		if key&isConstant == 0 {
			f.free--
		}
	}
	f.enter()
	open := f.list(n.Args)
	f.leave()
	count := f.free - function
	if open {
		count = 0
	}
	e := value(callValue, f.emit(abc(lua.OP_CALL, function, count, 2)))
	f.setLine(n.Line())
	f.free = function + 1
	if n.AdjustRet {
		f.single(&e)
	}
	return e
}

// list puts expressions in the next registers, and reports whether the last one puts
// any number of values there.
func (f *function) list(exprs []ast.Expr) (open bool) {
	for i, n := range exprs {
		e := f.expression(n)
		if i == len(exprs)-1 && e.isOpen() {
			f.open(&e, -1)
			return true
		}
		f.toNext(&e)
	}
	return false
}

// table compiles a table constructor.
func (f *function) table(n *ast.TableExpr) operand {
	new := f.emit(abc(lua.OP_NEWTABLE, 0, 0, 0))
	e := value(relocatable, new)
	table := f.toNext(&e)
	items, fields, pending := 0, 0, 0
	for i, field := range n.Fields {
		if field.Key != nil {
			fields++
			f.keyedField(table, field)
			continue
		}
		items++
		pending++
		v := f.expression(field.Value)
		if i == len(n.Fields)-1 && v.isOpen() {
			f.open(&v, -1)
			f.setList(table, items, 0)
			pending = 0
			items--
			break
		}
		f.toNext(&v)
		if pending == perFlush {
			f.setList(table, items, pending)
			pending = 0
		}
	}
	if pending > 0 {
		f.setList(table, items, pending)
	}
	const most = 1<<9 - 1
	f.proto.Code[new] = withC(withB(f.proto.Code[new], min(items, most)), min(fields, most))
	return e
}

func (f *function) keyedField(table int, field *ast.Field) {
	free := f.free
	variable := f.indexed(value(inRegister, table), field.Key)
	v := f.expression(field.Value)
	f.toOperand(&v)
	f.store(&variable, &v)
	f.free = free
}

// setList stores the last values of a list of items; 0 are all that are there.
func (f *function) setList(table, items, values int) {
	if batch := (items-1)/perFlush + 1; batch <= 1<<9-1 {
		f.emit(abc(lua.OP_SETLIST, table, values, batch))
	} else {
		f.emit(abc(lua.OP_SETLIST, table, values, 0))
		f.emit(uint32(batch))
	}
	f.free = table + 1
}
