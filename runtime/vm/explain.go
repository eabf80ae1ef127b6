package vm

import (
	"slices"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"transect/client/suggest"
	"transect/runtime/engine/compile"
	"transect/runtime/vm/mistake"
)

// A frame of a thread's stack: the function, and where in its code it is.
type place struct {
	dbg  *lua.Debug
	fn   *lua.LFunction
	pc   int // of a Lua function
	line int // -1 for a Go function
}

func placeAt(L *lua.LState, level int) (p place, ok bool) {
	dbg, ok := L.GetStack(level)
	if !ok {
		return p, false
	}
	fn, err := L.GetInfo("Sfl", dbg, lua.LNil)
	f, isFunction := fn.(*lua.LFunction)
	if err != nil || !isFunction {
		return p, false
	}
	p = place{dbg: dbg, fn: f, line: -1}
	if !f.IsG {
		p.pc, p.line = compile.Instruction(dbg.CurrentLine), compile.Line(dbg.CurrentLine)
	}
	return p, true
}

// position returns what messages raised at a level begin with: "file:12: ".
func (p place) position() string {
	if p.fn == nil || p.fn.IsG || p.line <= 0 {
		return ""
	}
	return p.fn.Proto.SourceName + ":" + strconv.Itoa(p.line) + ": "
}

// Where returns the position of the code that runs at a level of the stack, "file:12: ", or "" when that is not Lua
// code. Level 0 is the running function. The Go functions that operators are compiled to are not levels; a function
// that made a tail call is one, but nothing is known about it.
func Where(L *lua.LState, level int) string {
	running := L
	for i := 0; L != nil; {
		p, ok := placeAt(L, i)
		if !ok {
			return ""
		}
		if i == 0 && L == running || !isOperation(p.fn) {
			if level == 0 {
				return p.position()
			}
			level--
		}
		gone := 0
		switch i++; p.dbg.What {
		case "tail":
			gone = afterTailCalls(L, i) - i
			i += gone
		case "main": // the first function of the thread: its caller is on another
			for ; gone <= level; gone++ {
				if _, ok := L.GetStack(i + gone); !ok {
					break
				}
			}
			L, i = ownerOf(L), 0
		}
		if level < gone {
			return ""
		}
		level -= gone
	}
	return ""
}

// register returns the value in a register of a frame, nil for none.
func (p place) register(L *lua.LState, n int) lua.LValue {
	if name, v := L.GetLocal(p.dbg, n+1); name != "" {
		return v
	}
	return nil
}

// explain rewrites a message that gopher-lua raised. Of a Lua function that runs it has the instruction, so that the
// message names what was nil as Lua 5.1 does.
func (in *Interp) explain(L *lua.LState, message string) string {
	at, ok := placeAt(L, 0)
	if !ok {
		return strings.TrimPrefix(message, " ")
	}
	text, raised := withoutPosition(L, message)
	if !raised {
		return message
	}
	if !at.fn.IsG {
		text, hint := at.explain(L, text)
		in.last = last{message: at.position() + text, hint: hint}
		return in.last.message
	}
	if text == "registry overflow" {
		text = "stack overflow"
	}
	return Where(L, 1) + text
}

// withoutPosition removes the position that gopher-lua put before a message, and
// reports whether there was one.
func withoutPosition(L *lua.LState, message string) (string, bool) {
	for level := range 64 { // the innermost Lua function is what it names
		p, ok := placeAt(L, level)
		if !ok {
			break
		}
		if !p.fn.IsG {
			prefix := p.fn.Proto.SourceName + ":" + strconv.Itoa(p.dbg.CurrentLine) + ": "
			return strings.CutPrefix(message, prefix)
		}
	}
	return strings.CutPrefix(message, " ")
}

