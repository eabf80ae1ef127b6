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
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"

	sqlite3 "modernc.org/sqlite/lib"

	"transect/client/sqlitefile"
)

var (
	// ErrNotFound: the document does not exist.
	ErrNotFound = errors.New("no such document")
	// ErrCorrupt: the file is not a database, or is damaged.
	ErrCorrupt = errors.New("the database is damaged")
	// ErrNewer: the database was written by a newer version of the program.
	ErrNewer = errors.New("the database is of a newer version")
)

// Store is an open database. Several processes may have the same one open.
type Store struct {
	readers *sql.DB
	writer  *sql.DB // one connection: writers of this process wait in Go, not in SQLite
}

// Options are the options of Open.
type Options struct {
	// Tables holds the statements for further tables of the caller, run once when the database is created.
	Tables string
	// Fill inserts the first documents, in the same transaction.
	Fill func(*Tx) error
	// Temporary does not wait for the disk: a crash of the machine may destroy the database. Otherwise what
	// Write has committed is on disk.
	Temporary bool
}

// Open opens the database, creating it when the file does not exist.
func Open(ctx context.Context, path string, options Options) (*Store, error) {
	s, err := open(ctx, path, options)
	return s, classify(err)
}

func open(ctx context.Context, path string, options Options) (*Store, error) {
	synchronous := "FULL"
	if options.Temporary {
		synchronous = "OFF"
	}
	writer, err := connect(ctx, path, 1, "_txlock=immediate&_pragma=synchronous("+synchronous+")")
	if err != nil {
		return nil, err
	}
	readers, err := connect(ctx, path, max(4, runtime.GOMAXPROCS(0)), "_pragma=query_only(1)")
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

func connect(ctx context.Context, path string, connections int, options string) (*sql.DB, error) {
	db, err := sqlitefile.Open(ctx, path, options)
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
			// Another process may have created them while this one waited to write.
			if err := tx.QueryRow("PRAGMA user_version").Scan(&version); err != nil || version != 0 {
				return err
			}
			version = Version
			if err := tx.Exec(fmt.Sprintf("%s\n%s\nPRAGMA user_version = %d;", tables, options.Tables, Version)); err != nil {
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

// IsFull reports whether err means that the disk has no room left for the database.
func IsFull(err error) bool { return sqlitefile.Code(err) == sqlite3.SQLITE_FULL }

// classify wraps the errors of SQLite that mean a damaged file with ErrCorrupt.
func classify(err error) error {
	switch sqlitefile.Code(err) {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return err
}

// Close closes the database.
func (s *Store) Close() error { return errors.Join(s.writer.Close(), s.readers.Close()) }

// Read runs f on a snapshot of the database.
func (s *Store) Read(ctx context.Context, f func(*Tx) error) error {
	return run(ctx, ctx, s.readers, f)
}

// Write runs f while no other writer does, in any process, and commits its changes when f returns nil. They
// are on disk when Write returns.
func (s *Store) Write(ctx context.Context, f func(*Tx) error) error {
	// A statement that ends with ctx makes SQLite roll back the whole transaction.
	return run(ctx, context.WithoutCancel(ctx), s.writer, f)
}

// run runs f in a transaction whose statements have a context of their own.
func run(ctx, statements context.Context, db *sql.DB, f func(*Tx) error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return classify(err)
	}
	defer conn.Close()
	// The transaction must not end by itself with ctx: statements run on the connection, and one after the
	// end would be committed at once.
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
