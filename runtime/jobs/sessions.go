package jobs

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"transect/client/fault"
)

// idleTransaction is the setting that ends transactions of processes that were stopped in the middle of one,
// and that block others with the rows they have locked.
const (
	idleTransaction = "idle_in_transaction_session_timeout"
	idleTimeout     = "10s"
)

// limitIdle sets idleTransaction in each session, unless the address does.
func limitIdle(config *pgxpool.Config) {
	if _, given := config.ConnConfig.RuntimeParams[idleTransaction]; given {
		return
	}
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "set "+idleTransaction+" = '"+idleTimeout+"'")
		return err
	}
}

// requireSessions refuses a connection pooler in transaction mode, such as PgBouncer with pool_mode =
// transaction: it uses another server session for each transaction, which loses settings, locks and
// notifications in between.
func requireSessions(ctx context.Context, pool *pgxpool.Pool) error {
	first, err := pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer first.Release()
	type queryer interface {
		QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	}
	pids := map[*pgxpool.Conn]int{} // process ids on the server
	moved := false
	session := func(c *pgxpool.Conn, q queryer) error {
		var pid int
		err := q.QueryRow(ctx, "select pg_backend_pid()", pgx.QueryExecModeSimpleProtocol).Scan(&pid)
		moved = moved || err == nil && pids[c] != 0 && pids[c] != pid
		pids[c] = pid
		return err
	}
	if err := session(first, first); err != nil || pids[first] == int(first.Conn().PgConn().PID()) {
		return err // not a pooler, which would invent a number
	}
	second, err := pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer second.Release()
	for range 20 { // other clients that use the sessions meanwhile may hide the switch
		time.Sleep(time.Duration(rand.Int64N(int64(5 * time.Millisecond))))
		tx, err := second.Begin(ctx) // takes the session used last, by any connection
		if err != nil {
			return err
		}
		if err := errors.Join(session(second, tx), session(first, first), tx.Rollback(ctx)); err != nil {
			return err
		}
		if moved {
			return fault.Hinted(fault.Of(&fault.ConfigError{},
				"the jobs need PostgreSQL sessions, but the connection goes through a pooler in transaction mode"),
				"name the server itself in TRANSECT_JOBS, or set pool_mode = session in the pooler")
		}
		first, second = second, first
	}
	return nil
}
