package compile

import (
	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
)

// while compiles the condition behind the body: an iteration then makes one jump.
func (f *function) while(s *ast.WhileStmt) {
	f.openBlock(true)
	enter := noJump
	_, always := s.Condition.(*ast.TrueExpr)
	if !always {
		enter = f.jump()
	}
	body := f.mark()
	f.scope(s.Stmts)
	if always {
		f.line = s.LastLine()
		f.patchTo(f.jump(), body)
	} else {
		f.patchToHere(enter)
		e := f.expression(s.Condition)
		if e.form == nilValue {
			e.form = falseValue
		}
		f.whenFalse(&e)
		f.patchTo(e.whenTrue, body)
	}
	f.line = max(f.line, s.LastLine())
	f.closeBlock()
}

// repeat compiles a loop whose condition sees the locals of the body.
func (f *function) repeat(s *ast.RepeatStmt) {
	f.openBlock(true)
	start := f.mark()
	f.openBlock(false)
	f.statements(s.Stmts, false)
	f.at(s.Condition)
	again := f.condition(s.Condition)
	if f.block.captured {
		level := f.block.level
		f.emit(abc(lua.OP_CLOSE, level, 0, 0))
		done := f.jump()
		f.patchToHere(again)
		f.closeBlock() // closes once more
		f.patchTo(f.jump(), start)
		f.patchToHere(done)
	} else {
		f.closeBlock()
		f.patchTo(again, start)
	}
	f.closeBlock()
}

func (f *function) numberFor(s *ast.NumberForStmt) {
	f.openBlock(true)
	base := f.free
	exprs := []ast.Expr{s.Init, s.Limit}
	if s.Step != nil {
		exprs = append(exprs, s.Step)
	}
	constant := make([]bool, 3)
	for i, n := range exprs {
		e := f.expression(n)
		constant[i] = e.isNumber()
		f.toNext(&e)
	}
	if s.Step == nil {
		f.emit(abx(lua.OP_LOADK, f.reserve(1), f.constant(lua.LNumber(1))))
		constant[2] = true
	}
	f.numbers3(base, constant)
	f.declare("(for index)", "(for limit)", "(for step)")
	prepare := f.emit(asbx(lua.OP_FORPREP, base, 0))
	f.openBlock(false)
	f.reserve(1)
	f.declare(s.Name)
	f.statements(s.Stmts, true)
	f.closeBlock()
	f.line = s.Line()
	f.mark()
	f.aim(prepare, f.pc())
	f.aim(f.emit(asbx(lua.OP_FORLOOP, base, 0)), prepare+1)
	f.line = max(f.line, s.LastLine())
	f.closeBlock()
}

// numbers3 makes numbers of what a loop counts with, where it may be a text: the
// virtual machine does not convert it. Subtracting 0 changes no number.
func (f *function) numbers3(base int, constant []bool) {
	for i := range constant {
		if constant[i] {
			continue
		}
		zero := f.constant(lua.LNumber(0))
		if zero > maxConstant {
			register := f.reserve(1)
			f.emit(abx(lua.OP_LOADK, register, zero))
			f.emit(abc(lua.OP_SUB, base+i, base+i, register))
			f.free--
			continue
		}
		f.emit(abc(lua.OP_SUB, base+i, base+i, zero|isConstant))
	}
}

func (f *function) genericFor(s *ast.GenericForStmt) {
	f.openBlock(true)
	base := f.free
	f.values(s.Exprs, 3)
	f.free = base + 3
	f.declare("(for generator)", "(for state)", "(for control)")
	f.proto.NumUsedRegisters = max(f.proto.NumUsedRegisters, uint8(min(base+7, maxRegisters)))
	prepare := f.jump()
	f.openBlock(false)
	body := f.mark()
	f.reserve(len(s.Names))
	f.declare(s.Names...)
	f.statements(s.Stmts, true)
	f.closeBlock()
	f.patchToHere(prepare)
	f.line = s.Line()
	f.emit(abc(lua.OP_TFORLOOP, base, 0, len(s.Names)))
	f.patchTo(f.jump(), body)
	f.line = max(f.line, s.LastLine())
	f.closeBlock()
}