// explain describes why an instruction failed, in the words of Lua 5.1.
func (p place) explain(L *lua.LState, text string) (message, hint string) {
	at := compile.At(p.fn.Proto, p.pc)
	switch {
	case text == "attempt to call a non-function object":
		if at.Op == lua.OP_TFORLOOP {
			kind := "nil"
			if v := p.register(L, at.A); v != nil {
				kind = v.Type().String()
			}
			return typeError("call", "", kind), mistake.Iterator
		}
		return p.failure(L, "call", at.A, ""), ""
	case strings.HasPrefix(text, "attempt to index a non-table object("):
		kind, _, _ := strings.Cut(strings.TrimPrefix(text, "attempt to index a non-table object("), ")")
		object := at.B
		if at.Op == lua.OP_SETTABLE || at.Op == lua.OP_SETTABLEKS {
			object = at.A
		}
		if at.Op == lua.OP_GETGLOBAL || at.Op == lua.OP_SETGLOBAL {
			return "attempt to index a " + kind + " value", ""
		}
		return p.failure(L, "index", object, kind), p.zeroHint(L, object)
	case strings.HasPrefix(text, "cannot perform "):
		return p.arithmetic(L, at, text)
	case text == "__unm undefined":
		return p.failure(L, "perform arithmetic on", at.B, ""), ""
	case text == "__len undefined":
		return p.failure(L, "get length of", at.B, ""), ""
	case strings.HasPrefix(text, "attempt to compare "):
		a, b, _ := strings.Cut(strings.TrimPrefix(text, "attempt to compare "), " with ")
		if a == b {
			return "attempt to compare two " + a + " values", ""
		}
	case strings.HasPrefix(text, "too many recursions in "):
		return "loop in " + strings.TrimPrefix(text, "too many recursions in "), ""
	case text == "registry overflow":
		return "stack overflow", ""
	}
	if loop, ok := loopErrors[text]; ok {
		return loop, ""
	}
	return text, ""
}

var loopErrors = map[string]string{
	"for statement init must be a number":  "'for' initial value must be a number",
	"for statement limit must be a number": "'for' limit must be a number",
	"for statement step must be a number":  "'for' step must be a number",
}

var loopParts = []string{"'for' initial value must be a number", "'for' limit must be a number",
	"'for' step must be a number"}

// arithmetic explains which operand of an operation is not a number.
func (p place) arithmetic(L *lua.LState, at compile.Operands, text string) (message, hint string) {
	if which, ok := compile.CountsLoop(p.fn.Proto, p.pc); ok {
		return loopParts[which], ""
	}
	_, types, _ := strings.Cut(text, " between ")
	a, b, _ := strings.Cut(types, " and ")
	operand, kind := at.B, a
	if a == "number" {
		operand, kind = at.C, b
	}
	return p.failure(L, "perform arithmetic on", operand, kind), ""
}

// failure returns the message about a value in a register, or about a constant, that is of the wrong type. kind, if
// not "", is the type it must have to be the one.
func (p place) failure(L *lua.LState, what string, register int, kind string) string {
	v, constant := compile.Constant(p.fn.Proto, register)
	if !constant {
		v = p.register(L, register)
	}
	name := ""
	if v != nil && (kind == "" || v.Type().String() == kind) {
		kind = v.Type().String()
		if !constant {
			name = compile.Name(p.fn.Proto, p.pc, register)
		}
	}
	if kind == "" {
		kind = "nil"
	}
	return typeError(what, name, kind)
}

func typeError(what, name, kind string) string {
	if name != "" {
		return "attempt to " + what + " " + name + " (a " + kind + " value)"
	}
	return "attempt to " + what + " a " + kind + " value"
}

// zeroHint returns the hint for the element 0 of a list.
func (p place) zeroHint(L *lua.LState, register int) string {
	if compile.ReadsZero(p.fn.Proto, p.pc, register) {
		return mistake.Zero
	}
	return ""
}

