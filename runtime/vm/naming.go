package vm

import (
	"slices"
	"strconv"
	"strings"
	"weak"

	lua "github.com/yuin/gopher-lua"

	"transect/client/suggest"
)

// The interpreter says "attempt to index a non-table object(nil)" and not what
// was nil. Which variable or field it was can be read off the instructions of
// the line, as far as only one comes into question.

// protos are the functions compiled so far that are still in use.
type protos struct {
	list []weak.Pointer[lua.FunctionProto]
	tidy int // length at which those out of use are dropped
}

func (p *protos) add(proto *lua.FunctionProto) {
	if len(p.list) >= p.tidy {
		p.list = slices.DeleteFunc(p.list, func(w weak.Pointer[lua.FunctionProto]) bool { return w.Value() == nil })
		p.tidy = max(256, 2*len(p.list))
	}
	p.list = append(p.list, weak.Make(proto))
	for _, inner := range proto.FunctionPrototypes {
		p.add(inner)
	}
}

// of gives the functions of a file.
func (p *protos) of(file string) []*lua.FunctionProto {
	var found []*lua.FunctionProto
	for _, w := range p.list {
		if proto := w.Value(); proto != nil && proto.SourceName == file {
			found = append(found, proto)
		}
	}
	return found
}

const (
	indexed = "attempt to index a non-table object("
	called  = "attempt to call a non-function object"
)

// renamed makes a message of the interpreter's one that names what is wrong.
func (in *Interp) renamed(message string) string {
	if at, text, ok := cutAt(message, indexed); ok {
		kind, key, _ := strings.Cut(text, ") with key '")
		key = strings.TrimSuffix(key, "'")
		if name := in.culprit(at, func(f *function, pc int) (string, bool) { return f.indexes(pc, key, kind) }); name != "" {
			return at + "attempt to index " + name
		}
		return at + "attempt to index a " + kind + " value with key '" + key + "'"
	}
	if at, _, ok := cutAt(message, called); ok {
		if name := in.culprit(at, (*function).calls); name != "" {
			return at + name
		}
		return at + "attempt to call what is no function"
	}
	if at, _, ok := cutAt(message, "__len undefined"); ok {
		return at + "attempt to get the length of what has none"
	}
	if at, _, ok := cutAt(message, "__unm undefined"); ok {
		return at + "attempt to negate what is no number"
	}
	return message
}

// cutAt splits a message behind its place: "file:12: ".
func cutAt(message, phrase string) (at, rest string, ok bool) {
	i := strings.Index(message, phrase)
	if i < 2 || message[i-2:i] != ": " {
		return "", "", false
	}
	return message[:i], message[i+len(phrase):], true
}

// culprit asks each instruction of a line what it would have complained about.
// A variable that is known to hold what cannot be used comes before one that
// may; several of a kind are none.
func (in *Interp) culprit(at string, ask func(f *function, pc int) (name string, sure bool)) string {
	at = strings.TrimSuffix(at, ": ")
	colon := strings.LastIndexByte(at, ':')
	line, err := strconv.Atoi(at[colon+1:])
	if colon < 0 || err != nil {
		return ""
	}
	var sure, perhaps []string
	for _, proto := range in.protos.of(at[:colon]) {
		f := &function{in: in, FunctionProto: proto}
		for pc, n := range proto.DbgSourcePositions {
			if n != line {
				continue
			}
			if name, certain := ask(f, pc); name != "" && certain {
				sure = append(sure, name)
			} else if name != "" {
				perhaps = append(perhaps, name)
			}
		}
	}
	for _, list := range [][]string{sure, perhaps} {
		slices.Sort(list)
		if list = slices.Compact(list); len(list) > 0 {
			if len(list) > 1 {
				return ""
			}
			return list[0]
		}
	}
	return ""
}

// function reads the instructions of a function.
type function struct {
	in *Interp
	*lua.FunctionProto
}

func opcode(i uint32) int { return int(i >> 26) }
func argA(i uint32) int   { return int(i>>18) & 0xff }
func argB(i uint32) int   { return int(i & 0x1ff) }
func argC(i uint32) int   { return int(i>>9) & 0x1ff }
func argBx(i uint32) int  { return int(i & 0x3ffff) }

const constant = 1 << 8 // in B and C: a constant, not a register

// text is an argument that is a text written in the code.
func (f *function) text(pc, arg int) (string, bool) {
	index := arg &^ constant
	if arg&constant == 0 {
		set := f.setter(pc, arg)
		if set < 0 || opcode(f.Code[set]) != lua.OP_LOADK {
			return "", false
		}
		index = argBx(f.Code[set])
	}
	s, ok := f.Constants[index].(lua.LString)
	return string(s), ok
}

// local is the name of the local variable a register holds at an instruction.
func (f *function) local(pc, register int) string {
	for _, l := range f.DbgLocals {
		if l.StartPc <= pc && pc < l.EndPc {
			if register == 0 {
				return l.Name
			}
			register--
		}
	}
	return ""
}

// indexes names what an instruction looks key up in, unless it looks up
// another one.
func (f *function) indexes(pc int, key, kind string) (name string, sure bool) {
	i := f.Code[pc]
	base, k := argB(i), argC(i)
	switch opcode(i) {
	case lua.OP_GETTABLE, lua.OP_GETTABLEKS, lua.OP_SELF:
	case lua.OP_SETTABLE, lua.OP_SETTABLEKS:
		base, k = argA(i), argB(i)
	default:
		return "", false
	}
	if text, ok := f.text(pc, k); ok && text != key {
		return "", false
	}
	return f.named(pc, base, kind)
}

