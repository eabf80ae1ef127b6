// Package embed runs scripts in a Go program: every manager of the platform is a Lua module, what the program hands
// over are Lua values, and nothing else of the machine is within reach unless it is allowed.
//
// Begin at Compile and New. A Program is compiled once and shared by all runtimes; a Runtime is one interpreter.
package embed

import (
	"context"
	"io"
	"path/filepath"
	"reflect"
	"strings"
	"sync"

	lua "github.com/yuin/gopher-lua"
	luar "layeh.com/gopher-luar"

	"transect/bindings"
	"transect/client"
	"transect/client/fault"
	"transect/client/schema"
	"transect/runtime/luastd"
	"transect/runtime/module"
	"transect/runtime/sandbox"
	"transect/runtime/vm"
	"transect/stdlib"
)

// Options are what the scripts of a runtime see. The zero value is closed: no input, output goes nowhere, no
// environment, no files, programs, hosts or platform.
type Options struct {
	Stdin          io.Reader         // empty when nil
	Stdout, Stderr io.Writer         // discarded when nil
	Env            map[string]string // the whole environment
	Dir            string            // folder that relative paths start from; that of the process when ""
	Args           []string          // arg[1], arg[2], …
	Globals        map[string]any    // see Runtime.Set
	Modules        []*module.Module  // besides those of Transect
	Platform       *client.Client    // the managers' platform; their operations fail when nil
	Allow          []string          // what scripts may reach, as --allow takes it: "read=data", "net=api.example.com"
	Limits         Limits            // of each run; none when zero. A context limits its time
}

// Limits are those of each run: Instructions, Memory in bytes and the others of vm.Limits.
type Limits = vm.Limits

// Program is a compiled script. It does not change, and any number of runtimes may run it at once.
type Program struct{ proto *lua.FunctionProto }

// Compile compiles a script under the name that messages show. Its error is a *fault.SyntaxError.
func Compile(name string, src []byte) (*Program, error) {
	proto, err := vm.Compile(name, src)
	if err != nil {
		return nil, err
	}
	return &Program{proto}, nil
}

// Runtime is an interpreter with the modules of Transect. Its calls follow one another: a second one waits for the
// first. Globals last from one to the next.
type Runtime struct {
	in      *vm.Interp
	session *vm.Session
	close   sync.Once
}

// New makes a runtime. Close must be called. A rule of Options.Allow that cannot be read is a *fault.UsageError.
func New(ctx context.Context, o Options) (*Runtime, error) {
	rules := sandbox.Rules{Sandbox: true, Allow: sandbox.List{sandbox.Env: {"*"}}} // all of Options.Env
	for _, rule := range o.Allow {
		abs := func(path string) string {
			if !filepath.IsAbs(path) {
				path = filepath.Join(o.Dir, path)
			}
			full, err := filepath.Abs(path)
			if err != nil {
				return path
			}
			return full
		}
		if err := rules.Allow.Parse(rule, abs); err != nil {
			return nil, err
		}
	}
	opt := vm.Options{Stdin: o.Stdin, Stdout: o.Stdout, Stderr: o.Stderr, Dir: o.Dir, Args: o.Args, Limits: o.Limits,
		Progress: vm.ProgressQuiet, Size: size, Permit: sandbox.NewPolicy(rules, "", false).Permit,
		Env: func(name string) (string, bool) { v, ok := o.Env[name]; return v, ok }}
	if opt.Stdin == nil {
		opt.Stdin = strings.NewReader("")
	}
	for _, w := range []*io.Writer{&opt.Stdout, &opt.Stderr} {
		if *w == nil {
			*w = io.Discard
		}
	}
	r := &Runtime{in: luastd.New(ctx, opt)}
	r.in.Locked(func(L *lua.LState) { // it changes the environment of the process
		L.GetGlobal("os").(*lua.LTable).RawSetString("setenv", lua.LNil)
	})
	module.Preload(r.in, append(stdlib.Modules(), o.Modules...)...)
	bindings.Open(r.in, func(_ context.Context, own *client.Settings) (*client.Client, error) {
		switch {
		case own != nil:
			return nil, fault.Of(&fault.PermissionError{}, "scripts of this program have the platform they were given alone")
		case o.Platform == nil:
			return nil, fault.Of(&fault.ConfigError{}, "this program has given its scripts no platform")
		}
		return o.Platform, nil
	})
	r.session = r.in.NewSession()
	for name, v := range o.Globals {
		if err := r.Set(name, v); err != nil {
			r.Close()
			return nil, err
		}
	}
	return r, nil
}

