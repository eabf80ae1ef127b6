package vm

import (
	"bytes"
	"reflect"
	"slices"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"
)

// line tells Options.Line where the running thread is.
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
	if bytes.HasPrefix(code, []byte("#")) {
		code = append([]byte("--"), code...)
	}
	chunk, err := parse.Parse(bytes.NewReader(code), name)
	if err != nil {
		return nil
	}
	w := &rewriter{}
	if w.walk(reflect.ValueOf(&chunk).Elem(), 0); w.tooDeep {
		return nil
	}
	proto, err := lua.Compile(chunk, name)
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
