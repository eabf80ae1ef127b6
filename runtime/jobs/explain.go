package jobs

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
	sqlitedriver "modernc.org/sqlite"
	sqlitelib "modernc.org/sqlite/lib"

	"transect/client/fault"
)

// Explain converts an error of the database to a fault.
func (s *Store) Explain(err error) error {
	switch {
	case err == nil || fault.Find(err) != nil || errors.Is(err, context.Canceled) || errors.Is(err, sql.ErrNoRows):
		return err
	case s.Postgres:
		return explainPostgres(s.url, err)
	}
	return explainSQLite(s.path, err)
}

func explainSQLite(path string, err error) error {
	var cause *sqlitedriver.Error
	if !errors.As(err, &cause) {
		return fault.Of(&fault.FileError{}, "the jobs in %s: %w", path, fault.Reason(err))
	}
	if code := cause.Code(); code == sqlitelib.SQLITE_FULL || code == sqlitelib.SQLITE_IOERR_SHMSIZE {
		return fault.Hinted(fault.Of(&fault.FileError{}, "the jobs in %s: %w", path, syscall.ENOSPC),
			"make room on that disk; workers then continue by themselves")
	}
	f := fault.Of(&fault.FileError{}, "the jobs in %s: %w", path, err)
	switch cause.Code() & 0xff {
	case sqlitelib.SQLITE_READONLY, sqlitelib.SQLITE_CANTOPEN:
		f.Hint = "make the file and its folder writable, or name another folder in TRANSECT_STATE_DIR"
	case sqlitelib.SQLITE_CORRUPT, sqlitelib.SQLITE_NOTADB:
		f.Hint = "restore the file from a backup, or move it away: a new one is made"
	}
	return f
}

func explainPostgres(address string, err error) error {
	named := "the jobs in " + Redacted(address)
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		return explainRefusal(named, refused)
	}
	var unverified *tls.CertificateVerificationError
	var other x509.HostnameError
	text := withoutPassword(address, err)
	switch {
	case errors.As(err, &other):
		return fault.Hinted(fault.Of(&fault.ConfigError{}, "%s: the certificate of the server is for another name: %s",
			named, other.Error()),
			"name the server as its certificate does, or give it a certificate for this name")
	case errors.As(err, &unverified):
		return fault.Hinted(fault.Of(&fault.ConfigError{}, "%s: the certificate of the server is not trusted: %v", named,
			unverified.Err),
			"name the certificate of its authority, ?sslrootcert=FILE; ?sslmode=require encrypts without verifying who answers")
	case strings.Contains(text, "server refused TLS connection"):
		return fault.Hinted(fault.Of(&fault.ConfigError{}, "%s: the server does not encrypt connections", named),
			"turn on ssl in its postgresql.conf; in a network that you trust, ?sslmode=disable speaks without encryption")
	}
	if connect := (*pgconn.ConnectError)(nil); errors.As(err, &connect) {
		_, text, _ = strings.Cut(text, "`:") // user and database are already in the message
	}
	return fault.Of(&fault.ConnectionError{}, "%s: %s", named, joinErrors(text))
}

// explainRefusal converts an error from the server to a fault.
func explainRefusal(named string, refused *pgconn.PgError) error {
	text := fmt.Sprintf("%s: %s (SQLSTATE %s)", named, refused.Message, refused.Code)
	switch refused.Code {
	case "42501":
		return fault.Hinted(fault.Of(&fault.PermissionError{}, "%s: %s", named, refused.Message), "%s",
			lackedRight(refused.Message))
	case "3D000":
		return fault.Hinted(fault.Of(&fault.ConfigError{}, "%s", text), "make it with createdb")
	case "25006": // read-only transaction
		return fault.Hinted(fault.Of(&fault.ConnectionError{}, "%s", text),
			"this server is a standby, or was made read-only: name all servers, HOST1,HOST2, with "+
				"?target_session_attrs=read-write")
	case "53300": // too many connections
		return fault.Hinted(fault.Of(&fault.ConnectionError{}, "%s", text),
			"raise max_connections of the server, or have each process use fewer: ?pool_max_conns=4")
	case "25P03": // idle in a transaction: the process was stopped
		return fault.Of(&fault.ConnectionError{}, "%s", text)
	case "53100": // disk full
		return fault.Hinted(fault.Of(&fault.ConnectionError{}, "%s", text),
			"make room on the disk of the server; workers then continue by themselves")
	}
	switch refused.Code[:2] {
	case "28": // invalid authorization
		hint := "check the user and the password in the address, in ~/.pgpass or PGPASSWORD"
		if strings.Contains(refused.Message, "certificate") {
			hint = "name the certificate of this user: ?sslcert=FILE&sslkey=FILE"
		} else if strings.Contains(refused.Message, "no encryption") {
			hint = "encrypt the connection, ?sslmode=verify-full, or allow this user and this machine without it in " +
				"pg_hba.conf of the server"
		} else if strings.Contains(refused.Message, "pg_hba.conf") {
			hint = "allow this user and this machine in pg_hba.conf of the server"
		}
		return fault.Hinted(fault.Of(&fault.MissingCredentialsError{}, "%s: %s", named, refused.Message), "%s", hint)
	case "08", "40", "53", "57", "58": // connection, conflict, resources, operator, disk
		return fault.Of(&fault.ConnectionError{}, "%s", text)
	}
	return fault.Of(&fault.RuntimeError{}, "%s", text)
}

// lackedRight suggests how to get a right that the server refused.
func lackedRight(message string) string {
	if strings.Contains(message, "schema") {
		return "let the owner of the database create the tables, with transect jobs, and the roles, with transect jobs " +
			"roles | psql"
	}
	return "roles, which the owner grants (transect jobs roles): transect_viewer reads; transect_submitter submits, " +
		"cancels and retries its own jobs, keeps schedules; transect_worker works, removes jobs, settles writes"
}

// badOption returns the error for an invalid option in an address.
func badOption(address string, err error) error {
	text := withoutPassword(address, err)
	if _, reason, ok := strings.Cut(text, "`: "); ok {
		text = strings.TrimPrefix(reason, "failed to configure TLS ")
		text = strings.TrimSuffix(strings.TrimPrefix(text, "("), ")")
	}
	if cause := errors.Unwrap(err); errors.Is(cause, os.ErrNotExist) {
		text = cause.Error()
	}
	return badURL("%s", text)
}

// joinErrors lists each host's error once: the driver tries each with and without encryption.
func joinErrors(text string) string {
	lines := strings.FieldsFunc(text, func(c rune) bool { return c == '\n' || c == '\t' })
	return strings.TrimSpace(strings.Join(slices.Compact(lines), "; "))
}
