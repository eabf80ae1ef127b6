package compile

import (
	"slices"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
)

// block is a scope of locals and labels.
type block struct {
	outer    *block
	loop     bool // break leaves it
	level    int  // locals that were active when it began
	captured bool // a closure refers to one of its locals
	exits    int  // jumps out that were pending when it began
	labels   map[string]label
}

type label struct {
	target, level, line int
	active              []*lua.DbgLocalInfo
}

// exit is a break or a goto whose target is not known yet.
type exit struct {
	label  string // "" for break
	line   int
	list   int // the jump
	pc     int
	level  int // locals that are active both there and in the current block
	closes int // lowest local to close on the way, -1 for none
}

// trampoline closes locals on the way of a jump.
type trampoline struct {
	list, closes, target int
}

func (f *function) openBlock(loop bool) {
	f.block = &block{outer: f.block, loop: loop, level: len(f.active), exits: len(f.exits)}
}

// capture notes that a closure refers to a local.
func (f *function) capture(register int) {
	b := f.block
	for b.level > register {
		b = b.outer
	}
	b.captured = true
}

// closeBlock ends the scope of locals.
func (f *function) closeBlock() {
	b := f.block
	if b.captured && b.outer != nil {
		f.emit(abc(lua.OP_CLOSE, b.level, 0, 0))
	}
	f.forget(b.level)
	f.block = b.outer
	pending := f.exits[:b.exits]
	for _, x := range f.exits[b.exits:] {
		if !f.resolve(b, x) {
			pending = append(pending, x)
		}
	}
	f.exits = pending
}

// exit emits a break, or a goto with the name of its label.
func (f *function) exit(label string, line int) {
	list := f.jump()
	f.exits = append(f.exits, &exit{label, line, list, f.pc(), len(f.active), -1})
}

// resolve aims a jump out of a block that ends, if its target is known now.
func (f *function) resolve(b *block, x *exit) bool {
	target, found := b.labels[x.label]
	if found && x.pc <= target.target && target.level > x.level {
		f.line = x.line
		f.fail("<goto %s> at line %d jumps into the scope of local '%s'", x.label, x.line, target.active[x.level].Name)
	}
	if x.label == "" && b.loop {
		target, found = label{target: f.mark(), level: b.level}, true
	}
	closes := x.closes
	if b.captured {
		closes = b.level
		if found {
			closes = target.level
		}
	}
	switch {
	case !found:
		x.closes, x.level = closes, min(x.level, b.level)
		if b.outer != nil {
			return false
		}
		f.line = x.line
		if x.label == "" {
			f.fail("no loop to break near 'break'")
		}
		f.fail("no visible label '%s' for <goto> at line %d", x.label, x.line)
	case closes >= 0:
		f.trampolines = append(f.trampolines, trampoline{x.list, min(closes, target.level), target.target})
	default:
		f.patchTo(x.list, target.target)
	}
	return true
}

// label declares a label. One with nothing after it is outside of the block's locals.
func (f *function) label(n *ast.LabelStmt, last bool) {
	if earlier, ok := f.block.labels[n.Name]; ok {
		f.fail("label '%s' already defined on line %d", n.Name, earlier.line)
	}
	if f.block.labels == nil {
		f.block.labels = map[string]label{}
	}
	level := len(f.active)
	if last {
		level = f.block.level
	}
	f.block.labels[n.Name] = label{f.mark(), level, n.Line(), slices.Clone(f.active[:level])}
}

// patchTrampolines puts the code for jumps that close locals behind the function.
func (f *function) patchTrampolines() {
	for _, t := range f.trampolines {
		f.patchToHere(t.list)
		f.emit(abc(lua.OP_CLOSE, t.closes, 0, 0))
		f.patchTo(f.jump(), t.target)
	}
}
