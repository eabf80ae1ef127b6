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

	"transect/client/fault"
	"transect/client/sqlitefile"
)

// openSQLite opens a file, creating it with owner-only access.
func openSQLite(ctx context.Context, path string) (*sql.DB, error) {
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	var db *sql.DB
	if err == nil {
		db, err = sqlitefile.Open(ctx, path,
			"_txlock=immediate&_time_format=sqlite&_timezone=UTC&_pragma=synchronous(NORMAL)")
	}
	if refused, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, fault.Hinted(fault.Of(&fault.FileError{}, "cannot open the jobs: %w", refused),
			"name a writable state folder in TRANSECT_STATE_DIR")
	}
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

// postgresConfig parses an address. The certificate of a remote server is verified unless sslmode says
// otherwise.
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
	if query.Get("pool_max_conns") == "" {
		query.Set("pool_max_conns", "4")
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
	dialer := &net.Dialer{Control: bounded, KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second,
		Interval: 3 * time.Second, Count: 3}}
	config.ConnConfig.DialFunc = dialer.DialContext
	// Migration needs one for the lock and one for its transactions. Each check of idle ones changes the order in
	// which they are used, so they must be idle for less than that.
	config.MaxConns = max(config.MaxConns, 2)
	config.MaxConnIdleTime, config.HealthCheckPeriod = 5*time.Second, 8*time.Second
	config.ShouldPing = func(_ context.Context, p pgxpool.ShouldPingParams) bool { return p.IdleDuration > 10*time.Second }
	config.BeforeConnect, config.AfterConnect, config.PrepareConn = s.connecting, s.connected, s.usable
	if s.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return badOption(s.url, err)
	}
	s.db = stdlib.OpenDBFromPool(s.pool)
	return nil
}
