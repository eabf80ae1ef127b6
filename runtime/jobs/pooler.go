package jobs

import (
	"context"
	"database/sql"
	"errors"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// pooler tells whether one stands before the server, such as PgBouncer. It may give
// each transaction another session of the server, so that nothing of a session is
// relied on: no prepared statements, no settings, no notifications.
type pooler struct{ found atomic.Bool }

// errPooler refuses the connection by which a pooler was found.
var errPooler = errors.New("a connection pooler stands before the server")

// watch has a pool look for a pooler.
func (p *pooler) watch(config *pgxpool.Config) {
	timeout := idleTimeout
	if given, ok := config.ConnConfig.RuntimeParams[idleTransaction]; ok {
		timeout = given
	}
	config.BeforeConnect = func(_ context.Context, c *pgx.ConnConfig) error {
		if p.found.Load() {
			c.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
		}
		return nil
	}
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		// A pooler makes up the number of the process that serves a connection.
		var direct bool
		var set *string
		err := conn.QueryRow(ctx, "select pg_backend_pid() = $1::bigint, case when pg_backend_pid() = $1::bigint then set_config('"+idleTransaction+"', $2, false) end",
			pgx.QueryExecModeSimpleProtocol, int64(conn.PgConn().PID()), timeout).Scan(&direct, &set)
		if err == nil && !direct && !p.found.Swap(true) {
			err = errPooler
		}
		return err
	}
}

// find makes the first connection, by which a pooler is found.
func (p *pooler) find(ctx context.Context, pool *pgxpool.Pool) error {
	for {
		conn, err := pool.Acquire(ctx)
		if err == nil {
			conn.Release()
		}
		if !errors.Is(err, errPooler) {
			return err
		}
	}
}

// begin does for a transaction what cannot be done for a session.
func (p *pooler) begin(ctx context.Context, tx *sql.Tx) error {
	if !p.found.Load() {
		return nil
	}
	_, err := tx.ExecContext(ctx, "set local "+idleTransaction+" = '"+idleTimeout+"'")
	return err
}

// idleTransaction ends the transactions of processes that were stopped in the
// middle of one, and that keep others from the rows they have locked.
const (
	idleTransaction = "idle_in_transaction_session_timeout"
	idleTimeout     = "10s"
)

// Listens reports whether the database tells of changes. SQLite does not, nor does
// PostgreSQL behind a connection pooler: there one looks again and again.
func (s *Store) Listens() bool { return s.postgres && !s.pooler.found.Load() }
