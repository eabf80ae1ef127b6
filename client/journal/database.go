package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

const (
	application = 0x54724a6e // marks the file as ours
	version     = 1
	busyTime    = 10 * time.Second

	// A row is found by the hash of its place: what was going there last is all
	// that counts. check is a checksum of the row with its key, so that a
	// damaged file cannot claim what was never confirmed.
	schema = `
CREATE TABLE files (place BLOB PRIMARY KEY, path INTEGER, size INTEGER, mtime INTEGER, whole BLOB,
  state INTEGER, seen INTEGER, "check" INTEGER) WITHOUT ROWID;
CREATE TABLE uploads (place BLOB PRIMARY KEY, chunk INTEGER, begun INTEGER, done BLOB, "check" INTEGER) WITHOUT ROWID;
CREATE TABLE sums (place BLOB PRIMARY KEY, chunk INTEGER, parts BLOB, "check" INTEGER) WITHOUT ROWID;
CREATE TABLE care (pruned INTEGER);
INSERT INTO care VALUES (0);`
)

var (
	// errForeign: the file is no journal.
	errForeign = errors.New("it is no journal of transect")
	// errNewer: nothing is wrong with the file but that a later version made it.
	errNewer = errors.New("it was made by a newer version of transect")
)

// open opens the journal, making it when it is not there. One that is damaged
// or foreign is set aside. j.mu is held.
func (j *Journal) open() (*sql.DB, error) {
	unlock, err := j.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	db, err := j.openFile()
	if err == nil {
		if err = j.adopt(db); err == nil {
			return db, nil
		}
		if !isDamage(err) {
			j.warn("what an earlier run was told of its parts cannot be taken over now", err)
			return db, nil
		}
		_ = db.Close() // damaged
	}
	if !isDamage(err) {
		return nil, err
	}
	j.aside = true
	return j.anew(err)
}

// replace sets a journal aside that turned out to be damaged. j.mu is held.
func (j *Journal) replace(why error) (*sql.DB, error) {
	unlock, err := j.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	// Another process may have met the same and begun a new one.
	db, err := j.openFile()
	if errors.Is(err, errNewer) {
		return j.anew(err)
	}
	if err == nil {
		var result string
		if err := db.QueryRow("PRAGMA quick_check(1)").Scan(&result); err == nil && result == "ok" {
			return db, nil
		}
		_ = db.Close() // damaged
	}
	return j.anew(why)
}

func (j *Journal) anew(why error) (*sql.DB, error) {
	if errors.Is(why, errNewer) {
		kept, err := setAside(j.path(), madeByNewer, j.now())
		if err != nil {
			return nil, err
		}
		j.log.Warn("the journal of uploads was made by a newer version of transect; it was set aside and a new one begun. Half-sent files start over",
			"journal", j.path(), "kept", kept, "hint", "use the newer version; to go on with what it had half sent, put the kept file back first")
		return j.openFile()
	}
	kept, err := setAside(j.path(), damaged, j.now())
	if err != nil {
		return nil, err
	}
	said, _ := reason(why)
	j.log.Warn("the journal of uploads cannot be read; it was set aside and a new one begun. Half-sent files start over",
		"journal", j.path(), "kept", kept, "reason", said)
	return j.openFile()
}

// lock keeps other processes from making or moving the journal meanwhile.
func (j *Journal) lock() (unlock func(), err error) {
	if err := os.MkdirAll(j.dir, 0o700); err != nil {
		return nil, err
	}
	l := flock.New(j.path()+".lock", flock.SetPermissions(0o600))
	ctx, cancel := context.WithTimeout(context.Background(), busyTime)
	defer cancel()
	if _, err := l.TryLockContext(ctx, 5*time.Millisecond); err != nil {
		return nil, err
	}
	return func() { _ = l.Unlock() }, nil // the lock goes with the process at the latest
}

func (j *Journal) openFile() (*sql.DB, error) {
	path := j.path()
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, errForeign
	}
	// Made here, for its mode: SQLite gives its other files the same.
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := file.Close(); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", source(path))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(3)
	db.SetMaxIdleConns(3)
	if err := prepare(db); err != nil {
		_ = db.Close() // the first error counts
		return nil, err
	}
	return db, nil
}

func source(path string) string {
	name := (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()
	if !filepath.IsAbs(path) || filepath.VolumeName(path) != "" {
		name = "file:" + (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath()
	}
	return fmt.Sprintf("%s?_pragma=busy_timeout(%d)&_pragma=auto_vacuum(incremental)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)"+
		"&_pragma=cell_size_check(1)&_txlock=immediate", name, busyTime.Milliseconds())
}

// prepare makes the tables of a new file, and refuses one that is not ours.
func prepare(db *sql.DB) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing happens after a commit
	var app, ver, tables int64
	if err := tx.QueryRow("SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version), "+
		"(SELECT count(*) FROM sqlite_master)").Scan(&app, &ver, &tables); err != nil {
		return err
	}
	if app == 0 && ver == 0 && tables == 0 {
		if _, err := tx.Exec(fmt.Sprintf("%s PRAGMA application_id = %d; PRAGMA user_version = %d;", schema, application, version)); err != nil {
			return err
		}
		return tx.Commit()
	}
	if app == application && ver > version {
		return errNewer
	}
	if app != application || ver != version {
		return errForeign
	}
	// That all tables are there, with all their columns.
	for _, columns := range []string{`place, path, size, mtime, whole, state, seen, "check" FROM files`,
		`place, chunk, begun, done, "check" FROM uploads`, `place, chunk, parts, "check" FROM sums`, "pruned FROM care"} {
		rows, err := tx.Query("SELECT " + columns + " LIMIT 0")
		if err != nil {
			return damage(err)
		}
		if err := rows.Close(); err != nil {
			return damage(err)
		}
	}
	return nil
}

// damage is an error that a sound journal cannot give.
func damage(err error) error {
	if isBusy(err) {
		return err
	}
	return fmt.Errorf("%w: %w", errForeign, err)
}

func codeOf(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return -1
}

func isBusy(err error) bool {
	code := codeOf(err)
	return code == lib.SQLITE_BUSY || code == lib.SQLITE_LOCKED
}

// isDamage tells errors of a file that is no sound journal from those of its
// folder and its disk.
func isDamage(err error) bool {
	switch codeOf(err) {
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB, lib.SQLITE_ERROR, lib.SQLITE_FORMAT, lib.SQLITE_MISMATCH, lib.SQLITE_CONSTRAINT,
		lib.SQLITE_SCHEMA, lib.SQLITE_TOOBIG, lib.SQLITE_RANGE, lib.SQLITE_INTERNAL:
		return true
	}
	return errors.Is(err, errForeign) || errors.Is(err, errNewer)
}
