package vm

import (
	"slices"

	lua "github.com/yuin/gopher-lua"
)

// reached returns the values that lead to all others that scripts can reach: globals, and threads with their stacks.
func (in *Interp) reached() []lua.LValue {
	values := []lua.LValue{in.main, in.main.G.Registry, in.errors}
	if in.lasting != nil {
		values = append(values, in.lasting)
	}
	for _, g := range slices.Concat(in.idle, in.idleDeep) {
		values = append(values, g.th)
	}
	return in.root.reached(values)
}

// reached adds what leads to the values of a task and of those it spawned.
func (t *Task) reached(values []lua.LValue) []lua.LValue {
	if t == nil {
		return values
	}
	for _, g := range t.calls.guards {
		values = append(values, g.th)
	}
	for _, th := range []*lua.LState{t.base, t.thread} {
		if th != nil {
			values = append(values, th)
		}
	}
	values = append(values, t.values...)
	if t.own != nil {
		for live := range t.own.live {
			values = live.reached(values)
		}
	}
	return values
}
