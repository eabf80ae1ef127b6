// Package sqlitefile opens SQLite databases used by several processes at once.
package sqlitefile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// busyTime is how long to wait for another process to end its transaction.
const busyTime = 20 * time.Second

// Open opens the database in a file, with a write-ahead log. It creates a missing file, accessible
// only to its owner. options are additional parameters of the driver, e.g. _txlock=immediate. A
// file that is not a database is left unchanged.
func Open(ctx context.Context, path, options string) (*sql.DB, error) {
	if err := keepPrivate(path); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: filepath.ToSlash(path)}).EscapedPath()+
		fmt.Sprintf("?_pragma=busy_timeout(%d)&_pragma=journal_mode(WAL)&%s", busyTime.Milliseconds(), options))
	if err != nil {
		return nil, err
	}
	// While another process switches a new file to a write-ahead log, SQLite fails at once instead of waiting.
	for deadline := time.Now().Add(busyTime); ; time.Sleep(10 * time.Millisecond) {
		if err = db.PingContext(ctx); err == nil {
			return db, nil
		}
		if Code(err) != sqlite3.SQLITE_BUSY || ctx.Err() != nil || time.Now().After(deadline) {
			return nil, errors.Join(err, db.Close())
		}
	}
}

// Code returns SQLite's primary result code of an error, 0 for other errors.
func Code(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

// keepPrivate creates a file that others cannot read, or restricts an existing one and its
// companions, which SQLite creates with the mode of the file. It does not open an existing file:
// closing it would release the locks that SQLite holds on it for other connections of this process
// (fcntl(2)).
func keepPrivate(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return &fs.PathError{Op: "open", Path: path, Err: errors.New("it is not a regular file")}
	}
	if errors.Is(err, fs.ErrNotExist) {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			return f.Close()
		}
		if !errors.Is(err, fs.ErrExist) { // another process created it first
			return err
		}
	}
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		info, err := os.Stat(name)
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			err = os.Chmod(name, 0o600)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
			return err // but leave another owner's file to them
		}
	}
	return nil
}
