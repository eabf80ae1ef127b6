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
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	sqlitedriver "modernc.org/sqlite"
	sqlitelib "modernc.org/sqlite/lib"

	"transect/client/fault"
)

// dialect is what differs between the two databases. Statements with $1, $2 …
// are understood by both.
type dialect struct {
	postgres bool
	now      string // milliseconds of the database's clock
	skip     string // at the end of a select: lock the rows, pass over locked ones
	millis   string // format of a column of River's as milliseconds
	words    *strings.Replacer
}

var (
	sqlite = dialect{
		now:    "cast(unixepoch('subsec') * 1000 as integer)",
		millis: "cast(coalesce(unixepoch(%s, 'subsec'), 0) * 1000 as integer)",
		words:  strings.NewReplacer("{id}", "integer primary key autoincrement", "{bytes}", "blob", "{now}", "(cast(unixepoch('subsec') * 1000 as integer))"),
	}
	postgres = dialect{
		postgres: true,
		now:      "cast(extract(epoch from clock_timestamp()) * 1000 as bigint)",
		skip:     " for update skip locked",
		millis:   "cast(coalesce(extract(epoch from %s), 0) * 1000 as bigint)",
		words:    strings.NewReplacer("{id}", "bigint generated always as identity primary key", "{bytes}", "bytea", "{now}", "cast(extract(epoch from clock_timestamp()) * 1000 as bigint)"),
	}
)

// driver is River's, for database/sql. Workers on PostgreSQL use riverpgxv5 on
// Store.Pool, which listens to notifications as well.
func (d dialect) driver(db *sql.DB) riverdriver.Driver[*sql.Tx] {
	if d.postgres {
		return riverdatabasesql.New(db)
	}
	return riversqlite.New(db)
}

// openSQLite opens a file, which is created for its owner alone.
func openSQLite(path string) (*sql.DB, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
			f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		}
	}
	if err != nil {
		return nil, fault.Hinted(fault.Of(&fault.FileError{}, "cannot open the jobs: %w", err), "name a writable state folder in TRANSECT_STATE_DIR")
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Mode().Perm()&0o077 != 0 {
		if err := f.Chmod(0o600); err != nil {
			return nil, fault.Of(&fault.FileError{}, "the jobs in %s can be read by others: %w", path, err)
		}
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
		return nil, badURL("%s", withoutPassword(address, err))
	}
	if _, given := config.ConnConfig.RuntimeParams[idleTransaction]; !given {
		config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
			_, err := conn.Exec(ctx, "set "+idleTransaction+" = '10s'")
			return err
		}
	}
	return config, nil
}

func openPostgres(ctx context.Context, address string) (*sql.DB, *pgxpool.Pool, error) {
	config, err := postgresConfig(address)
	if err != nil {
		return nil, nil, err
	}
	dialer := &net.Dialer{Control: bounded, KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: 3 * time.Second, Count: 3}}
	config.ConnConfig.DialFunc = dialer.DialContext
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, nil, badURL("%s", withoutPassword(address, err))
	}
	return stdlib.OpenDBFromPool(pool), pool, nil
}

// idleTransaction ends the transactions of processes that were stopped in the
// middle of one, and that keep others from the rows they have locked.
const idleTransaction = "idle_in_transaction_session_timeout"

func badURL(format string, args ...any) error {
	err := fault.Of(&fault.ConfigError{}, "the address of the jobs: "+format, args...)
	return fault.Hinted(err, "such as postgres://user@host/database; the password may stand in ~/.pgpass")
}

// remote reports whether a server is on another machine.
func remote(u *url.URL) bool {
	for _, host := range strings.Split(u.Host, ",") {
		name := (&url.URL{Host: host}).Hostname()
		if given := u.Query().Get("host"); name == "" && given != "" {
			name = given
		}
		if name == "" {
			name = os.Getenv("PGHOST")
		}
		ip := net.ParseIP(name)
		if name != "" && !strings.HasPrefix(name, "/") && name != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return true
		}
	}
	return false
}

// Redacted is an address without its password.
func Redacted(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "(an address that cannot be read)"
	}
	query := u.Query()
	for _, name := range []string{"password", "sslpassword"} {
		if query.Has(name) {
			query.Set(name, "xxxxx")
			u.RawQuery = query.Encode()
		}
	}
	return u.Redacted()
}

// Password is that of an address; ok is false without one.
func Password(address string) (password string, ok bool) {
	u, err := url.Parse(address)
	if err != nil {
		return "", false
	}
	if password, ok = u.User.Password(); !ok {
		password = u.Query().Get("password")
	}
	return password, password != ""
}

// withoutPassword is the text of an error that may hold the address.
func withoutPassword(address string, err error) string {
	text := strings.ReplaceAll(err.Error(), address, Redacted(address))
	u, failed := url.Parse(address)
	if failed != nil {
		return "it cannot be read"
	}
	secrets := []string{u.Query().Get("password"), u.Query().Get("sslpassword")}
	if u.User != nil {
		given, _ := u.User.Password()
		secrets = append(secrets, given)
	}
	for _, secret := range secrets {
		if secret == "" {
			continue
		}
		for _, form := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret)} {
			text = strings.ReplaceAll(text, form, "xxxxx")
		}
	}
	return text
}
