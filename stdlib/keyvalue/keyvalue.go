// Package keyvalue keeps texts by name in a SQLite database, for several
// processes at once. Every operation is one step.
package keyvalue

import (
	"context"
	"database/sql"
	"errors"
)

// Store is an open database. Its errors are faults that name the file and the
// way out.
type Store struct {
	path string
	db   *sql.DB
}

// Entry is a value as it is kept.
type Entry struct {
	Text string
	// Left is how many seconds it is kept, nil when for good.
	Left    *float64
	expires sql.NullFloat64
}

// Keep is the limit given, or else that of before.
func (e *Entry) Keep(ttl *float64) *float64 {
	if ttl == nil && e != nil {
		return e.Left
	}
	return ttl
}

// Open opens the database in a file, which is made for its owner alone when it
// is not there. A file that is something else is left as it is.
func Open(ctx context.Context, path string) (*Store, error) {
	db, err := open(ctx, path)
	if err != nil {
		return nil, explain(path, err)
	}
	return &Store{path, db}, nil
}

// Close closes the database.
func (s *Store) Close() error { return s.db.Close() }

const current = "namespace = ? AND (expires IS NULL OR expires > ?)"

// Get reads a value, nil when there is none at the time now, in seconds since
// 1970.
func (s *Store) Get(ctx context.Context, namespace, key string, now float64) (*Entry, error) {
	e := &Entry{}
	err := s.db.QueryRowContext(ctx, "SELECT value, expires FROM entries WHERE "+current+" AND key = ?", namespace, now, key).Scan(&e.Text, &e.expires)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, s.failed(ctx, err)
	}
	if e.expires.Valid {
		left := e.expires.Float64 - now
		e.Left = &left
	}
	return e, nil
}

// Replace puts text, kept for ttl seconds or for good, in the place of the
// value old, nil for none; "" deletes it. done is false when it is another
// value by now.
func (s *Store) Replace(ctx context.Context, namespace, key string, old *Entry, text string, ttl *float64, now float64) (done bool, err error) {
	done, err = s.replace(ctx, namespace, key, old, text, ttl, now)
	return done, s.failed(ctx, err)
}

func (s *Store) replace(ctx context.Context, namespace, key string, old *Entry, text string, ttl *float64, now float64) (bool, error) {
	var expires any
	if ttl != nil {
		expires = now + *ttl
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer func() { _ = tx.Rollback() }()
	var there Entry
	err = tx.QueryRowContext(ctx, "SELECT value, expires FROM entries WHERE "+current+" AND key = ?", namespace, now, key).Scan(&there.Text, &there.expires)
	missing := errors.Is(err, sql.ErrNoRows)
	switch {
	case err != nil && !missing:
		return false, err
	case missing != (old == nil), old != nil && (there.Text != old.Text || there.expires != old.expires):
		return false, nil // somebody was faster
	case text == "":
		_, err = tx.ExecContext(ctx, "DELETE FROM entries WHERE namespace = ? AND key = ?", namespace, key)
	default:
		_, err = tx.ExecContext(ctx, "INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?)", namespace, key, text, expires)
	}
	if err != nil {
		return false, err
	}
	return true, tx.Commit()
}

// begins matches keys by their start, whatever characters are in it.
const begins = " AND substr(key, 1, length(?)) = ?"

// Keys lists the keys that begin with prefix, sorted.
func (s *Store) Keys(ctx context.Context, namespace, prefix string, now float64) ([]string, error) {
	keys := []string{}
	rows, err := s.db.QueryContext(ctx, "SELECT key FROM entries WHERE "+current+begins+" ORDER BY key", namespace, now, prefix, prefix)
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

// Clear deletes the values whose keys begin with prefix, and says how many
// there were.
func (s *Store) Clear(ctx context.Context, namespace, prefix string, now float64) (int64, error) {
	if _, err := s.db.ExecContext(ctx, "DELETE FROM entries WHERE expires <= ?", now); err != nil {
		return 0, s.failed(ctx, err) // what is gone does not count
	}
	result, err := s.db.ExecContext(ctx, "DELETE FROM entries WHERE namespace = ?"+begins, namespace, prefix, prefix)
	if err != nil {
		return 0, s.failed(ctx, err)
	}
	n, err := result.RowsAffected()
	return n, s.failed(ctx, err)
}

// failed is an error as a fault; the end of ctx goes before what it did to the
// database.
func (s *Store) failed(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return explain(s.path, err)
}
