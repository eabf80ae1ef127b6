package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"sync"
)

// sessions are the connections of one kind, a transaction each at a time.
// They keep their statements prepared: parsing SQL takes longer than most of
// the statements do.
type sessions struct {
	db     *sql.DB
	free   chan *session
	closed chan struct{}
	once   sync.Once
}

type session struct {
	conn       *sql.Conn // nil until it is needed
	statements map[string]*sql.Stmt
}

// maxStatements bounds what a connection keeps prepared: searches differ without end.
const maxStatements = 200

func newSessions(db *sql.DB, connections int) *sessions {
	s := &sessions{db: db, free: make(chan *session, connections), closed: make(chan struct{})}
	for range connections {
		s.free <- &session{}
	}
	return s
}

var errClosed = errors.New("the database is closed")

// run runs f in a transaction whose statements end with a context of their own.
func (s *sessions) run(ctx, statements context.Context, f func(*Tx) error) error {
	var own *session
	select {
	case own = <-s.free:
	case <-s.closed:
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { s.free <- own }()
	err := own.transaction(ctx, statements, s.db, f)
	if errors.Is(err, driver.ErrBadConn) {
		own.close()
	}
	return err
}

func (s *session) transaction(ctx, statements context.Context, db *sql.DB, f func(*Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	// The transaction must not end by itself with ctx: statements run on the
	// connection, and one that came after the end would be committed at once.
	always := context.WithoutCancel(ctx)
	if s.conn == nil {
		conn, err := db.Conn(always)
		if err != nil {
			return classify(err)
		}
		s.conn, s.statements = conn, map[string]*sql.Stmt{}
	}
	tx, err := s.conn.BeginTx(always, nil)
	if err != nil {
		return classify(err)
	}
	defer tx.Rollback() // does nothing after a commit; undoes all on a panic
	if err := f(&Tx{ctx: statements, tx: tx, session: s}); err != nil {
		return classify(err)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return classify(tx.Commit())
}

// prepared is a prepared statement, or nil when there are too many.
func (s *session) prepared(ctx context.Context, query string) *sql.Stmt {
	if p := s.statements[query]; p != nil {
		return p
	}
	if len(s.statements) >= maxStatements {
		return nil
	}
	p, err := s.conn.PrepareContext(ctx, query)
	if err != nil {
		return nil // running it returns the reason
	}
	s.statements[query] = p
	return p
}

func (s *session) close() error {
	if s.conn == nil {
		return nil
	}
	var errs []error
	for _, p := range s.statements {
		errs = append(errs, p.Close())
	}
	errs = append(errs, s.conn.Close())
	s.conn, s.statements = nil, nil
	return errors.Join(errs...)
}

// close waits for the transactions in progress and closes the database.
func (s *sessions) close() error {
	var errs []error
	s.once.Do(func() {
		close(s.closed)
		for range cap(s.free) {
			errs = append(errs, (<-s.free).close())
		}
		errs = append(errs, s.db.Close())
	})
	return errors.Join(errs...)
}
