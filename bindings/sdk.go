// Package bindings exposes the client to Lua: the module sdk, a module for each manager, resources,
// iterators. Names and arguments of operations come from the client's declarations; none are repeated here.
package bindings

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"slices"

	lua "github.com/yuin/gopher-lua"

	"transect/client"
	"transect/client/declare"
	"transect/client/fault"
	"transect/client/suggest"
	"transect/runtime/module"
	"transect/runtime/vm"
)

// Examples are the examples of the operations, and of the modules made here; see package examples.
//
//go:embed examples/*.lua
var Examples embed.FS

// Connect opens a connection: with the command line's settings when own is nil, otherwise with the settings of a
// script.
type Connect func(ctx context.Context, own *client.Settings) (*client.Client, error)

// Extension returns a module that uses the client, such as ingest, or completes the binding and returns nil.
type Extension func(*Binding) *module.Module

// Open makes sdk and every manager available to require. It connects to the platform when a script first uses
// an operation: a script that only prints its help needs no connection.
func Open(in *vm.Interp, connect Connect, further ...Extension) *Binding {
	b := &Binding{connect: connect}
	modules := []*module.Module{{
		Name: "sdk",
		Doc:  "The connection to the platform: one attribute per manager.",
		Open: func(L *lua.LState, module *lua.LTable) { b.fill(L, module, b.Command) },
	}}
	for _, m := range client.Managers() {
		for _, name := range append([]string{m.Name}, m.Aliases...) {
			modules = append(modules, &module.Module{Name: name, Doc: m.Doc, Open: func(L *lua.LState, module *lua.LTable) {
				b.fillManager(L, module, m.Name, b.Command)
			}})
		}
	}
	modules = append(modules, queryModule)
	for _, of := range further {
		if m := of(b); m != nil {
			modules = append(modules, m)
		}
	}
	module.Preload(in, modules...)
	return b
}

// Modules lists the modules of this package other than sdk and the managers, for documentation.
func Modules() []*module.Module {
	return []*module.Module{queryModule.Declare()}
}

// Binding is the client of one interpreter.
type Binding struct {
	connect Connect
	shared  *client.Client // the command line's connection, once it is open
	dialing *dialing       // connection attempt in progress, or nil

	// Around are called in place of each operation, without the lock, the first one outermost. Each calls next, which
	// carries it out.
	Around []func(ctx context.Context, call Call, next func(context.Context) error) error
}

// Reconnect makes the next operation open a new connection, which operations looked up before also use. Call
// it only while no Lua runs.
func (b *Binding) Reconnect() { b.shared = nil }

// connection returns a client, connecting first if necessary.
type connection func(L *lua.LState) *client.Client

// Command returns the connection of the command line, opened on first use, once for all concurrent tasks.
func (b *Binding) Command(L *lua.LState) *client.Client {
	for b.shared == nil {
		d := b.dialing
		if d != nil {
			_, err := vm.WaitFor(L, platform("sdk.connect"), d.done)
			vm.Must(L, err)
			if cancelled := (*fault.CancelledError)(nil); errors.As(d.err, &cancelled) {
				continue // the task that dialled, not this one
			}
		} else {
			d = &dialing{done: make(chan struct{})}
			b.dialing = d
			b.dialOnce(L, d)
		}
		vm.Must(L, d.err)
	}
	return b.shared
}

// dialing is an attempt to connect.
type dialing struct {
	done chan struct{}
	err  error // once done
}

func (b *Binding) dialOnce(L *lua.LState, d *dialing) {
	d.err = fault.Of(&fault.CancelledError{}, "stopped") // unless it gets to its end
	defer func() {
		b.dialing = nil
		close(d.done)
	}()
	b.shared, d.err = b.dial(L, nil)
}

// dial connects, with the settings of the command line when own is nil.
func (b *Binding) dial(L *lua.LState, own *client.Settings) (c *client.Client, err error) {
	err = vm.BlockingFor(L, platform("sdk.connect"), func(ctx context.Context) (err error) {
		c, err = b.connect(ctx, own)
		return err
	})
	return c, err
}

