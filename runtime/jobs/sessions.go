package jobs

import (
	"cmp"
	"context"

	"github.com/jackc/pgx/v5"
)

// idleTransaction is the setting that ends transactions of processes that were stopped in the middle of one,
// and that block others with the rows they have locked.
const (
	idleTransaction = "idle_in_transaction_session_timeout"
	idleTimeout     = "10s"
)

// connected sets idleTransaction for a new session, unless a pooler is in between, which invents process ids. It
// may use another session for each transaction: settings are lost then, and notifications.
func (s *Store) connected(ctx context.Context, conn *pgx.Conn) error {
	var pid uint32
	err := conn.QueryRow(ctx, "select pg_backend_pid() from set_config($1, $2, pg_backend_pid() <> cast($3 as bigint))",
		pgx.QueryExecModeSimpleProtocol, idleTransaction, cmp.Or(conn.Config().RuntimeParams[idleTransaction], idleTimeout),
		int64(conn.PgConn().PID())).Scan(&pid)
	if err == nil && pid != conn.PgConn().PID() {
		s.pooled.Store(true)
	}
	return err
}

// connecting makes a new connection keep no statements in its session if there is a pooler, see connected.
func (s *Store) connecting(_ context.Context, config *pgx.ConnConfig) error {
	if s.pooled.Load() && config.DefaultQueryExecMode == pgx.QueryExecModeCacheStatement {
		config.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	}
	return nil
}

// usable rejects the connection that found the pooler: it would keep statements.
func (s *Store) usable(_ context.Context, conn *pgx.Conn) (bool, error) {
	return !s.pooled.Load() || conn.Config().DefaultQueryExecMode != pgx.QueryExecModeCacheStatement, nil
}

// Listens reports whether the database announces changes: PostgreSQL does, unless it is behind a pooler.
func (s *Store) Listens() bool { return s.Postgres && !s.pooled.Load() }
