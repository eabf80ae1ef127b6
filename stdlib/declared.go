package stdlib

import (
	"bytes"
	"strconv"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"

	"transect/stdlib/argparse"
)

// DeclaredArgs reads what a script declares with script.args, without running
// it: nil when it declares nothing, or not by a literal table. Values that are
// not literals are skipped.
func DeclaredArgs(script string, code []byte) (*argparse.Spec, error) {
	if bytes.HasPrefix(code, []byte("#")) {
		code = append([]byte("--"), code...)
	}
	chunk, err := parse.Parse(bytes.NewReader(code), script)
	if err != nil {
		return nil, err
	}
	for _, stmt := range chunk {
		var exprs []ast.Expr
		switch s := stmt.(type) {
		case *ast.LocalAssignStmt:
			exprs = s.Exprs
		case *ast.AssignStmt:
			exprs = s.Rhs
		case *ast.FuncCallStmt:
			exprs = []ast.Expr{s.Expr}
		}
		for _, e := range exprs {
			if table, ok := declaration(e); ok {
				spec, err := readArgSpec(table)
				if err == nil {
					spec.Program = program(script)
				}
				return spec, err
			}
		}
	}
	return nil, nil
}

// declaration is the table of a call of script.args.
func declaration(e ast.Expr) (*lua.LTable, bool) {
	call, ok := e.(*ast.FuncCallExpr)
	if !ok || len(call.Args) != 1 {
		return nil, false
	}
	field, ok := call.Func.(*ast.AttrGetExpr)
	if !ok {
		return nil, false
	}
	if key, ok := field.Key.(*ast.StringExpr); !ok || key.Value != "args" {
		return nil, false
	}
	table, ok := literal(call.Args[0]).(*lua.LTable)
	return table, ok
}

// literal is the value of a literal, nil of anything else.
func literal(e ast.Expr) lua.LValue {
	switch e := e.(type) {
	case *ast.StringExpr:
		return lua.LString(e.Value)
	case *ast.TrueExpr:
		return lua.LTrue
	case *ast.FalseExpr:
		return lua.LFalse
	case *ast.NumberExpr:
		if n, err := strconv.ParseFloat(e.Value, 64); err == nil {
			return lua.LNumber(n)
		}
	case *ast.UnaryMinusOpExpr:
		if n, ok := literal(e.Expr).(lua.LNumber); ok {
			return -n
		}
	case *ast.StringConcatOpExpr:
		left, right := literal(e.Lhs), literal(e.Rhs)
		if left != nil && right != nil && lua.LVCanConvToString(left) && lua.LVCanConvToString(right) {
			return lua.LString(left.String() + right.String())
		}
	case *ast.TableExpr:
		t := &lua.LTable{Metatable: lua.LNil}
		for _, f := range e.Fields {
			value := literal(f.Value)
			switch key := f.Key.(type) {
			case nil:
				if value != nil {
					t.Append(value)
				}
			case *ast.StringExpr:
				if value != nil {
					t.RawSetString(key.Value, value)
				}
			}
		}
		return t
	}
	return nil
}
