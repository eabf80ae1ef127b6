// Package keyvalue stores texts by name in an SQLite database, shared by several processes. Every operation
// is atomic. Its errors are faults that name the file and a remedy.
package keyvalue

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"

	sqlite3 "modernc.org/sqlite/lib"

	"transect/client/fault"
	"transect/client/sqlitefile"
)

const (
	version = 1
	schema  = `CREATE TABLE IF NOT EXISTS entries (
  namespace TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, expires REAL,
  PRIMARY KEY (namespace, key)) WITHOUT ROWID;
PRAGMA user_version = 1;`
)

// Store is an open database.
type Store struct {
	path string
	db   *sql.DB
}

// Entry is a stored value.
type Entry struct {
	Text    string
	Expires float64 // seconds since 1970; 0 is never
}

// Open opens the database in a file. A missing file is created with owner-only access; a file of another kind
// is left unchanged.
func Open(ctx context.Context, path string) (*Store, error) {
	s := &Store{path: path}
	if err := s.open(ctx); err != nil {
		return nil, s.failed(ctx, err)
	}
	return s, nil
}

func (s *Store) open(ctx context.Context) (err error) {
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return err
	}
	if s.db, err = sqlitefile.Open(ctx, s.path, "_txlock=immediate&_pragma=synchronous(NORMAL)"); err != nil {
		return err
	}
	s.db.SetMaxOpenConns(4)
	var found int
	if err = s.db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&found); err == nil && found == 0 {
		_, err = s.db.ExecContext(ctx, schema)
	}
	if err == nil && found > version {
		err = fault.Hinted(fault.Of(&fault.FileError{}, "the state database %s was written by a newer version of Transect",
			s.path), "upgrade transect")
	}
	if err != nil {
		_ = s.db.Close()
	}
	return err
}

// Close closes the database.
func (s *Store) Close() error { return s.db.Close() }

const (
	current = "namespace = ? AND (expires IS NULL OR expires > ?)"
	find    = "SELECT value, coalesce(expires, 0) FROM entries WHERE " + current + " AND key = ?"
	begins  = " AND substr(key, 1, length(?)) = ?" // matches any characters literally
)

// Get returns the value at the time now, in seconds since 1970, or nil.
func (s *Store) Get(ctx context.Context, namespace, key string, now float64) (*Entry, error) {
	e, err := scan(s.db.QueryRowContext(ctx, find, namespace, now, key))
	return e, s.failed(ctx, err)
}

func scan(row *sql.Row) (*Entry, error) {
	e := &Entry{}
	err := row.Scan(&e.Text, &e.Expires)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return e, err
}

// Replace replaces the value old by next; nil means none. done is false when the value has changed meanwhile.
func (s *Store) Replace(ctx context.Context, namespace, key string, old, next *Entry, now float64) (done bool,
	err error) {
	done, err = s.replace(ctx, namespace, key, old, next, now)
	return done, s.failed(ctx, err)
}

func (s *Store) replace(ctx context.Context, namespace, key string, old, next *Entry, now float64) (bool, error) {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer func() { _ = tx.Rollback() }() // no effect after a commit
	found, err := scan(tx.QueryRowContext(ctx, find, namespace, now, key))
	switch {
	case err != nil:
		return false, err
	case (found == nil) != (old == nil) || old != nil && *found != *old:
		return false, nil // another process was faster
	case next == nil:
		_, err = tx.ExecContext(ctx, "DELETE FROM entries WHERE namespace = ? AND key = ?", namespace, key)
	default:
		_, err = tx.ExecContext(ctx, "INSERT OR REPLACE INTO entries VALUES (?, ?, ?, nullif(?, 0.0))", namespace, key,
			next.Text, next.Expires)
	}
	if err != nil {
		return false, err
	}
	return true, tx.Commit()
}

// Keys lists the keys that begin with prefix, sorted.
func (s *Store) Keys(ctx context.Context, namespace, prefix string, now float64) ([]string, error) {
	keys := []string{}
	rows, err := s.db.QueryContext(ctx, "SELECT key FROM entries WHERE "+current+begins+" ORDER BY key", namespace, now,
		prefix, prefix)
	if err != nil {
		return nil, s.failed(ctx, err)
	}
	defer rows.Close()
	for rows.Next() {
		var key string
		if err := rows.Scan(&key); err != nil {
			return nil, s.failed(ctx, err)
		}
		keys = append(keys, key)
	}
	return keys, s.failed(ctx, rows.Err())
}

// Clear deletes the values whose keys begin with prefix, and returns their number.
func (s *Store) Clear(ctx context.Context, namespace, prefix string, now float64) (int64, error) {
	if _, err := s.db.ExecContext(ctx, "DELETE FROM entries WHERE expires <= ?", now); err != nil {
		return 0, s.failed(ctx, err) // expired ones do not count
	}
	result, err := s.db.ExecContext(ctx, "DELETE FROM entries WHERE namespace = ?"+begins, namespace, prefix, prefix)
	if err != nil {
		return 0, s.failed(ctx, err)
	}
	n, err := result.RowsAffected()
	return n, s.failed(ctx, err)
}

// failed converts an error to a fault with the problem of the database and a remedy; the end of ctx takes
// precedence over its effects on the database.
func (s *Store) failed(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil || fault.Find(err) != nil {
		return err
	}
	switch sqlitefile.Code(err) {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return fault.Hinted(fault.Of(&fault.FileError{}, "the state database %s is damaged: %w", s.path, err),
			"restore it from a backup, or move it away to start without state: together with %[1]s-wal and %[1]s-shm, "+
				"if they exist",
			filepath.Base(s.path))
	case sqlite3.SQLITE_BUSY:
		return fault.Hinted(fault.Of(&fault.TimeoutError{}, "another run holds the state database %s", s.path),
			"run again")
	}
	return fault.Hinted(fault.Of(&fault.FileError{}, "the state database %s cannot be used: %w", s.path, err),
		"check its free space and permissions, or name another folder in TRANSECT_STATE_DIR")
}
