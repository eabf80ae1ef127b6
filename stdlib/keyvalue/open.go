package keyvalue

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"io"
	"net/url"
	"os"
	"path/filepath"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"transect/client/fault"
)

const (
	version     = 1
	busyTimeout = "10000" // milliseconds another process may write
	schema      = `CREATE TABLE IF NOT EXISTS entries (
  namespace TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, expires REAL,
  PRIMARY KEY (namespace, key)) WITHOUT ROWID;
PRAGMA user_version = 1;`
)

func open(ctx context.Context, path string) (*sql.DB, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	if err := check(path); err != nil {
		return nil, err
	}
	dsn := "file:" + (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath()
	db, err := sql.Open("sqlite", dsn+"?_txlock=immediate&_pragma=busy_timeout("+busyTimeout+")&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(4)
	var found int
	if err = db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&found); err == nil && found == 0 {
		_, err = db.ExecContext(ctx, schema)
	}
	if err == nil && found > version {
		err = fault.Hinted(fault.Of(&fault.FileError{}, "the database of state %s was made by a newer Transect", path), "use that one")
	}
	if err != nil {
		_ = db.Close()
		return nil, err
	}
	return db, nil
}

var errNoDatabase = errors.New("it is no database")

// check makes the file, for its owner alone, and refuses one that is
// something else, so that it is never written to.
func check(path string) error {
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

// explain says what is wrong with the database, and the way out.
func explain(path string, err error) error {
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
