// Package compile turns Lua's syntax tree, as gopher-lua parses it, into the
// instructions of gopher-lua's virtual machine.
//
// It follows the design of Lua 5.1's own code generator: one pass, an operand that
// is put into a register as late as possible, jumps as lists that are patched when
// their target is known. Begin reading at function.go and operand.go.
package compile

import (
	"fmt"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
)

// Limits of a function. Lua 5.1 has 60 upvalues, the rest is the same.
const (
	maxLocals    = 200
	maxRegisters = 250
	maxUpvalues  = 255
	maxLevels    = 200     // of nested blocks, functions and expressions
	maxDepth     = 100_000 // of operators and calls that follow one another
	maxName      = 16 << 10
)

// Runtime are the functions that compiled code calls for operations that the
// virtual machine does otherwise than Lua 5.1, or without limits.
type Runtime struct {
	Number    func(text string) (lua.LNumber, bool) // reads a number of the source
	Concat    *lua.LFunction                        // joins its arguments as .. does
	Modulo    *lua.LFunction
	Power     *lua.LFunction
	Exponent  func(a, b lua.LNumber) lua.LNumber // what Power computes
	GetGlobal *lua.LFunction                     // reads the global that is named, in the caller's environment
	SetGlobal *lua.LFunction
}

// Error is code that does not compile.
type Error struct {
	Line    int
	Message string
}

func (e *Error) Error() string { return fmt.Sprintf("%d: %s", e.Line, e.Message) }

// Chunk compiles a chunk to a function with any number of arguments.
func Chunk(stmts []ast.Stmt, name string, rt *Runtime) (proto *lua.FunctionProto, err error) {
	c := &chunk{name: name, runtime: rt}
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *Error:
			err = p
		default:
			panic(p)
		}
	}()
	f := newFunction(c, nil, &ast.ParList{HasVargs: true})
	if len(stmts) > 0 {
		last := stmts[len(stmts)-1]
		f.proto.LastLineDefined = max(last.Line(), last.LastLine()) + 1
	}
	f.body(stmts)
	return f.proto, c.nameConstants()
}

// chunk is shared by the functions of a chunk.
type chunk struct {
	name    string
	runtime *Runtime
	levels  int
	depth   int
	named   []named // functions that need a template, outer ones later
}

// enter counts a level of nesting that the source spells out.
func (f *function) enter() {
	f.chunk.levels++
	if f.chunk.levels > maxLevels {
		f.fail("chunk has too many syntax levels")
	}
}

func (f *function) leave() { f.chunk.levels-- }

func (f *function) fail(format string, args ...any) {
	panic(&Error{f.line, fmt.Sprintf(format, args...)})
}

// failLimit reports that a function has too much of something.
func (f *function) failLimit(limit int, what string) {
	where := "main function"
	if f.proto.LineDefined > 0 {
		where = fmt.Sprintf("function at line %d", f.proto.LineDefined)
	}
	f.fail("%s has more than %d %s", where, limit, what)
}

// The positions that the virtual machine reports hold the line and the instruction:
// a message about an operand names it by looking at the instruction.
const lineBits = 24

func position(line, pc int) int { return pc<<lineBits | min(max(line, 0), 1<<lineBits-1) }

// Line returns the line of a position.
func Line(position int) int {
	if position < 0 {
		return position
	}
	return position & (1<<lineBits - 1)
}

// Instruction returns the index of the instruction of a position.
func Instruction(position int) int { return position >> lineBits }
