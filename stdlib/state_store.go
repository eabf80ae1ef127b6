package stdlib

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/runtime/module"
	"transect/runtime/sandbox"
	"transect/runtime/vm"
	"transect/stdlib/internal/keyvalue"
)

// stateValue returns an entry as a Lua value, nil for no entry.
func stateValue(c *module.Call, e *keyvalue.Entry) lua.LValue {
	if e == nil {
		return lua.LNil
	}
	v, err := vm.DecodeJSON([]byte(e.Text), false)
	if err != nil {
		c.Raise(fault.Of(&fault.FileError{}, "a value in the state database is damaged: %w", err))
	}
	return vm.ToLua(c.L, v)
}

// stateEntry returns a Lua value as an entry, nil for none.
func stateEntry(c *module.Call, v lua.LValue, expires float64) *keyvalue.Entry {
	if v == lua.LNil {
		return nil
	}
	text, err := encodeLimited(c, v, longestState)
	switch {
	case err != nil:
		c.Raise(fault.Of(&fault.ParameterError{}, "the value of %q cannot be kept: %w", c.String("key"), err))
	case text == nil:
		c.Raise(fault.Hinted(fault.Of(&fault.LimitError{}, "the value of %q is longer than %d MiB", c.String("key"),
			longestState>>20), "keep it in a file"))
	}
	return &keyvalue.Entry{Text: string(text), Expires: expires}
}

// stateOf returns the namespace of a call: of the object it is a method on, or the script's.
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

// describeChange describes what a call changes, for plans.
func describeChange(c *module.Call, namespace string) string {
	what := strconv.Quote(c.String("key"))
	if !c.Has("key") {
		what = "all that begins with " + strconv.Quote(c.String("prefix"))
	}
	if of, shared := strings.CutPrefix(namespace, "name:"); shared {
		what += " of " + strconv.Quote(of)
	}
	return what
}

type stateDBKey struct{}

// stateDB is the database, opened on first use.
type stateDB struct {
	path  string
	store *keyvalue.Store
}

// onState runs f on the database without the interpreter lock.
func onState[T any](c *module.Call, access sandbox.Access,
	f func(ctx context.Context, s *keyvalue.Store, namespace string) (T, error)) (result T) {
	db := vm.State(c.In, stateDBKey{},
		func() *stateDB { return &stateDB{path: filepath.Join(c.In.StateDir(), "state.db")} })
	c.Must(c.In.Permit(access, db.path))
	name, err := stateOf(c)
	c.Must(err)
	if access == sandbox.Write {
		vm.Happens(c.L, sandbox.Effect{Kind: sandbox.KeepState, What: describeChange(c, name)})
	}
	if db.store == nil {
		path := db.path
		if c.In.Sealed() {
			path, err = c.In.Instead(path, "-wal")
			c.Must(err)
		}
		db.store, err = keyvalue.Open(c.Context(), path)
		c.Must(err)
		c.In.OnClose(func() { _ = db.store.Close() })
	}
	c.Must(c.Blocking(func(ctx context.Context) (err error) { result, err = f(ctx, db.store, name); return err }))
	return result
}

func readState(c *module.Call, key string) *keyvalue.Entry {
	return onState(c, sandbox.Read, func(ctx context.Context, s *keyvalue.Store, name string) (*keyvalue.Entry, error) {
		return s.Get(ctx, name, key, now(c))
	})
}

// changeState changes a value atomically: read, decide, and write if no other process wrote meanwhile. decide
// runs Lua, so no lock is held during it. changeState reports whether there was a value before.
func changeState(c *module.Call, decide func(old *keyvalue.Entry) *keyvalue.Entry) (existed bool) {
	for {
		old := readState(c, c.String("key"))
		next := decide(old)
		if onState(c, sandbox.Write, func(ctx context.Context, s *keyvalue.Store, name string) (bool, error) {
			return s.Replace(ctx, name, c.String("key"), old, next, now(c))
		}) {
			return old != nil
		}
	}
}

func stateKeys(c *module.Call) []string {
	return onState(c, sandbox.Read, func(ctx context.Context, s *keyvalue.Store, name string) ([]string, error) {
		return s.Keys(ctx, name, c.String("prefix"), now(c))
	})
}
