package jobs

import (
	"context"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
)

// channel is the channel on which PostgreSQL announces changes of jobs; the payload is the id.
const channel = "transect_job"

// Polling intervals of a reader.
const (
	pollAlone     = 200 * time.Millisecond
	pollListening = time.Second
)

// NotifyTx announces a change of a job when the transaction is committed, and to workers that it is available. On
// SQLite readers poll.
func (s *Store) NotifyTx(ctx context.Context, tx *Tx, id int64) error {
	if !s.Postgres {
		return nil
	}
	_, err := tx.ExecContext(ctx, `select count(pg_notify($1, cast(cast($2 as bigint) as text))), (select
		count(pg_notify(current_schema() || '.river_insert', json_build_object('queue', queue)::text))
		from river_job where id = $2 and state = 'available')`, channel, id)
	return err
}

// changes waits for the next change of one job, or of any for 0.
type changes struct {
	store *Store
	id    string
	conn  *pgx.Conn // listens; nil on SQLite and while the server is away
}

func (s *Store) changes(ctx context.Context, id int64) *changes {
	c := &changes{store: s, id: strconv.FormatInt(id, 10)}
	if id == 0 {
		c.id = ""
	}
	c.listen(ctx)
	return c
}

// listen opens a separate connection: the pool would be one short.
func (c *changes) listen(ctx context.Context) {
	if !c.store.Listens() || c.conn != nil {
		return
	}
	conn, err := pgx.ConnectConfig(ctx, c.store.pool.Config().ConnConfig)
	if err != nil {
		return
	}
	if _, err := conn.Exec(ctx, "listen "+channel); err != nil {
		_ = conn.Close(ctx)
		return
	}
	c.conn = conn
}

// wait returns at a change, or when it is time to poll. It fails only when the context ends.
func (c *changes) wait(ctx context.Context) error {
	interval := pollAlone
	if c.store.Postgres {
		interval = pollListening
		c.listen(ctx)
	}
	timeout, cancel := context.WithTimeout(ctx, interval)
	defer cancel()
	for c.conn != nil {
		n, err := c.conn.WaitForNotification(timeout)
		if err != nil && timeout.Err() == nil {
			c.close()
		}
		if err != nil {
			break
		}
		if c.id == "" || n.Payload == c.id {
			return nil
		}
	}
	<-timeout.Done()
	return ctx.Err()
}

func (c *changes) close() {
	if c.conn != nil {
		_ = c.conn.Close(context.Background())
		c.conn = nil
	}
}
