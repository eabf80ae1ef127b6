package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

const (
	applicationID = 0x54724a6e // of files of this kind
	version       = 2
	busyTimeout   = 10 * time.Second
	keptRotated   = 3 // rotated files of each kind

	schema = `CREATE TABLE uploads (destination BLOB PRIMARY KEY, id INTEGER, path INTEGER, size INTEGER, mtime INTEGER,
chunk INTEGER, md5 BLOB, parts BLOB, done BLOB, updated INTEGER, "check" INTEGER) WITHOUT ROWID;`
	// dropVersion1 gives up uploads begun with version 1: they start over.
	dropVersion1 = `DROP TABLE IF EXISTS files; DROP TABLE IF EXISTS uploads; DROP TABLE IF EXISTS sums; DROP TABLE IF EXISTS care;`
)

var (
	errForeign = errors.New("it is not a journal of transect")
	errNewer   = errors.New("it was made by a newer version of transect")
)

// transaction runs f in a transaction, synced to disk when durable. Errors are
// reported once; afterwards the journal works on a new file, or not at all.
func (j *Journal) transaction(durable bool, f func(*sql.Tx) error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.off {
		return
	}
	err := j.open(false)
	if err == nil {
		if err = j.run(durable, f); isDamage(err) && !j.rotated {
			_ = j.db.Close() // damaged
			j.db = nil
			if err = j.open(true); err == nil {
				err = j.run(durable, f)
			}
		}
	}
	if err == nil {
		return
	}
	if isBusy(err) {
		j.warn("the journal of uploads is locked by another process; some parts may be sent again after an interruption", err)
		return
	}
	j.off = true
	if j.db != nil {
		_ = j.db.Close() // unusable
		j.db = nil
	}
	j.warn("cannot write the journal of uploads; going on without a journal", err)
}

func (j *Journal) run(durable bool, f func(*sql.Tx) error) error {
	if durable != j.full {
		mode := map[bool]string{false: "NORMAL", true: "FULL"}[durable]
		if _, err := j.db.Exec("PRAGMA synchronous = " + mode); err != nil {
			return err
		}
		j.full = durable
	}
	tx, err := j.db.Begin()
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // no effect after a commit
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// warn logs the first problem.
func (j *Journal) warn(message string, err error) {
	if !j.warned {
		j.warned = true
		j.log.Warn(message, "journal", j.path(), "reason", reason(err), "hint", "check the folder's permissions and the free space")
	}
}

// open opens the file, creating it when missing. A damaged, foreign or newer
// file is rotated. thorough checks all pages first.
func (j *Journal) open(thorough bool) error {
	if j.db != nil {
		return nil
	}
	unlock, err := j.lock()
	if err != nil {
		return err
	}
	defer unlock()
	j.full = true
	if j.db, err = j.openFile(thorough); !isDamage(err) {
		return err
	}
	j.rotated = true
	kind, message := "corrupt", "the journal of uploads cannot be read; it was moved away and a new one started. Unfinished uploads start over"
	attributes := []any{"reason", reason(err)}
	if errors.Is(err, errNewer) {
		kind = "newer"
		message = "the journal of uploads was made by a newer version of transect; it was moved away and a new one started. Unfinished uploads start over"
		attributes = []any{"hint", "use the newer version; to resume its unfinished uploads, put the kept file back first"}
	}
	kept, err := rotate(j.path(), kind, j.now())
	if err != nil {
		return err
	}
	j.log.Warn(message, append([]any{"journal", j.path(), "kept", kept}, attributes...)...)
	j.db, err = j.openFile(false)
	return err
}

// lock keeps other processes from creating or rotating the file meanwhile.
func (j *Journal) lock() (unlock func(), err error) {
	if err := os.MkdirAll(j.dir, 0o700); err != nil {
		return nil, err
	}
	l := flock.New(j.path()+".lock", flock.SetPermissions(0o600))
	ctx, cancel := context.WithTimeout(context.Background(), busyTimeout)
	defer cancel()
	if _, err := l.TryLockContext(ctx, 5*time.Millisecond); err != nil {
		return nil, err
	}
	return func() { _ = l.Unlock() }, nil // released with the process at the latest
}

func (j *Journal) openFile(thorough bool) (*sql.DB, error) {
	path := j.path()
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, errForeign
	}
	// Created here for its mode, which SQLite copies to its other files.
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := file.Close(); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", dataSource(path))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // synchronous is a setting of the connection
	if err = j.prepare(db); err == nil && thorough {
		var result string
		if err = db.QueryRow("PRAGMA quick_check(1)").Scan(&result); err == nil && result != "ok" {
			err = fmt.Errorf("%w: %s", errForeign, result)
		}
	}
	if err != nil {
		_ = db.Close() // the first error counts
		return nil, err
	}
	return db, nil
}

