// Package store keeps JSON documents in SQLite: collections of documents with
// an _id each, searched by filters that become SQL.
package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

var (
	// ErrNotFound: there is no such document.
	ErrNotFound = errors.New("no such document")
	// ErrCorrupt: the file is no database, or a damaged one.
	ErrCorrupt = errors.New("the database is damaged")
	// ErrNewer: the database was written by a newer version of the program.
	ErrNewer = errors.New("the database is of a newer version")
)

// busyTime is how long to wait for another process to end its transaction.
const busyTime = 20 * time.Second

// Store is an open database. Several processes may have the same one open.
type Store struct {
	readers *sessions
	writer  *sessions // one connection: writers of this process queue in Go, not in SQLite
}

// Open opens the database, making it when the file is not there. extra holds
// the statements for further tables of the caller, run once when it is made,
// and fill what to put in, in the same transaction.
func Open(ctx context.Context, path, extra string, fill func(*Tx) error) (*Store, error) {
	if err := checkHeader(path); err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(busyTime); ; {
		s, err := open(ctx, path, extra, fill)
		if err == nil {
			return s, nil
		}
		// SQLite does not wait by itself while another process turns a new
		// database into one with a write-ahead log.
		if !isBusy(err) || time.Now().After(deadline) || ctx.Err() != nil {
			return nil, classify(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func open(ctx context.Context, path, extra string, fill func(*Tx) error) (*Store, error) {
	s := &Store{}
	var err error
	if s.writer, err = connect(path, 1, "&_txlock=immediate"); err != nil {
		return nil, err
	}
	if s.readers, err = connect(path, max(4, runtime.GOMAXPROCS(0)), "&_pragma=query_only(1)"); err == nil {
		err = s.prepare(ctx, extra, fill)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// checkHeader refuses a file that is not empty and no SQLite database, so that
// it is never written to.
func checkHeader(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	head := make([]byte, 16)
	n, err := io.ReadFull(f, head)
	if n == 0 && err == io.EOF {
		return nil
	}
	if !bytes.Equal(head[:n], []byte("SQLite format 3\x00")) {
		return fmt.Errorf("%w: %s is not an SQLite file", ErrCorrupt, filepath.Base(path))
	}
	return nil
}

func connect(path string, connections int, options string) (*sessions, error) {
	// Synchronous NORMAL with a write-ahead log loses nothing when the process
	// is killed; only a crash of the machine may take the last transactions.
	dsn := (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()
	if !filepath.IsAbs(path) || filepath.VolumeName(path) != "" {
		// A drive letter or a relative path must not be read as a host.
		dsn = "file:" + (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath()
	}
	db, err := sql.Open("sqlite", dsn+"?_pragma=busy_timeout("+strconv.FormatInt(busyTime.Milliseconds(), 10)+
		")&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)"+options)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return newSessions(db, connections), nil
}

// prepare makes the tables when the database is new and checks its version.
func (s *Store) prepare(ctx context.Context, extra string, fill func(*Tx) error) error {
	version, err := s.version(ctx)
	if err != nil {
		return err
	}
	if version == 0 {
		err = s.Write(ctx, func(tx *Tx) error {
			// Another process may have made them while this one waited to write.
			if err := tx.QueryRow("PRAGMA user_version").Scan(&version); err != nil || version != 0 {
				return err
			}
			version = Version
			if err := tx.Exec(fmt.Sprintf("%s\n%s\nPRAGMA user_version = %d;", schema, extra, Version)); err != nil {
				return err
			}
			return fill(tx)
		})
		if err != nil {
			return err
		}
	}
	if version > Version {
		return fmt.Errorf("%w: %d, this program knows %d", ErrNewer, version, Version)
	}
	return nil
}

func (s *Store) version(ctx context.Context) (version int, err error) {
	err = s.writer.db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version) // before the first transaction
	return version, err
}

func isBusy(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_BUSY
}

// IsFull tells that a disk has no room left for the database.
func IsFull(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_FULL
}

// classify names the errors by which SQLite says that a file is damaged.
func classify(err error) error {
	var e *sqlite.Error
	if errors.As(err, &e) {
		switch e.Code() & 0xff {
		case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
			return fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
	}
	return err
}

// Close closes the database after the running transactions.
func (s *Store) Close() error {
	var errs []error
	for _, all := range []*sessions{s.readers, s.writer} {
		if all != nil {
			errs = append(errs, all.close())
		}
	}
	return errors.Join(errs...)
}

// Read runs f on one unchanging state of the database.
func (s *Store) Read(ctx context.Context, f func(*Tx) error) error {
	return s.readers.run(ctx, f)
}

// Write runs f in a transaction that no other writer shares, in any process,
// and keeps what it did when f returns nil.
func (s *Store) Write(ctx context.Context, f func(*Tx) error) error {
	return s.writer.run(ctx, f)
}
