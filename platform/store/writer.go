package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"sync"
)

// maxShared is how many changes share one transaction at most, so that writers
// in other processes get their turn.
const maxShared = 64

// writer runs the changes of this process one after the other. Those that come
// while a transaction is being kept share the next one: syncing the disk takes
// longer than most changes do, and takes as long for fifty as for one.
type writer struct {
	db      *sql.DB
	session session
	changes chan *change
	closed  chan struct{}
	once    sync.Once
	ended   chan struct{}
}

// change is what one caller of Write does.
type change struct {
	ctx      context.Context
	do       func(*Tx) error
	err      error
	panicked any
	done     chan struct{}
}

func newWriter(db *sql.DB) *writer {
	w := &writer{db: db, changes: make(chan *change), closed: make(chan struct{}), ended: make(chan struct{})}
	go w.loop()
	return w
}

// run does a change and returns once it is kept, or is not.
func (w *writer) run(ctx context.Context, do func(*Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c := &change{ctx: ctx, do: do, done: make(chan struct{})}
	select {
	case w.changes <- c:
	case <-w.closed:
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	<-c.done
	if c.panicked != nil {
		panic(c.panicked)
	}
	return c.err
}

func (w *writer) loop() {
	defer close(w.ended)
	for {
		select {
		case c := <-w.changes:
			w.share(c)
		case <-w.closed:
			return
		}
	}
}

// share runs a change, and those that wait already, in one transaction.
func (w *writer) share(first *change) {
	var all []*change
	err := func() error {
		tx, err := w.session.begin(context.Background(), w.db)
		if err != nil {
			all = append(all, first)
			return err
		}
		defer tx.tx.Rollback() // does nothing after a commit
		for c := first; c != nil; c = w.next(len(all)) {
			all = append(all, c)
			if err := c.run(tx); err != nil {
				return err
			}
		}
		return classify(tx.tx.Commit())
	}()
	if errors.Is(err, driver.ErrBadConn) {
		w.session.close()
	}
	for _, c := range all {
		if c.err == nil {
			c.err = err
		}
		close(c.done)
	}
}

// next is a change that waits, unless there are enough or none.
func (w *writer) next(have int) *change {
	if have == maxShared {
		return nil
	}
	select {
	case c := <-w.changes:
		return c
	default:
		return nil
	}
}

// run does the change, and undoes it alone when it fails. The error it returns
// is one of the whole transaction.
func (c *change) run(shared *Tx) error {
	if c.err = c.ctx.Err(); c.err != nil {
		return nil
	}
	if err := shared.step("SAVEPOINT change"); err != nil {
		return classify(err)
	}
	// Statements do not end with the caller's context: SQLite answers that by
	// undoing the whole transaction, the changes of others with it.
	func() {
		defer func() { c.panicked = recover() }()
		c.err = classify(c.do(&Tx{ctx: context.WithoutCancel(c.ctx), tx: shared.tx, session: shared.session}))
	}()
	if c.err == nil && c.panicked == nil {
		c.err = c.ctx.Err()
	}
	if c.err != nil || c.panicked != nil {
		// A full disk, say, has undone everything already; then this fails.
		if err := shared.step("ROLLBACK TO change"); err != nil {
			return classify(errors.Join(c.err, err))
		}
	}
	return classify(shared.step("RELEASE change"))
}

// step runs a statement without arguments that comes again and again.
func (tx *Tx) step(query string) error {
	p := tx.session.prepared(tx.ctx, query)
	if p == nil {
		_, err := tx.tx.ExecContext(tx.ctx, query)
		return err
	}
	_, err := p.ExecContext(tx.ctx)
	return err
}

// close waits for the transaction under way and closes the database.
func (w *writer) close() error {
	var err error
	w.once.Do(func() {
		close(w.closed)
		<-w.ended
		err = errors.Join(w.session.close(), w.db.Close())
	})
	return err
}
