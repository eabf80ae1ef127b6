package vm

import (
	"slices"
	"sort"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/runtime/engine/compile"
)

// Level is a Lua function on the stack of a task, as a debugger shows it. It may be
// used while the lock is held and the task does not go on.
type Level struct {
	File     string
	Line     int
	Function string // that it is in, for people; "" outside of functions
	th       *lua.LState
	place
}

// Variable is a variable of a function, with its value.
type Variable struct {
	Name  string
	Value lua.LValue
	Set   func(lua.LValue) // nil where it cannot be changed
}

// Position returns where a thread is, and whether the instruction is the first one of its line; the line is 0 when a
// Go function runs.
func Position(L *lua.LState) (file string, line int, first bool) {
	p, ok := placeAt(L, 0)
	if !ok || p.line <= 0 {
		return "", 0, false
	}
	positions, pc := p.fn.Proto.DbgSourcePositions, p.pc
	if p.fn.Proto.LineDefined == 0 && pc == len(positions)-1 { // the return that ends each file
		return "", 0, false
	}
	return p.fn.Proto.SourceName, p.line, pc == 0 || compile.Line(positions[pc-1]) != p.line
}

// Levels returns at most so many of the Lua functions that a thread is inside of, innermost first, across protected
// calls and coroutines.
func Levels(L *lua.LState, most int) (levels []*Level) {
	for ; L != nil && len(levels) < most; L = outside(L) {
		stack(L, 0, func(p place) bool {
			if p.line > 0 {
				l := &Level{File: p.fn.Proto.SourceName, Line: p.line, th: L, place: p}
				if first := p.fn.Proto.LineDefined; first > 0 {
					l.Function = "the function of line " + strconv.Itoa(first)
				}
				levels = append(levels, l)
			}
			return len(levels) < most
		})
	}
	return levels
}

// Depth returns how many functions a thread is inside of.
func Depth(L *lua.LState) (n int) {
	for ; L != nil; L = outside(L) {
		n += sort.Search(maxValues, func(level int) bool {
			_, more := L.GetStack(level)
			return !more
		})
	}
	return n
}

// outside returns the thread that waits for the code on L to end, nil for none.
func outside(L *lua.LState) *lua.LState {
	if owner := ownerOf(L); owner != nil {
		return owner
	}
	return L.Parent
}

// Locals returns the local variables in the order of their declarations. A later one hides earlier ones of its name.
func (l *Level) Locals() (list []Variable) {
	for i := 1; compile.LocalName(l.fn.Proto, i-1, l.pc) != ""; i++ {
		name, v := l.th.GetLocal(l.dbg, i)
		if !strings.HasPrefix(name, "(") { // of a loop
			list = append(list, Variable{name, v, func(v lua.LValue) { l.th.SetLocal(l.dbg, i, v) }})
		}
	}
	return list
}

// Upvalues returns the variables of the enclosing functions.
func (l *Level) Upvalues() (list []Variable) {
	for i, up := range l.fn.Upvalues {
		list = append(list, Variable{l.fn.Proto.DbgUpvalues[i], up.Value(), up.SetValue})
	}
	return list
}

// Globals returns the table of global variables.
func (l *Level) Globals() *lua.LTable { return l.fn.Env }

// variable finds a variable by its name.
func (l *Level) variable(name string) (Variable, bool) {
	for _, v := range slices.Backward(append(l.Upvalues(), l.Locals()...)) {
		if v.Name == name {
			return v, true
		}
	}
	return Variable{}, false
}

// evaluated is the name of code that a debugger evaluates.
const evaluated = "(debugger)"

func expression(code string) (*lua.FunctionProto, error) {
	code = "return " + code
	proto, err := prototype([]byte(code), strings.NewReader(code), evaluated, nil)
	if err != nil {
		return nil, SyntaxError(evaluated, []byte(code), err)
	}
	return proto, nil
}

// CheckExpression returns an error if code is not an expression.
func CheckExpression(code string) error {
	_, err := expression(code)
	return err
}

// Evaluate runs an expression or statements on behalf of the stopped thread L, with
// the variables of the level.
func (l *Level) Evaluate(L *lua.LState, code string) ([]lua.LValue, error) {
	proto, err := expression(code)
	if err != nil {
		if proto, err = prototype([]byte(code), strings.NewReader(code), evaluated, nil); err != nil {
			return nil, SyntaxError(evaluated, []byte(code), err)
		}
	}
	fn := L.NewFunctionFromProto(proto)
	fn.Env = l.environment(L)
	values, caught := Try(L, fn)
	if caught != nil {
		return nil, caught.failure()
	}
	return values, nil
}

// failure returns what was raised, as an error.
func (c *Caught) failure() error {
	if err := c.Err(); err != nil {
		return err
	}
	return fault.Of(&fault.RuntimeError{}, "%s", errorText(c.Value))
}

// environment returns a table of the level's variables that falls back to the globals.
func (l *Level) environment(L *lua.LState) *lua.LTable {
	env, meta := L.NewTable(), L.NewTable()
	meta.RawSetString("__index", L.NewFunction(func(L *lua.LState) int {
		if v, ok := l.variable(L.Get(2).String()); ok {
			return Push(L, v.Value)
		}
		return Push(L, L.GetTable(l.Globals(), L.Get(2)))
	}))
	meta.RawSetString("__newindex", L.NewFunction(func(L *lua.LState) int {
		if v, ok := l.variable(L.Get(2).String()); ok {
			v.Set(L.Get(3))
		} else {
			L.SetTable(l.Globals(), L.Get(2), L.Get(3))
		}
		return 0
	}))
	env.Metatable = meta
	return env
}

// Elsewhere runs f on another thread on behalf of L, whose registers it leaves alone.
func Elsewhere(L *lua.LState, f func(L *lua.LState)) error {
	_, caught := Try(L, L.NewFunction(func(L *lua.LState) int {
		f(L)
		return 0
	}))
	if caught != nil {
		return caught.failure()
	}
	return nil
}

// RaisedText returns the text of an uncaught value.
func RaisedText(v lua.LValue) string {
	if t, ok := v.(*lua.LTable); ok {
		return (&Printer{Depth: 2, Items: 20, Width: 80, Size: 600, OneLine: true, Secrets: true}).Text(t)
	}
	return errorText(v)
}

// Waiting returns the number of tasks that wait for something outside of Lua.
func (in *Interp) Waiting() int { return in.blocked }

// tell reports an error to the debugger, unless it only ends what was stopped.
func (g *guard) tell(L *lua.LState, v lua.LValue) {
	if raised := g.in.opt.Raised; raised != nil && g.clock.Context.Err() == nil {
		raised(L, v, g.caught())
	}
}

// caught reports whether code of the script around the guard takes errors.
func (g *guard) caught() bool {
	calls := &g.clock.host().calls
	return g.catches || slices.ContainsFunc(calls.guards[:calls.depth], func(g *guard) bool { return g.catches })
}

// Ended reports whether the task is over.
func (t *Task) Ended() bool {
	select {
	case <-t.done:
		return true
	default: // the main task, which has no channel, is over with the run
		return false
	}
}
