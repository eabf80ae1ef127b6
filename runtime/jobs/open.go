package jobs

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	sqlitedriver "modernc.org/sqlite"
	sqlitelib "modernc.org/sqlite/lib"

	"transect/client/fault"
)

// openSQLite opens a file, which is created for its owner alone.
func openSQLite(path string) (*sql.DB, error) {
	if err := createPrivate(path); err != nil {
		return nil, err
	}
	source := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: "_txlock=immediate&_time_format=sqlite&_timezone=UTC&_pragma=busy_timeout(10000)" +
		"&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)"}
	db, err := sql.Open("sqlite", source.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return db, untilWAL(db)
}

// createPrivate creates a file that others cannot read, or keeps others from one that
// is there. That is not opened: to close it would end SQLite's locks on it, also those
// of other connections of this process, and another process could remove the log
// beside the file that they write to.
func createPrivate(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
			var f *os.File
			if f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
				return f.Close()
			}
		}
		if errors.Is(err, fs.ErrExist) { // another process was faster
			info, err = os.Stat(path)
		}
	}
	if err != nil {
		return fault.Hinted(fault.Of(&fault.FileError{}, "cannot open the jobs: %w", err), "name a writable state folder in TRANSECT_STATE_DIR")
	}
	if info.Mode().Perm()&0o077 != 0 {
		if err := os.Chmod(path, 0o600); err != nil {
			return fault.Of(&fault.FileError{}, "the jobs in %s can be read by others: %w", path, err)
		}
	}
	return nil
}

// untilWAL waits until the file is in WAL mode: while several processes open a
// new file, SQLite fails at once instead of waiting for its busy timeout.
func untilWAL(db *sql.DB) (err error) {
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		var busy *sqlitedriver.Error
		if err = db.Ping(); !errors.As(err, &busy) || busy.Code()&0xff != sqlitelib.SQLITE_BUSY {
			break
		}
	}
	return err
}

// postgresConfig reads an address. The certificate of a remote server is verified
// unless sslmode says otherwise.
func postgresConfig(address string) (*pgxpool.Config, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, badURL("it is not a URL")
	}
	query := u.Query()
	if query.Get("sslmode") == "" && os.Getenv("PGSSLMODE") == "" && remote(u) {
		query.Set("sslmode", "verify-full")
	}
	if query.Get("connect_timeout") == "" {
		query.Set("connect_timeout", "10")
	}
	if query.Get("application_name") == "" {
		query.Set("application_name", "transect")
	}
	u.RawQuery = query.Encode()
	config, err := pgxpool.ParseConfig(u.String())
	if err != nil {
		return nil, badOption(address, err)
	}
	return config, nil
}

func (s *Store) openPostgres(ctx context.Context) error {
	config, err := postgresConfig(s.url)
	if err != nil {
		return err
	}
	dialer := &net.Dialer{Control: bounded, KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: 3 * time.Second, Count: 3}}
	config.ConnConfig.DialFunc = dialer.DialContext
	config.MaxConns = max(config.MaxConns, 2) // one holds the lock while another migrates
	s.pooler.watch(config)
	if s.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return badOption(s.url, err)
	}
	s.db = stdlib.OpenDBFromPool(s.pool)
	return s.pooler.find(ctx, s.pool)
}
