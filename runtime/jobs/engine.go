package jobs

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivertype"
)

// Tx is a transaction of a Store.
type Tx struct {
	*sql.Tx
	conn *sql.Conn // used by the transaction
}

// engine is River's client. River uses pgx for PostgreSQL and database/sql for SQLite; the clients differ in
// the type of a transaction.
type engine interface {
	insert(ctx context.Context, tx *Tx, spec Spec, options *river.InsertOpts) (*rivertype.JobRow, error)
	cancel(ctx context.Context, tx *Tx, id int64) (*rivertype.JobRow, error)
	retry(ctx context.Context, tx *Tx, id int64) (*rivertype.JobRow, error)
	remove(ctx context.Context, tx *Tx, id int64) error
	take(ctx context.Context, tx *Tx,
		params *riverdriver.JobGetAvailableParams) (*riverdriver.JobGetAvailableResult, error)
}

type engineOf[T any] struct {
	driver riverdriver.Driver[T]
	client *river.Client[T]
	use    func(tx *Tx, f func(T) error) error // calls f with a transaction of River's type
}

func newEngine[T any](driver riverdriver.Driver[T], use func(*Tx, func(T) error) error) (engine, error) {
	client, err := river.NewClient(driver, &river.Config{Logger: slog.New(slog.DiscardHandler)})
	return engineOf[T]{driver, client, use}, err
}

func (s *Store) newEngine() (engine, error) {
	if s.Postgres {
		return newEngine(riverpgxv5.New(s.pool), usePgx)
	}
	return newEngine(riversqlite.New(s.db), useSQL)
}

// useSQL and usePgx are values of engineOf.use.
func useSQL(tx *Tx, f func(*sql.Tx) error) error { return f(tx.Tx) }

func usePgx(tx *Tx, f func(pgx.Tx) error) error {
	return tx.conn.Raw(func(conn any) error { return f(pgxTx{conn.(*stdlib.Conn).Conn()}) })
}

func (e engineOf[T]) insert(ctx context.Context, tx *Tx, spec Spec, options *river.InsertOpts) (row *rivertype.JobRow,
	err error) {
	err = e.use(tx, func(tx T) error {
		inserted, err := e.client.InsertTx(ctx, tx, spec, options)
		if err == nil {
			row = inserted.Job
		}
		return err
	})
	return row, err
}

func (e engineOf[T]) cancel(ctx context.Context, tx *Tx, id int64) (row *rivertype.JobRow, err error) {
	err = e.use(tx, func(tx T) error { row, err = e.client.JobCancelTx(ctx, tx, id); return err })
	return row, err
}

func (e engineOf[T]) retry(ctx context.Context, tx *Tx, id int64) (row *rivertype.JobRow, err error) {
	err = e.use(tx, func(tx T) error { row, err = e.client.JobRetryTx(ctx, tx, id); return err })
	return row, err
}

func (e engineOf[T]) remove(ctx context.Context, tx *Tx, id int64) error {
	return e.use(tx, func(tx T) error { _, err := e.client.JobDeleteTx(ctx, tx, id); return err })
}

// take fetches jobs. It is the only use of River's interface for drivers, which may change in any version:
// River's client fetches, too, but then sets the states of jobs that were taken over by other workers.
// engine_test.go lists what to check in another version.
func (e engineOf[T]) take(ctx context.Context, tx *Tx, params *riverdriver.JobGetAvailableParams,
) (taken *riverdriver.JobGetAvailableResult, err error) {
	err = e.use(tx, func(tx T) error {
		taken, err = e.driver.UnwrapExecutor(tx).JobGetAvailable(ctx, params)
		return err
	})
	return taken, err
}

type pgxConn = pgx.Conn

// pgxTx is a transaction that database/sql has begun on a connection.
type pgxTx struct{ *pgxConn }

var errNotOurs = errors.New("the transaction is ended by who began it")

func (t pgxTx) Conn() *pgx.Conn                { return t.pgxConn }
func (t pgxTx) Commit(context.Context) error   { return errNotOurs }
func (t pgxTx) Rollback(context.Context) error { return errNotOurs }
func (t pgxTx) LargeObjects() pgx.LargeObjects { return pgx.LargeObjects{} }
