package vm

import (
	"bytes"
	"slices"

	lua "github.com/yuin/gopher-lua"

	"transect/runtime/engine/compile"
)

// line calls Options.Line with where the running thread is.
func (c *clock) line() {
	if p, ok := placeAt(c.in.main.G.CurrentThread, 0); ok && p.line > 0 {
		c.in.opt.Line(p.fn.Proto.SourceName, p.line)
	}
}

// Lines lists the lines of a script that hold code, in order; none when it
// does not compile.
func Lines(name string, code []byte) []int {
	code = plainCode(code)
	proto, err := prototype(code, bytes.NewReader(code), name, nil)
	if err != nil {
		return nil
	}
	lines := codeLines(proto)
	slices.Sort(lines)
	return slices.Compact(lines)
}

// codeLines leaves out the return the compiler puts at the end of each function.
func codeLines(proto *lua.FunctionProto) []int {
	var lines []int
	for _, position := range proto.DbgSourcePositions[:max(len(proto.DbgSourcePositions)-1, 0)] {
		lines = append(lines, compile.Line(position))
	}
	for _, inner := range proto.FunctionPrototypes {
		lines = append(lines, codeLines(inner)...)
	}
	return slices.DeleteFunc(lines, func(n int) bool { return n <= 0 })
}