// fill adds the attributes of a connection to a table. Tables of managers are created on first access.
func (b *Binding) fill(L *lua.LState, sdk *lua.LTable, open connection) {
	sdk.RawSetString("managers", L.NewFunction(func(L *lua.LState) int {
		return vm.Push(L, vm.ToLua(L, managerNames()))
	}))
	sdk.RawSetString("connect", L.NewFunction(func(L *lua.LState) int {
		own, err := settings(L)
		vm.Must(L, err)
		c, err := b.dial(L, own)
		vm.Must(L, err)
		t := L.NewTable()
		b.fill(L, t, func(*lua.LState) *client.Client { return c })
		return vm.Push(L, t)
	}))
	sdk.RawSetString("Icons", iconTable(L))
	sdk.RawSetString("Resource", L.NewFunction(func(L *lua.LState) int { return construct(L, open) }))
	meta := L.NewTable()
	meta.RawSetString("__index", L.NewFunction(func(L *lua.LState) int {
		name := L.Get(2).String()
		if name == "url" {
			return vm.Push(L, lua.LString(open(L).BaseURL()))
		}
		if !isManager(name) {
			vm.Raise(L, noSuch("manager", name, append(managerNames(), "connect", "managers", "url", "Icons", "Resource"),
				"sdk.managers() lists them"))
		}
		t := L.NewTable()
		b.fillManager(L, t, name, open)
		sdk.RawSetString(name, t)
		return vm.Push(L, t)
	}))
	meta.RawSetString(nameKey, lua.LString("sdk"))
	sdk.Metatable = meta
}

// fillManager makes a table find a manager's operations on first access.
func (b *Binding) fillManager(L *lua.LState, t *lua.LTable, manager string, open connection) {
	meta := L.NewTable()
	meta.RawSetString("__index", L.NewFunction(func(L *lua.LState) int {
		name := L.Get(2).String()
		c := open(L)
		m := c.Manager(manager)
		spec := m.Op(name)
		if slices.Contains(m.Absent, name) {
			vm.Raise(L, fault.Hinted(fault.Of(&fault.UnsupportedOperationError{},
				"this revision of the interface has no operation %s.%s", m.Name, name),
				"sdk.connect{ revision = 1 } opens a connection of the newest one"))
		}
		if spec == nil {
			vm.Raise(L, noOperation(m, name))
		}
		call := b.operation(c, spec)
		f := L.NewFunction(func(L *lua.LState) int {
			if now := open(L); now != c { // reconnected since
				c = now
				call = b.operation(c, c.Manager(manager).Op(name))
			}
			return call(L)
		})
		t.RawSetString(name, f)
		return vm.Push(L, f)
	}))
	meta.RawSetString(nameKey, lua.LString(manager))
	t.Metatable = meta
}

// iconTable returns the enumeration of icons: names to the texts in annotations. An unknown name raises a
// KeyError.
func iconTable(L *lua.LState) *lua.LTable {
	t, meta := L.NewTable(), L.NewTable()
	for name, text := range client.IconTexts() {
		t.RawSetString(name, lua.LString(text))
	}
	meta.RawSetString("__index", L.NewFunction(func(L *lua.LState) int {
		name := L.Get(2).String()
		vm.Raise(L, fault.Hinted(fault.Of(&fault.KeyError{}, "there is no icon %s", name), "%s",
			cmp.Or(suggest.Hint(name, client.Icons()), "pairs(sdk.Icons) lists them")))
		return 0
	}))
	t.Metatable = meta
	return t
}

func noSuch(what, name string, candidates []string, otherwise string) error {
	hint := suggest.Hint(name, candidates)
	if hint == "" {
		hint = otherwise
	}
	return fault.Hinted(fault.Of(&fault.UnsupportedOperationError{}, "there is no %s %s", what, name), "%s", hint)
}

func managerNames() []string {
	var names []string
	for _, m := range client.Managers() {
		names = append(names, m.Name)
	}
	return names
}

func isManager(name string) bool {
	for _, m := range client.Managers() {
		if m.Name == name || slices.Contains(m.Aliases, name) {
			return true
		}
	}
	return false
}

// noOperation returns the error for an operation that a manager does not have.
func noOperation(m *declare.Manager, name string) error {
	var names []string
	for _, s := range m.Ops() {
		names = append(names, s.Name)
	}
	hint := "transect doc " + m.Name + " lists them"
	if near := suggest.Nearest(name, names); near != "" {
		hint = "did you mean " + m.Name + "." + near + "?"
	}
	return fault.Hinted(fault.Of(&fault.UnsupportedOperationError{}, "there is no operation %s.%s", m.Name, name),
		"%s", hint)
}
