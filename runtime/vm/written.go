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

// writtenKeys are the keys that filters are written with, by the line of the call; those of a line with
// several such calls are not known.
type writtenKeys map[int][][]lua.LValue

// unknownKeys stand for those of several calls in one line.
var unknownKeys = [][]lua.LValue{{lua.LString(filterKey)}}

// noteFilters notes the keys of the filters in a chunk. A key whose value is nil leaves no trace in a
// table, so that only the source tells that it was meant to be there.
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

// FilterAsWritten compares the arguments of the running call with how its filter is written there. missing
// names a part of it whose value is nil, "" when there is none, or when that cannot be told; known reports
// whether it is written as a table and has all of its parts.
func FilterAsWritten(L *lua.LState, arguments *lua.LTable) (missing string, known bool) {
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
		paths, known := in.written[p.fn.Proto.SourceName][p.line]
		for _, path := range paths {
			if isNil(arguments, path) {
				return dotted(path), false
			}
			known = known && len(path) > 1
		}
		return "", known
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

// dotted is a path without operators and positions.
func dotted(path []lua.LValue) string {
	var names []string
	for _, key := range path {
		if name, ok := key.(lua.LString); ok && !strings.HasPrefix(string(name), "$") {
			names = append(names, string(name))
		}
	}
	return strings.Join(names, ".")
}