// failOperand raises that an argument of one of our operations is of the wrong type,
// and names it as the code that called does.
func failOperand(L *lua.LState, what, event string, argument int, v lua.LValue) {
	name, hint := "", ""
	caller, ok := placeAt(L, 1)
	if ok && !caller.fn.IsG {
		at := compile.At(caller.fn.Proto, caller.pc)
		register := at.A + argument
		if at.Op != lua.OP_CALL {
			register = []int{at.B, at.C}[min(argument, 2)-1]
		}
		if which, loop := compile.CountsLoop(caller.fn.Proto, caller.pc); loop {
			L.RaiseError("%s", loopParts[which])
		}
		if _, constant := compile.Constant(caller.fn.Proto, register); !constant {
			name = compile.Name(caller.fn.Proto, caller.pc, register)
		}
		if text, is := v.(lua.LString); is && len(text) > 0 {
			hint = mistake.Arithmetic(event)
		}
	}
	message := typeError(what, name, v.Type().String())
	if in := Of(L); hint != "" {
		in.last = last{message: caller.position() + message, hint: hint}
	}
	L.RaiseError("%s", message)
}

// global returns the value of a global, or of a session's local.
func (in *Interp) global(name string) lua.LValue {
	if in.lasting != nil {
		if v := in.lasting.RawGetString(name); v != lua.LNil {
			return v
		}
	}
	return in.main.G.Global.RawGetString(name)
}

// hint explains the message of an error that Lua raised, or is "".
func (in *Interp) hint(message string, frames []Frame) string {
	if message == in.last.message && in.last.hint != "" {
		return in.last.hint
	}
	if m := nilGlobal().FindStringSubmatch(message); m != nil {
		return in.suggestGlobal(m[1], frames)
	}
	if m := nilMember().FindStringSubmatch(message); m != nil {
		return mistake.Member(m[1])
	}
	return mistake.Message(message)
}

// suggestGlobal returns the hint for a global that is nil: the nearest global,
// local or module.
func (in *Interp) suggestGlobal(name string, frames []Frame) string {
	if hint := mistake.Global(name); hint != "" {
		return hint
	}
	names := in.Loaders()
	if slices.Contains(names, name) && in.lasting == nil {
		return `write local ` + name + ` = require("` + name + `") before it`
	}
	for _, t := range []*lua.LTable{in.main.G.Global, in.lasting} {
		if t != nil {
			t.ForEach(func(k, _ lua.LValue) { names = append(names, k.String()) })
		}
	}
	if len(frames) > 0 {
		names = append(names, in.locals[frames[0].File]...)
	}
	names = slices.DeleteFunc(names, func(k string) bool { return k == name || strings.HasPrefix(k, "(") })
	return suggest.Hint(name, names)
}

// stack visits the functions of a thread's stack, from a level on, until visit
// is false. The virtual machine counts a level for each tail call, about which
// nothing is known: those are skipped.
func stack(L *lua.LState, level int, visit func(p place) bool) {
	for {
		p, ok := placeAt(L, level)
		if !ok || !visit(p) || p.dbg.What == "main" {
			return
		}
		level++
		if p.dbg.What == "tail" {
			level = afterTailCalls(L, level)
		}
	}
}

// afterTailCalls returns the level of the next function after one that was tail
// called: the levels between seem to be the outermost function.
func afterTailCalls(L *lua.LState, level int) int {
	outermost := func(level int) bool {
		dbg, ok := L.GetStack(level)
		if !ok {
			return false
		}
		_, err := L.GetInfo("S", dbg, lua.LNil)
		return err == nil && dbg.What == "main"
	}
	const few = 32
	for next := level; next < level+few; next++ {
		if !outermost(next) {
			if _, ok := L.GetStack(next); !ok && next > level {
				return next - 1 // the outermost function itself
			}
			return next
		}
	}
	step := few
	for ; outermost(level + step); step *= 2 {
	}
	low, high := level, level+step // what is at high is another function, or nothing
	for low+1 < high {
		if middle := (low + high) / 2; outermost(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	if _, ok := L.GetStack(high); !ok {
		return low // the outermost function itself
	}
	return high
}
