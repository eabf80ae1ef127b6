package vm

import lua "github.com/yuin/gopher-lua"

// Caught is what a protected call raised.
type Caught struct{ thrown *thrown }

// Value is what was raised.
func (c *Caught) Value() lua.LValue { return c.thrown.value }

// Err is the Go error that was raised, nil when a script raised a value of its own.
func (c *Caught) Err() error { return ErrorOf(c.thrown.value) }

// Again raises it once more, unchanged. It does not return.
func (c *Caught) Again(L *lua.LState) { again(L, c.thrown) }

// Try calls fn and returns its values, or what it raised. A call that was
// cancelled raises too: look at the context before going on after one.
func Try(L *lua.LState, fn lua.LValue, args ...lua.LValue) ([]lua.LValue, *Caught) {
	c := clockOf(L)
	values, failure := c.in.protect(L, c, fn, args, nil)
	if failure != nil {
		return nil, &Caught{failure}
	}
	return values, nil
}
