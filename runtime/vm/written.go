package vm

import (
	"bytes"
	"reflect"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
)

// filterKey is the argument whose keys are noted where a call writes it as a table.
const filterKey = "filter"

// writtenKeys maps the line of a call to the keys its filter is written with, or to unknownKeys.
type writtenKeys map[int][][]lua.LValue

// unknownKeys marks a line with several calls.
var unknownKeys = [][]lua.LValue{{lua.LString(filterKey)}}

// NilArgument is a named argument that is written in a call, and nil.
type NilArgument struct {
	Name   string
	Search int // line of the search whose first record it is; 0 when it is something else
}

// writtenCall is a call with a table of named arguments.
type writtenCall struct {
	line     int
	function string
}

// NilArguments lists the named arguments of the running call of a function that are
// written there and nil, unless the script shows that they may be: see mayBeNil.
func NilArguments(L *lua.LState, arguments *lua.LTable, function string) (list []NilArgument) {
	in := Of(L)
	for level := 0; ; level++ {
		p, ok := placeAt(L, level)
		switch {
		case !ok:
			return nil
		case p.position() == "": // a Go function, such as try
			continue
		}
		for _, n := range in.named[p.fn.Proto.SourceName][writtenCall{p.line, function}] {
			if arguments.RawGetString(n.Name) == lua.LNil {
				list = append(list, n)
			}
		}
		return list
	}
}

// noteArguments notes the named arguments of calls whose values should not be nil.
func (in *Interp) noteArguments(file string, chunk []ast.Stmt) {
	if len(in.named) >= maxChunks || strings.HasPrefix(file, "@") { // ready scripts are known
		return
	}
	known := chunkNames{map[string]bool{"arg": true}, map[string]ast.Expr{}}
	written := map[writtenCall]*ast.TableExpr{}
	walk(reflect.ValueOf(chunk), func(v reflect.Value) {
		if v.Kind() != reflect.Pointer {
			return
		}
		switch e := v.Interface().(type) {
		case *ast.FuncCallExpr:
			at := writtenCall{e.Line(), called(e)}
			if len(e.Args) == 0 || at.function == "" {
				return
			}
			if table, ok := e.Args[len(e.Args)-1].(*ast.TableExpr); ok {
				if _, several := written[at]; several {
					table = &ast.TableExpr{} // which of them runs is unknown
				}
				written[at] = table
			}
		case *ast.FunctionExpr:
			for _, name := range e.ParList.Names {
				known.optional[name] = true
			}
		case *ast.GenericForStmt:
			for _, name := range e.Names {
				known.optional[name] = true
			}
		case *ast.LocalAssignStmt:
			known.locals(e)
		}
	})
	in.named[file] = map[writtenCall][]NilArgument{}
	for at, table := range written {
		for _, f := range table.Fields {
			if key, ok := f.Key.(*ast.StringExpr); ok && !known.mayBeNil(f.Value) {
				in.named[file][at] = append(in.named[file][at], NilArgument{key.Value, known.search(f.Value)})
			}
		}
	}
}

// chunkNames is what a chunk's names hold, by all of their declarations.
type chunkNames struct {
	optional map[string]bool     // parameters, variables of loops, locals that begin as nil or are several
	first    map[string]ast.Expr // what a local begins as
}

func (n chunkNames) locals(s *ast.LocalAssignStmt) {
	for i, name := range s.Names {
		if len(s.Exprs) != len(s.Names) || n.first[name] != nil {
			n.optional[name] = true
		} else {
			n.first[name] = s.Exprs[i]
		}
	}
}

// maxDepth bounds how many names are followed to what a value is.
const maxDepth = 10

// called returns the last name of what a call calls, "" when it has none.
func called(e ast.Expr) string {
	if call, ok := e.(*ast.FuncCallExpr); ok {
		if callee, ok := call.Func.(*ast.AttrGetExpr); ok {
			if name, ok := callee.Key.(*ast.StringExpr); ok {
				return name.Value
			}
		}
	}
	return ""
}