// calls says what is wrong with what an instruction calls.
func (f *function) calls(pc int) (name string, sure bool) {
	switch i := f.Code[pc]; opcode(i) {
	case lua.OP_CALL, lua.OP_TAILCALL:
		if name, sure := f.named(pc, argA(i), ""); name != "" {
			return "attempt to call " + name, sure
		}
	case lua.OP_TFORLOOP:
		return "the for loop has no iterator to go through; for a table it is pairs(t) or ipairs(t)", false
	}
	return "", false
}

// named says what a register holds before an instruction. kind is the type it
// has, or "" when it is known only that it is no function. It is sure of a
// global that still has that type; one that has another is out of the question.
func (f *function) named(pc, register int, kind string) (name string, sure bool) {
	is := "not a function"
	if kind != "" {
		is = "a " + kind + " value"
	}
	if local := f.local(pc, register); local != "" {
		if strings.HasPrefix(local, "(") {
			return "", false
		}
		return "local '" + local + "' (" + is + ")", false
	}
	set := f.setter(pc, register)
	if set < 0 {
		return "", false
	}
	i := f.Code[set]
	switch opcode(i) {
	case lua.OP_GETGLOBAL:
		v, ok := f.value(set)
		if !ok || kind == "" && v.Type() == lua.LTFunction || kind != "" && v.Type().String() != kind {
			return "", false
		}
		return "global '" + f.Constants[argBx(i)].String() + "' (a " + v.Type().String() + " value)", true
	case lua.OP_MOVE:
		return f.named(set, argB(i), kind)
	case lua.OP_GETUPVAL:
		if n := argB(i); n < len(f.DbgUpvalues) {
			return "upvalue '" + f.DbgUpvalues[n] + "' (" + is + ")", false
		}
	case lua.OP_GETTABLE, lua.OP_GETTABLEKS, lua.OP_SELF:
		field, ok := f.text(set, argC(i))
		if !ok {
			return "", false
		}
		what := "field"
		if opcode(i) == lua.OP_SELF {
			what = "method"
		}
		v, known := f.value(set)
		if known && (kind == "" && v.Type() == lua.LTFunction || kind != "" && v.Type().String() != kind) {
			return "", false
		}
		if known {
			is = "a " + v.Type().String() + " value"
		}
		return what + " '" + field + "' (" + is + ")", known
	}
	return "", false
}

// value is what an instruction that reads a global, or a field of one, would
// read now.
func (f *function) value(pc int) (v lua.LValue, known bool) {
	i := f.Code[pc]
	switch opcode(i) {
	case lua.OP_GETGLOBAL:
		return f.in.global(f.Constants[argBx(i)].String()), true
	case lua.OP_GETTABLEKS, lua.OP_SELF:
		if f.local(pc, argB(i)) != "" {
			return nil, false
		}
		set := f.setter(pc, argB(i))
		if set < 0 {
			return nil, false
		}
		in, known := f.value(set)
		table, ok := in.(*lua.LTable)
		key, text := f.text(pc, argC(i))
		if !known || !ok || !text || table.Metatable != lua.LNil {
			return nil, false
		}
		return table.RawGetString(key), true
	}
	return nil, false
}

// setter finds the instruction that last set a register, in the order they
// stand; -1 when it is not clear.
func (f *function) setter(pc, register int) int {
	for pc--; pc >= 0; pc-- {
		i := f.Code[pc]
		a := argA(i)
		switch opcode(i) {
		case lua.OP_JMP, lua.OP_TEST, lua.OP_TESTSET, lua.OP_EQ, lua.OP_LT, lua.OP_LE, lua.OP_FORLOOP, lua.OP_FORPREP, lua.OP_TFORLOOP, lua.OP_MOVEN:
			return -1 // it depends on where the script came from
		case lua.OP_SETGLOBAL, lua.OP_SETUPVAL, lua.OP_SETTABLE, lua.OP_SETTABLEKS, lua.OP_RETURN, lua.OP_SETLIST, lua.OP_CLOSE, lua.OP_NOP:
			continue
		case lua.OP_CALL, lua.OP_VARARG, lua.OP_LOADNIL:
			if a <= register {
				return pc
			}
		case lua.OP_SELF:
			if register == a+1 {
				return -1
			}
		}
		if a == register {
			return pc
		}
	}
	return -1
}

// global is the value of a global, or of a lasting local of the prompt.
func (in *Interp) global(name string) lua.LValue {
	if in.lasting != nil {
		if v := in.lasting.RawGetString(name); v != lua.LNil {
			return v
		}
	}
	return in.main.G.Global.RawGetString(name)
}

// likeGlobal says what a name that is nil was probably meant to be: another
// global, a local of the file, or a module.
func (in *Interp) likeGlobal(name string, frames []Frame) string {
	if _, module := in.loaders[name]; module && in.lasting == nil {
		return `write local ` + name + ` = require("` + name + `") before it`
	}
	var known []string
	for module := range in.loaders {
		known = append(known, module)
	}
	note := func(t *lua.LTable) {
		t.ForEach(func(k, v lua.LValue) {
			if k, ok := k.(lua.LString); ok {
				known = append(known, string(k))
			}
		})
	}
	note(in.main.G.Global)
	if in.lasting != nil {
		note(in.lasting)
	}
	if len(frames) > 0 {
		for _, proto := range in.protos.of(frames[0].File) {
			for _, local := range proto.DbgLocals {
				known = append(known, local.Name)
			}
		}
	}
	known = slices.DeleteFunc(known, func(k string) bool { return k == name || strings.HasPrefix(k, "(") })
	return suggest.Hint(name, known)
}