// Fn declares a function of a module by its Go function. The tags of In declare the parameters (schema.Tags), in their
// order; returns is the result, for people. Out reaches scripts in the form of its JSON; struct{} is no result. Other
// tasks go on while f works; ctx is that of the task.
func Fn[In, Out any](name, doc, returns string, f func(ctx context.Context, in In) (Out, error)) module.Func {
	params, err := schema.FromStruct(reflect.TypeFor[In]())
	if err != nil {
		panic(err) // a wrong tag, found by any use of the struct
	}
	call := func(c *module.Call) (result any, err error) {
		var in In
		c.Fill(&in)
		err = c.Blocking(func(ctx context.Context) error {
			result, err = f(ctx, in)
			return err
		})
		if _, none := result.(struct{}); none || err != nil {
			return nil, err
		}
		return result, nil
	}
	return module.Func{Name: name, Doc: doc, Params: params, Returns: returns, Call: call}
}

// Close ends the runtime and what still runs in it.
func (r *Runtime) Close() { r.close.Do(r.in.Close) }

// Run runs a program and returns its first value as Go has it: nil, a bool, an int64 or float64, a string, a list, a
// map, or what Set was given. The end of ctx ends the script, which cannot catch that. A script's own error is a
// *vm.ScriptError; vm.Failure has its frames and hint.
func (r *Runtime) Run(ctx context.Context, p *Program, args ...any) (any, error) {
	return r.do(ctx, args, func(L *lua.LState) (lua.LValue, error) { return L.NewFunctionFromProto(p.proto), nil })
}

// Call calls a global function of the scripts that ran; name may be dotted.
func (r *Runtime) Call(ctx context.Context, name string, args ...any) (any, error) {
	return r.do(ctx, args, func(L *lua.LState) (lua.LValue, error) {
		at := lua.LValue(L.G.Global)
		for part := range strings.SplitSeq(name, ".") {
			t, ok := at.(*lua.LTable)
			if !ok {
				return nil, fault.Of(&fault.KeyError{}, "there is no function %s", name)
			}
			at = t.RawGetString(part)
		}
		if at.Type() != lua.LTFunction {
			return nil, fault.Of(&fault.KeyError{}, "there is no function %s", name)
		}
		return at, nil
	})
}

// Set makes a Go value a global: data as Lua's own values, and anything with methods, fields or a call (structs,
// pointers, functions, channels) as itself, through gopher-luar.
func (r *Runtime) Set(name string, v any) error {
	return r.session.Do(func(L *lua.LState) error {
		L.G.Global.RawSetString(name, value(L, v))
		return nil
	})
}

// value converts a Go value for Lua.
func value(L *lua.LState, v any) lua.LValue {
	t := reflect.TypeOf(v)
	if t == nil {
		return lua.LNil
	}
	switch t.Kind() {
	case reflect.Struct, reflect.Pointer, reflect.Func, reflect.Chan:
		return luar.New(L, v)
	}
	if t.NumMethod() > 0 {
		return luar.New(L, v)
	}
	return vm.ToLua(L, v)
}

// do calls a function of Lua with values of Go.
func (r *Runtime) do(ctx context.Context, args []any, find func(L *lua.LState) (lua.LValue, error)) (result any,
	err error) {
	stop := context.AfterFunc(ctx, func() {
		r.in.Interrupt(fault.Of(&fault.CancelledError{}, "the program has ended the script: %w", context.Cause(ctx)))
	})
	defer stop()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	err = r.session.Do(func(L *lua.LState) error {
		f, err := find(L)
		if err != nil {
			return err
		}
		values := make([]lua.LValue, len(args))
		for i, v := range args {
			values[i] = value(L, v)
		}
		result, err = vm.FromLua(L, vm.Call(L, f, values...))
		return err
	})
	return result, err
}
