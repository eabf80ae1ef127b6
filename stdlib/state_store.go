package stdlib

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"transect/client/fault"
	"transect/runtime/vm"
)

const (
	stateVersion = 1
	stateBusy    = "10000" // milliseconds another run may write
	longestState = 16 << 20
	stateSchema  = `CREATE TABLE IF NOT EXISTS entries (
  namespace TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, expires REAL,
  PRIMARY KEY (namespace, key)) WITHOUT ROWID;
PRAGMA user_version = 1;`
)

// entry is a value as it is kept.
type entry struct {
	text    string
	expires sql.NullFloat64
	left    *float64 // seconds until it is gone
}

// lua is the value; nil for no entry.
func (e *entry) lua(L *lua.LState) (lua.LValue, error) {
	if e == nil {
		return lua.LNil, nil
	}
	v, err := vm.DecodeJSON([]byte(e.text))
	if err != nil {
		return lua.LNil, fault.Of(&fault.FileError{}, "a value in the database of state is damaged: %w", err)
	}
	return vm.ToLua(L, v), nil
}

// keep is the limit given, or else that of before.
func (e *entry) keep(ttl *float64) *float64 {
	if ttl == nil && e != nil {
		return e.left
	}
	return ttl
}

func stateLimit(c *vm.Call) (*float64, error) {
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
func stateOf(c *vm.Call) (string, error) {
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

func now(c *vm.Call) float64 { return float64(c.In.Options().Now().UnixMilli()) / 1000 }

type stateKeyOf struct{}

// stateDB is the database, opened when it is used first.
type stateDB struct {
	path string
	db   *sql.DB
}

// onState runs f on the database without the interpreter lock.
func onState(c *vm.Call, access vm.Access, f func(ctx context.Context, db *sql.DB, namespace string) error) error {
	s := vm.State(c.In, stateKeyOf{}, func() *stateDB { return &stateDB{path: filepath.Join(c.In.StateDir(), "state.db")} })
	if err := c.In.Permit(access, s.path); err != nil {
		return err
	}
	name, err := stateOf(c)
	if err != nil {
		return err
	}
	if s.db == nil {
		db, err := openState(c.Context(), s.path)
		if err != nil {
			return stateError(s.path, err)
		}
		s.db = db
		c.In.OnClose(func() { _ = db.Close() })
	}
	return c.Blocking(func(ctx context.Context) error {
		err := f(ctx, s.db, name)
		if err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
		return stateError(s.path, err)
	})
}

func openState(ctx context.Context, path string) (*sql.DB, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	if err := checkState(path); err != nil {
		return nil, err
	}
	dsn := "file:" + (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath()
	db, err := sql.Open("sqlite", dsn+"?_txlock=immediate&_pragma=busy_timeout("+stateBusy+")&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(4)
	var version int
	if err = db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err == nil && version == 0 {
		_, err = db.ExecContext(ctx, stateSchema)
	}
	if err == nil && version > stateVersion {
		err = fault.Hinted(fault.Of(&fault.FileError{}, "the database of state %s was made by a newer Transect", path), "use that one")
	}
	if err != nil {
		_ = db.Close()
		return nil, err
	}
	return db, nil
}

var errNoDatabase = errors.New("it is no database")

// checkState makes the file, for its owner alone, and refuses one that is
// something else, so that it is never written to.
func checkState(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	head := make([]byte, 16)
	n, err := io.ReadFull(f, head)
	if n > 0 && !bytes.Equal(head[:n], []byte("SQLite format 3\x00")) {
		return errNoDatabase
	}
	if n == 0 || err == nil {
		return nil
	}
	return err
}

// stateError says what is wrong with the database, and the way out.
func stateError(path string, err error) error {
	if err == nil || fault.Find(err) != nil {
		return err
	}
	var e *sqlite.Error
	code := 0
	if errors.As(err, &e) {
		code = e.Code() & 0xff
	}
	switch {
	case errors.Is(err, errNoDatabase), code == sqlite3.SQLITE_CORRUPT, code == sqlite3.SQLITE_NOTADB:
		return fault.Hinted(fault.Of(&fault.FileError{}, "the database of state %s is damaged: %w", path, err),
			"put a copy of it back, or move it away to start with nothing kept: with its neighbours %s-wal and %s-shm, if they are there",
			filepath.Base(path), filepath.Base(path))
	case code == sqlite3.SQLITE_BUSY:
		return fault.Hinted(fault.Of(&fault.TimeoutError{}, "another run keeps the database of state %s busy", path), "run again")
	}
	return fault.Hinted(fault.Of(&fault.FileError{}, "the database of state %s cannot be used: %w", path, err),
		"check the room and the rights there, or name another folder in TRANSECT_STATE_DIR")
}

const current = "namespace = ? AND (expires IS NULL OR expires > ?)"

func readState(c *vm.Call, key string) (*entry, error) {
	at := now(c)
	var found *entry
	err := onState(c, vm.Read, func(ctx context.Context, db *sql.DB, name string) error {
		e := &entry{}
		err := db.QueryRowContext(ctx, "SELECT value, expires FROM entries WHERE "+current+" AND key = ?", name, at, key).Scan(&e.text, &e.expires)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if e.expires.Valid {
			left := e.expires.Float64 - at
			e.left = &left
		}
		found = e
		return err
	})
	return found, err
}

// changeState changes a value in one step: read, decide, and write if nobody
// wrote meanwhile. The decision is Lua's, so no lock is held during it. It
// gives what was there before.
func changeState(c *vm.Call, key string, decide func(old *entry) (lua.LValue, *float64, error)) (*entry, error) {
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
		done, err := writeState(c, key, old, text, ttl)
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

// writeState replaces the value old by text, unless it is another by now.
func writeState(c *vm.Call, key string, old *entry, text string, ttl *float64) (done bool, err error) {
	at := now(c)
	var expires any
	if ttl != nil {
		expires = at + *ttl
	}
	err = onState(c, vm.Write, func(ctx context.Context, db *sql.DB, name string) error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }()
		var there entry
		err = tx.QueryRowContext(ctx, "SELECT value, expires FROM entries WHERE "+current+" AND key = ?", name, at, key).Scan(&there.text, &there.expires)
		missing := errors.Is(err, sql.ErrNoRows)
		switch {
		case err != nil && !missing:
			return err
		case missing != (old == nil), old != nil && (there.text != old.text || there.expires != old.expires):
			return nil // somebody was faster
		case text == "":
			_, err = tx.ExecContext(ctx, "DELETE FROM entries WHERE namespace = ? AND key = ?", name, key)
		default:
			_, err = tx.ExecContext(ctx, "INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?)", name, key, text, expires)
		}
		if err != nil {
			return err
		}
		done = true
		return tx.Commit()
	})
	return done, err
}

// begins matches keys by their start, whatever characters are in it.
const begins = " AND substr(key, 1, length(?)) = ?"

func listState(c *vm.Call, prefix string) ([]string, error) {
	at, keys := now(c), []string{}
	err := onState(c, vm.Read, func(ctx context.Context, db *sql.DB, name string) error {
		rows, err := db.QueryContext(ctx, "SELECT key FROM entries WHERE "+current+begins+" ORDER BY key", name, at, prefix, prefix)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var key string
			if err := rows.Scan(&key); err != nil {
				return err
			}
			keys = append(keys, key)
		}
		return rows.Err()
	})
	return keys, err
}

func eachState(c *vm.Call) (any, error) {
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
				v, err = e.lua(L)
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

func clearState(c *vm.Call, prefix string) (int64, error) {
	at, n := now(c), int64(0)
	err := onState(c, vm.Write, func(ctx context.Context, db *sql.DB, name string) error {
		if _, err := db.ExecContext(ctx, "DELETE FROM entries WHERE expires <= ?", at); err != nil {
			return err // what is gone does not count
		}
		result, err := db.ExecContext(ctx, "DELETE FROM entries WHERE namespace = ?"+begins, name, prefix, prefix)
		if err != nil {
			return err
		}
		n, err = result.RowsAffected()
		return err
	})
	return n, err
}
