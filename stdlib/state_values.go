package stdlib

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/runtime/module"
	"transect/runtime/sandbox"
	"transect/runtime/vm"
	"transect/stdlib/keyvalue"
)

const longestState = 16 << 20

// stateValue is a value as Lua has it, nil for no entry.
func stateValue(L *lua.LState, e *keyvalue.Entry) (lua.LValue, error) {
	if e == nil {
		return lua.LNil, nil
	}
	v, err := vm.DecodeJSON([]byte(e.Text))
	if err != nil {
		return lua.LNil, fault.Of(&fault.FileError{}, "a value in the database of state is damaged: %w", err)
	}
	return vm.ToLua(L, v), nil
}

func stateLimit(c *module.Call) (*float64, error) {
	if !c.Has("ttl") {
		return nil, nil
	}
	ttl := c.Number("ttl")
	if !(ttl > 0 && ttl <= 1e10) {
		return nil, fault.Of(&fault.ParameterError{}, "ttl must be a positive number of seconds, got %v", ttl)
	}
	return &ttl, nil
}

// stateOf says whose values a call is about.
func stateOf(c *module.Call) (string, error) {
	if n, ok := c.Self.(namespace); ok {
		return string(n), nil
	}
	script := c.In.Options().Script
	if script == "" {
		return "prompt", nil
	}
	path, err := filepath.Abs(c.In.Path(script))
	if real, e := filepath.EvalSymlinks(path); e == nil {
		path = real
	}
	return "script:" + path, err
}

func now(c *module.Call) float64 { return float64(c.In.Options().Now().UnixMilli()) / 1000 }

type stateKeyOf struct{}

// stateDB is the database, opened when it is used first.
type stateDB struct {
	path  string
	store *keyvalue.Store
}

// onState runs f on the database without the interpreter lock.
func onState(c *module.Call, access sandbox.Access, f func(ctx context.Context, s *keyvalue.Store, namespace string) error) error {
	db := vm.State(c.In, stateKeyOf{}, func() *stateDB { return &stateDB{path: filepath.Join(c.In.StateDir(), "state.db")} })
	if err := c.In.Permit(access, db.path); err != nil {
		return err
	}
	name, err := stateOf(c)
	if err != nil {
		return err
	}
	if db.store == nil {
		store, err := keyvalue.Open(c.Context(), db.path)
		if err != nil {
			return err
		}
		db.store = store
		c.In.OnClose(func() { _ = store.Close() })
	}
	return c.Blocking(func(ctx context.Context) error { return f(ctx, db.store, name) })
}

func readState(c *module.Call, key string) (found *keyvalue.Entry, err error) {
	at := now(c)
	err = onState(c, sandbox.Read, func(ctx context.Context, s *keyvalue.Store, name string) (err error) {
		found, err = s.Get(ctx, name, key, at)
		return err
	})
	return found, err
}

// changeState changes a value in one step: read, decide, and write if nobody
// wrote meanwhile. The decision is Lua's, so no lock is held during it. It
// gives what was there before.
func changeState(c *module.Call, key string, decide func(old *keyvalue.Entry) (lua.LValue, *float64, error)) (*keyvalue.Entry, error) {
	for {
		old, err := readState(c, key)
		if err != nil {
			return nil, err
		}
		v, ttl, err := decide(old)
		if err != nil {
			return nil, err
		}
		text, err := stateText(key, v)
		if err != nil {
			return nil, err
		}
		at, done := now(c), false
		err = onState(c, sandbox.Write, func(ctx context.Context, s *keyvalue.Store, name string) (err error) {
			done, err = s.Replace(ctx, name, key, old, text, ttl, at)
			return err
		})
		if done || err != nil {
			return old, err
		}
	}
}

// stateText is a value as it is kept, "" for none.
func stateText(key string, v lua.LValue) (string, error) {
	if v == lua.LNil {
		return "", nil
	}
	plain, err := vm.FromLua(v)
	if err != nil {
		return "", fault.Of(&fault.ParameterError{}, "the value of %q: %w", key, err)
	}
	text, err := json.Marshal(plain)
	if err != nil {
		return "", fault.Of(&fault.ParameterError{}, "the value of %q cannot be kept: %w", key, err)
	}
	if len(text) > longestState {
		return "", fault.Hinted(fault.Of(&fault.LimitError{}, "the value of %q is longer than %d MiB", key, longestState>>20), "keep it in a file")
	}
	return string(text), nil
}

func listState(c *module.Call, prefix string) (keys []string, err error) {
	at := now(c)
	err = onState(c, sandbox.Read, func(ctx context.Context, s *keyvalue.Store, name string) (err error) {
		keys, err = s.Keys(ctx, name, prefix, at)
		return err
	})
	return keys, err
}

func eachState(c *module.Call) (any, error) {
	keys, err := listState(c, c.String("prefix"))
	if err != nil {
		return nil, err
	}
	name := strings.TrimPrefix(c.Name, "namespace:")
	return c.L.NewFunction(func(L *lua.LState) int {
		for len(keys) > 0 {
			key := keys[0]
			keys = keys[1:]
			here := *c
			here.L = L // perhaps another task's
			e, err := readState(&here, key)
			if err == nil && e == nil {
				continue // deleted meanwhile
			}
			var v lua.LValue
			if err == nil {
				v, err = stateValue(L, e)
			}
			if err != nil {
				vm.Raise(L, fault.In("state."+strings.TrimPrefix(name, "state."), err))
			}
			L.Push(lua.LString(key))
			L.Push(v)
			return 2
		}
		L.Push(lua.LNil)
		return 1
	}), nil
}

func clearState(c *module.Call, prefix string) (n int64, err error) {
	at := now(c)
	err = onState(c, sandbox.Write, func(ctx context.Context, s *keyvalue.Store, name string) (err error) {
		n, err = s.Clear(ctx, name, prefix, at)
		return err
	})
	return n, err
}