func dataSource(path string) string {
	name := (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()
	if !filepath.IsAbs(path) || filepath.VolumeName(path) != "" {
		name = "file:" + (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath()
	}
	return fmt.Sprintf("%s?_pragma=busy_timeout(%d)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=cell_size_check(1)&_txlock=immediate",
		name, busyTimeout.Milliseconds())
}

// prepare creates the table in a new file, refuses a file of another kind, and
// deletes uploads that are too old to be resumed.
func (j *Journal) prepare(db *sql.DB) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // no effect after a commit
	var app, ver, tables int64
	if err := tx.QueryRow("SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version), "+
		"(SELECT count(*) FROM sqlite_master)").Scan(&app, &ver, &tables); err != nil {
		return err
	}
	old := app == applicationID && ver == 1
	switch {
	case old, app == 0 && ver == 0 && tables == 0:
		create := fmt.Sprintf("%s PRAGMA application_id = %d; PRAGMA user_version = %d;", schema, applicationID, version)
		if old {
			create = dropVersion1 + create
			j.removeReceipts()
		}
		if _, err := tx.Exec(create); err != nil {
			return err
		}
	case app == applicationID && ver > version:
		return errNewer
	case app != applicationID || ver != version:
		return errForeign
	}
	if _, err := tx.Exec("DELETE FROM uploads WHERE updated < ?", j.now().Add(-keepFor).Unix()); err != nil {
		return err
	}
	var none row
	if err := tx.QueryRow("SELECT " + columns + " FROM uploads LIMIT 0").Scan(none.fields()...); !errors.Is(err, sql.ErrNoRows) {
		return scanned(err)
	}
	return tx.Commit()
}

// removeReceipts removes files that version 1 kept beside the database.
func (j *Journal) removeReceipts() {
	entries, _ := os.ReadDir(j.dir) // they only take space
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), File+".receipts-") {
			_ = os.Remove(filepath.Join(j.dir, e.Name()))
		}
	}
}

// rotate renames the files of a journal and returns the new name.
func rotate(path, kind string, now time.Time) (string, error) {
	to := path + "." + kind + "-" + now.UTC().Format("20060102T150405.000000000Z")
	for _, suffix := range []string{"", "-wal", "-shm"} {
		// A log left behind would be taken for the new journal's.
		if err := os.Rename(path+suffix, to+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	old, _ := filepath.Glob(path + "." + kind + "-*Z") // fails for a bad pattern only
	slices.Sort(old)
	for len(old) > keptRotated {
		for _, suffix := range []string{"", "-wal", "-shm"} {
			_ = os.RemoveAll(old[0] + suffix) // tried again at the next rotation
		}
		old = old[1:]
	}
	return to, nil
}

// sqliteCode is the code at the end of SQLite's messages.
var sqliteCode = regexp.MustCompile(` \(\d+\)( \(SQLITE_\w+\))?$`)

func reason(err error) string { return sqliteCode.ReplaceAllString(err.Error(), "") }

// scanned marks a value of an unexpected type as damage.
func scanned(err error) error {
	if err == nil || codeOf(err) >= 0 {
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

// isDamage tells a file that is not a sound journal from a failing disk or
// folder.
func isDamage(err error) bool {
	switch codeOf(err) {
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB, lib.SQLITE_ERROR, lib.SQLITE_FORMAT, lib.SQLITE_MISMATCH, lib.SQLITE_CONSTRAINT,
		lib.SQLITE_SCHEMA, lib.SQLITE_TOOBIG, lib.SQLITE_RANGE, lib.SQLITE_INTERNAL:
		return true
	}
	return errors.Is(err, errForeign) || errors.Is(err, errNewer)
}
