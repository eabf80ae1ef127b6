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
	code = plainCode(code)
	proto, err := prototype(&source{bytes.NewReader(code), Context(L)}, name, func(chunk []ast.Stmt) {
		in.warnOfNames(name, code, chunk)
		if change != nil {
			change(chunk)
		}
	})
	if Context(L).Err() != nil {
		return nil, stopped(Context(L))
	}
	if err != nil {
		return nil, syntaxError(name, code, err)
	}
	if len(in.sources) < maxSources || in.sources[name] != nil {
		in.sources[name] = code
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
		walk(reflect.ValueOf(chunk), 0, func(v reflect.Value) {
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
			in.opt.Logger.Warn(fmt.Sprintf("%s:%d: %s is not defined and reads as nil (%s)", file, line, name, mistake.Global(name)))
		}
	}
}

// plainCode is code without a byte order mark, and with a first line for the
// shell as a comment.
func plainCode(code []byte) []byte {
	code = bytes.TrimPrefix(code, []byte("\xef\xbb\xbf"))
	if bytes.HasPrefix(code, []byte("#")) {
		code = append([]byte("--"), code...)
	}
	return code
}

// prototype parses, rewrites and compiles a chunk.
func prototype(code io.Reader, name string, change func([]ast.Stmt)) (*lua.FunctionProto, error) {
	chunk, err := parse.Parse(code, name)
	if err != nil {
		return nil, err
	}
	if change != nil {
		change(chunk)
	}
	if !walk(reflect.ValueOf(&chunk).Elem(), 0, rewrite) {
		return nil, errTooDeep
	}
	proto, err := lua.Compile(chunk, name)
	if err == nil && longName(proto) {
		return nil, errLongName
	}
	return proto, err
}

// maxName is the longest name of a global or a field that code may spell out: it
// is hashed whenever it is used, within one instruction.
const maxName = 16 << 10

var errLongName = fmt.Errorf("a name in the code is longer than %d bytes", maxName)

// longName reports whether a function, or one inside it, uses a name that is too
// long.
func longName(proto *lua.FunctionProto) bool {
	const constant = 0x100 // marks an operand that is a constant
	long := map[uint32]bool{}
	for i, v := range proto.Constants {
		if text, ok := v.(lua.LString); ok && len(text) > maxName {
			long[uint32(i)] = true
		}
	}
	for _, inst := range proto.Code {
		if len(long) == 0 {
			break
		}
		at := inst >> 9 & 0x1ff // operand C
		switch int(inst >> 26) {
		case lua.OP_GETGLOBAL, lua.OP_SETGLOBAL:
			if long[inst&0x3ffff] {
				return true
			}
			continue
		case lua.OP_SETTABLEKS:
			at = inst & 0x1ff
		case lua.OP_GETTABLEKS, lua.OP_SELF:
		default:
			continue
		}
		if at&constant != 0 && long[at&^constant] {
			return true
		}
	}
	return slices.ContainsFunc(proto.FunctionPrototypes, longName)
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

// maxDepth is how deep code may be nested, in nodes of its syntax tree: the
// compiler is recursive, and a Go stack that overflows ends the process.
const maxDepth = 20_000

var errTooDeep = errors.New("the code is nested too deeply")
