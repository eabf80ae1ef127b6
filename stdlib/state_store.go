package stdlib

import (
	"context"
	"encoding/json"
	"path/filepath"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/client/schema"
	"transect/runtime/module"
	"transect/runtime/sandbox"
	"transect/runtime/vm"
	"transect/stdlib/keyvalue"
)

// stateValue is a value as Lua has it, nil for no entry.
func stateValue(c *module.Call, e *keyvalue.Entry) (lua.LValue, error) {
	if e == nil {
		return lua.LNil, nil
	}
	v, err := vm.DecodeJSON([]byte(e.Text), false)
	if err != nil {
		return lua.LNil, fault.Of(&fault.FileError{}, "a value in the database of state is damaged: %w", err)
	}
	return vm.ToLua(c.L, v), nil
}

// stateEntry is a value as it is stored, nil for none.
func stateEntry(c *module.Call, v lua.LValue, expires float64) (*keyvalue.Entry, error) {
	if v == lua.LNil {
		return nil, nil
	}
	key := c.String("key")
	plain, err := vm.FromLua(c.L, v)
	if err != nil {
		return nil, fault.Of(&fault.ParameterError{}, "the value of %q: %w", key, err)
	}
	if err := schema.CheckText(plain); err != nil {
		return nil, fault.Of(&fault.ParameterError{}, "the value of %q: %w", key, err)
	}
	if encodedSize(plain, 0, 0, 2*longestState) > 2*longestState {
		return nil, tooLongState(key)
	}
	text, err := json.Marshal(plain)
	if err != nil {
		return nil, fault.Of(&fault.ParameterError{}, "the value of %q cannot be kept: %w", key, err)
	}
	if len(text) > longestState {
		return nil, tooLongState(key)
	}
	return &keyvalue.Entry{Text: string(text), Expires: expires}, nil
}

func tooLongState(key string) error {
	return fault.Hinted(fault.Of(&fault.LimitError{}, "the value of %q is longer than %d MiB", key, longestState>>20),
		"keep it in a file")
}

// stateOf names the namespace of a call: the one it is a method of, or that of
// the script.
func stateOf(c *module.Call) (string, error) {
	if n, ok := c.Self.(namespace); ok {
		return string(n), nil
	}
	path, err := scriptPath(c)
	if path == "" || err != nil {
		return "prompt", err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return "script:" + path, nil
}

type stateDBKey struct{}

// stateDB is the database, opened when it is first used.
type stateDB struct {
	path  string
	store *keyvalue.Store
}

// onState runs f on the database without the interpreter lock.
func onState[T any](c *module.Call, access sandbox.Access,
	f func(ctx context.Context, s *keyvalue.Store, namespace string) (T, error)) (result T, err error) {
	db := vm.State(c.In, stateDBKey{},
		func() *stateDB { return &stateDB{path: filepath.Join(c.In.StateDir(), "state.db")} })
	if err := c.In.Permit(access, db.path); err != nil {
		return result, err
	}
	name, err := stateOf(c)
	if err != nil {
		return result, err
	}
	if db.store == nil {
		if db.store, err = keyvalue.Open(c.Context(), db.path); err != nil {
			return result, err
		}
		c.In.OnClose(func() { _ = db.store.Close() })
	}
	err = c.Blocking(func(ctx context.Context) (err error) { result, err = f(ctx, db.store, name); return err })
	return result, err
}

func readState(c *module.Call, key string) (*keyvalue.Entry, error) {
	return onState(c, sandbox.Read, func(ctx context.Context, s *keyvalue.Store, name string) (*keyvalue.Entry, error) {
		return s.Get(ctx, name, key, now(c))
	})
}

// changeState changes a value atomically: read, decide, and write if nobody
// wrote meanwhile. The decision is Lua's, so no lock is held during it. It
// reports whether there was a value before.
func changeState(c *module.Call, decide func(old *keyvalue.Entry) (*keyvalue.Entry, error)) (bool, error) {
	for {
		old, err := readState(c, c.String("key"))
		if err != nil {
			return false, err
		}
		next, err := decide(old)
		if err != nil {
			return false, err
		}
		done, err := onState(c, sandbox.Write, func(ctx context.Context, s *keyvalue.Store, name string) (bool, error) {
			return s.Replace(ctx, name, c.String("key"), old, next, now(c))
		})
		if done || err != nil {
			return old != nil, err
		}
	}
}

func stateKeys(c *module.Call) ([]string, error) {
	return onState(c, sandbox.Read, func(ctx context.Context, s *keyvalue.Store, name string) ([]string, error) {
		return s.Keys(ctx, name, c.String("prefix"), now(c))
	})
}
