package compile

import (
	"strconv"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
)

// maxTemplate is the highest constant that may name a global: making a template takes
// time that grows with the square of it.
const maxTemplate = 1000

// named is a function that names fields or globals in its first n constants.
type named struct {
	proto *lua.FunctionProto
	n     int
}

// nameConstants passes the texts that name fields and globals to the functions of a chunk. The virtual machine reads
// them from a list of their own, which only gopher-lua's compiler can fill: it compiles functions that mention the
// same constants, and these lend what they have.
func (c *chunk) nameConstants() error {
	if len(c.named) == 0 {
		return nil
	}
	var functions []ast.Stmt
	for _, f := range c.named {
		functions = append(functions, mention(f.proto.Constants[:f.n]))
	}
	template, err := lua.Compile(functions, c.name)
	if err != nil {
		return err
	}
	for i, f := range c.named {
		lent := template.FunctionPrototypes[i]
		own := *f.proto
		*f.proto = *lent
		f.proto.SourceName, f.proto.LineDefined, f.proto.LastLineDefined = own.SourceName, own.LineDefined,
			own.LastLineDefined
		f.proto.NumUpvalues, f.proto.NumParameters = own.NumUpvalues, own.NumParameters
		f.proto.IsVarArg, f.proto.NumUsedRegisters = own.IsVarArg, own.NumUsedRegisters
		f.proto.Code, f.proto.Constants, f.proto.FunctionPrototypes = own.Code, own.Constants, own.FunctionPrototypes
		f.proto.DbgSourcePositions, f.proto.DbgLocals = own.DbgSourcePositions, own.DbgLocals
		f.proto.DbgCalls, f.proto.DbgUpvalues = own.DbgCalls, own.DbgUpvalues
	}
	return nil
}

// mention returns a function whose constants have a certain order. Numbers
// replace the constants that are not texts.
func mention(constants []lua.LValue) ast.Stmt {
	x := func() ast.Expr { return &ast.IdentExpr{Value: "x"} }
	stmts := []ast.Stmt{&ast.LocalAssignStmt{Names: []string{"x"}}}
	for i, v := range constants {
		var e ast.Expr = &ast.NumberExpr{Value: strconv.Itoa(i)}
		if text, ok := v.(lua.LString); ok {
			e = &ast.StringExpr{Value: string(text)}
		}
		stmts = append(stmts, &ast.AssignStmt{Lhs: []ast.Expr{x()}, Rhs: []ast.Expr{e}})
	}
	body := &ast.FunctionExpr{ParList: &ast.ParList{}, Stmts: stmts}
	return &ast.AssignStmt{Lhs: []ast.Expr{x()}, Rhs: []ast.Expr{body}}
}