// mayBeNil reports whether the script shows that a value may be nil: by nil, and, or,
// as a parameter, as one of its arguments, as a variable of the environment.
func (n chunkNames) mayBeNil(e ast.Expr) bool {
	for depth := 0; depth < maxDepth; depth++ {
		switch x := e.(type) {
		case *ast.IdentExpr:
			if n.optional[x.Value] {
				return true
			}
			if e = n.first[x.Value]; e == nil {
				return false
			}
			continue
		case *ast.AttrGetExpr:
			e = x.Object
			continue
		}
		break
	}
	switch e := e.(type) {
	case *ast.FuncCallExpr:
		name := called(e)
		return name == "args" || name == "getenv" || name == "get"
	case *ast.NilExpr, *ast.LogicalOpExpr, *ast.Comma3Expr:
		return true
	}
	return false
}

// search returns the line of the search whose record an expression is, or 0.
func (n chunkNames) search(e ast.Expr) int {
	for range maxDepth {
		switch x := e.(type) {
		case *ast.IdentExpr:
			e = n.first[x.Value]
		case *ast.AttrGetExpr:
			e = x.Object
		default:
			if strings.HasPrefix(called(e), "search") {
				return e.Line()
			}
			return 0
		}
	}
	return 0
}

// noteFilters notes the keys of the filters in a chunk. A key whose value is nil leaves no trace in a table, so that
// only the source shows that it was meant to be there.
func (in *Interp) noteFilters(file string, code []byte, chunk []ast.Stmt) {
	if !bytes.Contains(code, []byte(filterKey)) || len(in.written) >= maxChunks {
		return
	}
	written := writtenKeys{}
	walk(reflect.ValueOf(chunk), func(v reflect.Value) {
		if v.Kind() != reflect.Pointer {
			return
		}
		call, ok := v.Interface().(*ast.FuncCallExpr)
		if !ok || len(call.Args) == 0 {
			return
		}
		table, _ := call.Args[len(call.Args)-1].(*ast.TableExpr)
		if filter := fieldOf(table, filterKey); filter != nil {
			_, several := written[call.Line()]
			if written[call.Line()] = keysIn(filter, lua.LString(filterKey)); several {
				written[call.Line()] = unknownKeys
			}
		}
	})
	in.written[file] = written
}

func fieldOf(t *ast.TableExpr, name string) ast.Expr {
	if t != nil {
		for _, f := range t.Fields {
			if key, ok := f.Key.(*ast.StringExpr); ok && key.Value == name {
				return f.Value
			}
		}
	}
	return nil
}

// keysIn lists the paths of the values of a table that may be nil.
func keysIn(e ast.Expr, at ...lua.LValue) (paths [][]lua.LValue) {
	switch e := e.(type) {
	case *ast.StringExpr, *ast.NumberExpr, *ast.TrueExpr, *ast.FalseExpr:
	case *ast.TableExpr:
		for i, f := range e.Fields {
			var key lua.LValue = lua.LNumber(i + 1)
			if name, ok := f.Key.(*ast.StringExpr); ok {
				key = lua.LString(name.Value)
			} else if f.Key != nil {
				continue
			}
			paths = append(paths, keysIn(f.Value, append(at[:len(at):len(at)], key)...)...)
		}
	default:
		paths = [][]lua.LValue{at}
	}
	return paths
}

// FilterAsWritten compares the arguments of the running call with how its filter is written there. missing names a
// part of it whose value is nil, "" when there is none or it is unknown; complete reports whether it is written as a
// table and has all of its parts.
func FilterAsWritten(L *lua.LState, arguments *lua.LTable) (missing string, complete bool) {
	in := Of(L)
	if arguments == nil || len(in.written) == 0 {
		return "", false
	}
	for level := 0; ; level++ {
		p, ok := placeAt(L, level)
		switch {
		case !ok:
			return "", false
		case p.position() == "": // a Go function, such as try
			continue
		}
		paths, complete := in.written[p.fn.Proto.SourceName][p.line]
		for _, path := range paths {
			if isNil(arguments, path) {
				return dotted(path), false
			}
			complete = complete && len(path) > 1
		}
		return "", complete
	}
}

func isNil(v lua.LValue, path []lua.LValue) bool {
	for _, key := range path {
		t, ok := v.(*lua.LTable)
		if !ok {
			return false
		}
		v = t.RawGet(key)
	}
	return v == lua.LNil
}

// dotted joins a path, without operators and positions.
func dotted(path []lua.LValue) string {
	var names []string
	for _, key := range path {
		if name, ok := key.(lua.LString); ok && !strings.HasPrefix(string(name), "$") {
			names = append(names, string(name))
		}
	}
	return strings.Join(names, ".")
}
