package stdlib

import (
	"context"
	"os"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/runtime/module"
	"transect/runtime/vm"
	"transect/stdlib/lines"
)

// fileLines goes through the lines of the file that the argument path names.
// value makes of a line what the iterator gives, beside its number; nil to
// pass it over.
func fileLines(c *module.Call, value func(L *lua.LState, line string, number int) (lua.LValue, error)) (any, error) {
	operation, name, path := c.Name, c.String("path"), c.In.Path(c.String("path"))
	var f *os.File
	err := c.Blocking(func(context.Context) (err error) { f, err = c.In.Open(path, os.O_RDONLY, 0); return err })
	if err != nil {
		return nil, fileError(c, "path", err)
	}
	closeAtEnd(c.In, f)
	source := lines.New(f)
	return c.L.NewFunction(func(L *lua.LState) int {
		for {
			var line string
			var ok bool
			number := 0
			err := vm.Blocking(L, func(context.Context) (err error) {
				line, ok, err = source.Next()
				number = source.Number()
				return err
			})
			var v lua.LValue
			if err == nil && ok {
				v, err = value(L, line, number)
			}
			if err != nil {
				vm.Raise(L, fault.In(operation, namedFile(name, err)))
			}
			if !ok {
				_ = f.Close() // it was only read
				L.Push(lua.LNil)
				return 1
			}
			if v != nil {
				L.Push(v)
				L.Push(lua.LNumber(number))
				return 2
			}
		}
	}), nil
}

func readLines(c *module.Call) (any, error) {
	return fileLines(c, func(_ *lua.LState, line string, _ int) (lua.LValue, error) { return lua.LString(line), nil })
}
