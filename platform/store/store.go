// Package store keeps JSON documents in SQLite: collections of documents with
// an _id each, searched by the filters of the service. The platform opens one
// Store per folder; every request runs in one transaction (Read or Write) and
// works on documents and the platform's own tables through its Tx.
//
// All documents are rows of one table: JSON, and columns for the keys that have
// an index. A filter becomes SQL on those columns (filter.go); other keys are
// tested in Go by a function registered with SQLite (match.go). Begin reading at
// Open and Tx.
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
	// ErrNotFound: the document does not exist.
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
	readers *sql.DB
	writer  *sql.DB // one connection: writers of this process wait in Go, not in SQLite
}

// Options says how to open a database.
type Options struct {
	// Tables holds the statements for further tables of the caller, run once
	// when the database is made.
	Tables string
	// Fill inserts the first documents, in the same transaction.
	Fill func(*Tx) error
	// Temporary does not wait for the disk: a crash of the machine may destroy
	// the database. Without it, what Write has committed is on the disk.
	Temporary bool
}

// Open opens the database and creates it when the file does not exist.
func Open(ctx context.Context, path string, options Options) (*Store, error) {
	if err := checkHeader(path); err != nil {
		return nil, err
	}
	if err := keepPrivate(path); err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(busyTime); ; {
		s, err := open(ctx, path, options)
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

func open(ctx context.Context, path string, options Options) (*Store, error) {
	synchronous := "FULL"
	if options.Temporary {
		synchronous = "OFF"
	}
	writer, err := connect(path, 1, "&_txlock=immediate&_pragma=synchronous("+synchronous+")")
	if err != nil {
		return nil, err
	}
	readers, err := connect(path, max(4, runtime.GOMAXPROCS(0)), "&_pragma=query_only(1)")
	if err != nil {
		return nil, errors.Join(err, writer.Close())
	}
	s := &Store{readers, writer}
	if err := s.prepare(ctx, options); err != nil {
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

// keepPrivate makes the file, and closes it and its companions to others. SQLite
// gives those it makes the mode of the file.
func keepPrivate(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	f.Close()
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		if err := os.Chmod(name, 0o600); err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, os.ErrPermission) {
			return err // of another owner, it is theirs to close
		}
	}
	return nil
}

func connect(path string, connections int, options string) (*sql.DB, error) {
	dsn := (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()
	if !filepath.IsAbs(path) || filepath.VolumeName(path) != "" {
		// A drive letter or a relative path must not be read as a host.
		dsn = "file:" + (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath()
	}
	db, err := sql.Open("sqlite", dsn+"?_pragma=busy_timeout("+strconv.FormatInt(busyTime.Milliseconds(), 10)+
		")&_pragma=journal_mode(WAL)"+options)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// prepare creates the tables of a new database and checks the version.
func (s *Store) prepare(ctx context.Context, options Options) error {
	var version int
	if err := s.writer.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if version == 0 {
		err := s.Write(ctx, func(tx *Tx) error {
			// Another process may have made them while this one waited to write.
			if err := tx.QueryRow("PRAGMA user_version").Scan(&version); err != nil || version != 0 {
				return err
			}
			version = Version
			if err := tx.Exec(fmt.Sprintf("%s\n%s\nPRAGMA user_version = %d;", schema, options.Tables, Version)); err != nil {
				return err
			}
			if options.Fill == nil {
				return nil
			}
			return options.Fill(tx)
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

// Close closes the database.
func (s *Store) Close() error { return errors.Join(s.writer.Close(), s.readers.Close()) }

// Read runs f on one unchanging state of the database.
func (s *Store) Read(ctx context.Context, f func(*Tx) error) error {
	return run(ctx, ctx, s.readers, f)
}

// Write runs f while no other writer does, in any process, and commits what it
// did when f returns nil. Once it returns, that is on the disk.
func (s *Store) Write(ctx context.Context, f func(*Tx) error) error {
	// A statement that ends with ctx makes SQLite undo the whole transaction.
	return run(ctx, context.WithoutCancel(ctx), s.writer, f)
}

// run runs f in a transaction whose statements end with a context of their own.
func run(ctx, statements context.Context, db *sql.DB, f func(*Tx) error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return classify(err)
	}
	defer conn.Close()
	// The transaction must not end by itself with ctx: statements run on the
	// connection, and one that came after the end would be committed at once.
	tx, err := conn.BeginTx(context.WithoutCancel(ctx), nil)
	if err != nil {
		return classify(err)
	}
	defer tx.Rollback() // does nothing after a commit; undoes all on a panic
	if err := f(&Tx{statements, tx}); err != nil {
		return classify(err)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return classify(tx.Commit())
}
