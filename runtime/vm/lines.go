package vm

import (
	"bytes"
	"slices"

	lua "github.com/yuin/gopher-lua"
)

// line calls Options.Line with where the running thread is.
func (c *clock) line() {
	th := c.in.main.G.CurrentThread
	dbg, ok := th.GetStack(0)
	if !ok {
		return
	}
	if _, err := th.GetInfo("Sl", dbg, lua.LNil); err == nil && dbg.CurrentLine > 0 {
		c.in.opt.Line(dbg.Source, dbg.CurrentLine)
	}
}

// Lines lists the lines of a script that hold code, in order; none when it
// does not compile.
func Lines(name string, code []byte) []int {
	proto, err := prototype(bytes.NewReader(plainCode(code)), name, nil)
	if err != nil {
		return nil
	}
	lines := codeLines(proto)
	slices.Sort(lines)
	return slices.Compact(lines)
}

// codeLines leaves out the return the compiler puts at the end of each function.
func codeLines(proto *lua.FunctionProto) []int {
	lines := slices.Clone(proto.DbgSourcePositions[:max(len(proto.DbgSourcePositions)-1, 0)])
	for _, inner := range proto.FunctionPrototypes {
		lines = append(lines, codeLines(inner)...)
	}
	return slices.DeleteFunc(lines, func(n int) bool { return n <= 0 })
}
