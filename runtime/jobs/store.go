package jobs

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"

	"transect/client/fault"
)

// Config says where the jobs are.
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
	client *river.Client[*sql.Tx]
	url    string
	path   string // of the SQLite file
}

// Open opens the database and brings its tables up to date. It fails with
// *fault.ConfigError for an address that cannot be used or tables of a newer
// version, and with *fault.ConnectionError when the server does not answer.
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
	if s.postgres {
		s.db, s.pool, err = openPostgres(ctx, c.URL)
	} else {
		s.db, err = openSQLite(s.path)
	}
	if err != nil {
		return nil, s.explain(err)
	}
	if err = s.migrate(ctx); err == nil {
		s.client, err = river.NewClient(s.driver(s.db), &river.Config{Logger: slog.New(slog.DiscardHandler)})
	}
	if err != nil {
		s.Close()
		return nil, s.explain(err)
	}
	return s, nil
}

// Close closes the connections.
func (s *Store) Close() {
	_ = s.db.Close()
	if s.pool != nil {
		s.pool.Close()
	}
}

// DB is the database. On SQLite it has one connection: nothing may be asked of
// it within a Tx.
func (s *Store) DB() *sql.DB { return s.db }

// Driver is River's driver on DB.
func (s *Store) Driver() riverdriver.Driver[*sql.Tx] { return s.driver(s.db) }

// Pool is the pool below DB on PostgreSQL, nil on SQLite.
func (s *Store) Pool() *pgxpool.Pool { return s.pool }

// Name is the address without its password, or the file.
func (s *Store) Name() string {
	if s.postgres {
		return Redacted(s.url)
	}
	return s.path
}

// Tx calls fn in a transaction, which is committed when fn returns nil.
func (s *Store) Tx(ctx context.Context, fn func(*sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return s.explain(err)
	}
	defer tx.Rollback()
	if err := fn(tx); err != nil {
		return s.explain(err)
	}
	return s.explain(tx.Commit())
}

// explain makes a fault of an error of the database.
func (s *Store) explain(err error) error {
	if err == nil || fault.Find(err) != nil || errors.Is(err, context.Canceled) || errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if !s.postgres {
		return fault.Of(&fault.FileError{}, "the jobs in %s: %w", s.path, err)
	}
	text := strings.Join(slices.Compact(strings.FieldsFunc(withoutPassword(s.url, err), func(c rune) bool { return c == '\n' || c == '\t' })), " ")
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		switch refused.Code[:2] {
		case "28": // invalid authorization
			return fault.Of(&fault.MissingCredentialsError{}, "the jobs in %s: %s", s.Name(), text)
		case "42":
			if refused.Code == "42501" {
				return fault.Hinted(fault.Of(&fault.PermissionError{}, "the jobs in %s: %s", s.Name(), refused.Message), "the role of this address lacks a right")
			}
		case "57", "53", "40":
		default:
			return fault.Of(&fault.RuntimeError{}, "the jobs in %s: %s", s.Name(), text)
		}
	}
	return fault.Of(&fault.ConnectionError{}, "the jobs in %s: %s", s.Name(), text)
}
