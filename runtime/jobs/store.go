package jobs

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Config defines the database of jobs.
type Config struct {
	URL      string // postgres://…, sqlite:PATH, or "" for SQLite in StateDir
	StateDir string
}

// File is the name of the database in the state folder.
const File = "jobs.db"

// Store is an open database of jobs. It is safe for concurrent use.
type Store struct {
	dialect
	db     *sql.DB
	pool   *pgxpool.Pool // nil on SQLite
	engine engine
	url    string
	path   string // of the SQLite file
	pooled atomic.Bool
}

// Open opens the database and updates its tables. It fails with *fault.ConfigError for an invalid address or
// tables of a newer version, and with *fault.ConnectionError when the server does not answer.
func Open(ctx context.Context, c Config) (_ *Store, err error) {
	s := &Store{dialect: sqlite, url: c.URL}
	scheme, rest, named := strings.Cut(c.URL, ":")
	switch {
	case c.URL == "":
		s.path = filepath.Join(c.StateDir, File)
	case scheme == "sqlite":
		s.path = strings.TrimPrefix(rest, "//")
	case scheme == "postgres" || scheme == "postgresql":
		s.dialect = postgres
	case !named:
		return nil, badURL("%q has no scheme", c.URL)
	default:
		return nil, badURL("its scheme is %q; it must be postgres or sqlite", scheme)
	}
	if s.Postgres {
		err = s.openPostgres(ctx)
	} else {
		s.db, err = openSQLite(ctx, s.path)
	}
	if err == nil {
		err = s.migrate(ctx)
	}
	if err == nil {
		s.engine, err = s.newEngine()
	}
	if err != nil {
		s.Close()
		return nil, s.Explain(err)
	}
	return s, nil
}

// Close closes the connections.
func (s *Store) Close() {
	if s.db != nil {
		_ = s.db.Close()
	}
	if s.pool != nil {
		s.pool.Close()
	}
}

// DB returns the database. On SQLite it has one connection: do not use it within a Tx.
func (s *Store) DB() *sql.DB { return s.db }

// Pool returns the pool below DB on PostgreSQL, nil on SQLite.
func (s *Store) Pool() *pgxpool.Pool { return s.pool }

// Name returns the address without its password, or the file.
func (s *Store) Name() string {
	if s.Postgres {
		return Redacted(s.url)
	}
	return s.path
}

// Tx calls fn in a transaction, which is committed when fn returns nil.
func (s *Store) Tx(ctx context.Context, fn func(*Tx) error) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return s.Explain(err)
	}
	defer conn.Close()
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return s.Explain(err)
	}
	defer tx.Rollback()
	if s.pooled.Load() {
		_, err = tx.ExecContext(ctx, "set local "+idleTransaction+" = '"+idleTimeout+"'")
	}
	if err == nil {
		err = fn(&Tx{tx, conn})
	}
	if err != nil {
		return s.Explain(err)
	}
	return s.Explain(tx.Commit())
}

// Read calls fn with what reads the database, on PostgreSQL a transaction.
func (s *Store) Read(ctx context.Context, fn func(Querier) error) error {
	if s.Postgres {
		return s.Tx(ctx, func(tx *Tx) error { return fn(tx) })
	}
	return s.Explain(fn(s.db))
}
