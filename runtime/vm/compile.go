package vm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"

	"transect/runtime/engine/compile"
	"transect/runtime/vm/mistake"
)

// Compile compiles code to a function. A first line that starts with # is
// skipped.
func (in *Interp) Compile(L *lua.LState, name string, code []byte) (*lua.LFunction, error) {
	return compiled(L, name, code, nil)
}

// compiled compiles a chunk after change, if not nil, has rewritten it.
func compiled(L *lua.LState, name string, code []byte, change func([]ast.Stmt)) (*lua.LFunction, error) {
	in := Of(L)
	if in.opt.Code != nil {
		in.opt.Code(name, code)
	}
	code = plainCode(code)
	in.note(len(code)) // the text may be a single constant
	proto, err := prototype(code, &source{bytes.NewReader(code), Context(L)}, name, func(chunk []ast.Stmt) {
		in.warnOfNames(name, code, chunk)
		in.noteFilters(name, code, chunk)
		in.noteArguments(name, chunk)
		if change != nil {
			change(chunk)
		}
	})
	if Context(L).Err() != nil {
		return nil, stopped(Context(L))
	}
	if err != nil {
		return nil, SyntaxError(name, code, err)
	}
	if len(in.locals) < maxChunks {
		in.locals[name] = localNames(proto, nil)
	}
	return L.NewFunctionFromProto(proto), nil
}

// warnOfNames warns of names of other languages that read as nil without an
// error, such as True, unless the code defines them.
func (in *Interp) warnOfNames(file string, code []byte, chunk []ast.Stmt) {
	for _, name := range mistake.Silent {
		if !bytes.Contains(code, []byte(name)) || in.global(name) != lua.LNil {
			continue
		}
		line, defined := 0, false
		walk(reflect.ValueOf(chunk), func(v reflect.Value) {
			if v.Kind() != reflect.Pointer {
				return
			}
			switch node := v.Interface().(type) {
			case *ast.IdentExpr:
				if node.Value == name && (line == 0 || node.Line() < line) {
					line = node.Line()
				}
			case *ast.LocalAssignStmt:
				defined = defined || slices.Contains(node.Names, name)
			case *ast.ParList:
				defined = defined || slices.Contains(node.Names, name)
			case *ast.GenericForStmt:
				defined = defined || slices.Contains(node.Names, name)
			case *ast.AssignStmt:
				for _, e := range node.Lhs {
					target, ok := e.(*ast.IdentExpr)
					defined = defined || ok && target.Value == name
				}
			}
		})
		if line > 0 && !defined {
			in.opt.Logger.Warn(fmt.Sprintf("%s:%d: %s is not defined and reads as nil (%s)", file, line, name,
				mistake.Global(name)))
		}
	}
}

// plainCode strips a byte order mark and turns a first line for the shell into
// a comment.
func plainCode(code []byte) []byte {
	code = bytes.TrimPrefix(code, []byte("\xef\xbb\xbf"))
	if bytes.HasPrefix(code, []byte("#")) {
		code = append([]byte("--"), code...)
	}
	return code
}

// prototype parses and compiles a chunk. Code that the parser would read otherwise than
// Lua is refused.
func prototype(code []byte, reader io.Reader, name string, change func([]ast.Stmt)) (*lua.FunctionProto, error) {
	lines, misread := compile.Check(code)
	chunk, err := parse.Parse(reader, name)
	if refused, ok := errors.AsType[*compile.Error](misread); ok {
		if wrong, ok := errors.AsType[*parse.Error](err); !ok || wrong.Pos.Line == parse.EOF ||
			refused.Line <= wrong.Pos.Line {
			return nil, misread
		}
	}
	if err != nil {
		return nil, err
	}
	lines.Place(chunk)
	if change != nil {
		change(chunk)
	}
	return compile.Chunk(chunk, name, operations)
}

// Compile compiles code to what any number of interpreters can make a function of. Its error is that of SyntaxError.
func Compile(name string, code []byte) (*lua.FunctionProto, error) {
	code = plainCode(code)
	proto, err := prototype(code, bytes.NewReader(code), name, nil)
	if err != nil {
		return nil, SyntaxError(name, code, err)
	}
	return proto, nil
}

// Check reports what is wrong with code that does not compile: a *parse.Error or a
// *compile.Error.
func Check(name string, code []byte) error {
	_, err := prototype(code, bytes.NewReader(code), name, nil)
	return err
}

// maxChunks is how many chunks have their locals kept for suggestions.
const maxChunks = 1000

// localNames appends the names of a function's locals and of the functions inside it.
func localNames(proto *lua.FunctionProto, names []string) []string {
	for _, l := range proto.DbgLocals {
		names = append(names, l.Name)
	}
	for _, inner := range proto.FunctionPrototypes {
		names = localNames(inner, names)
	}
	return names
}

// source is the code for the parser. It ends early when the run is cancelled:
// parsing is one Go call, which the clock cannot interrupt.
type source struct {
	code *bytes.Reader
	ctx  context.Context
}

func (s *source) Read(p []byte) (int, error) {
	if s.ctx.Err() != nil {
		return 0, io.EOF
	}
	return s.code.Read(p)
}

// walk calls visit for each value of a syntax tree, innermost first.
func walk(v reflect.Value, visit func(v reflect.Value)) {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return
		}
		walk(v.Elem(), visit)
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanInterface() {
				walk(f, visit)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			walk(v.Index(i), visit)
		}
	}
	visit(v)
}
