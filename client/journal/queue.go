package journal

import (
	"context"
	"database/sql"
	"sync"
	"time"
)

const (
	// What nobody waits for is written together, after this long.
	lazily = 250 * time.Millisecond
	// So many changes are written in one transaction.
	batch = 1000
)

// change is something to be written. done is closed when it was, or could not
// be; nil when nobody waits.
type change struct {
	apply func(*writing) error
	done  chan struct{}
}

// queue hands changes, in their order, to the one goroutine that writes.
type queue struct {
	mu      sync.Mutex
	list    []change
	wake    chan struct{}
	urgent  chan struct{}
	stopped bool
	ended   chan struct{}
	drained func() // all that was queued is written
}

func (q *queue) start(write func([]change)) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.stopped {
		return
	}
	q.wake, q.urgent, q.ended = make(chan struct{}, 1), make(chan struct{}, 1), make(chan struct{})
	go q.run(write)
}

// put queues a change. wait returns when it was written.
func (q *queue) put(apply func(*writing) error, wait bool) {
	c := change{apply: apply}
	q.mu.Lock()
	if q.stopped || q.wake == nil {
		q.mu.Unlock()
		return
	}
	if wait {
		c.done = make(chan struct{})
	}
	q.list = append(q.list, c)
	full := len(q.list) >= batch
	q.mu.Unlock()
	signal(q.wake)
	if wait || full {
		signal(q.urgent)
	}
	if wait {
		<-c.done
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (q *queue) run(write func([]change)) {
	defer close(q.ended)
	for {
		<-q.wake
		timer := time.NewTimer(lazily)
		select {
		case <-q.urgent:
		case <-timer.C:
		}
		timer.Stop()
		for {
			q.mu.Lock()
			n := min(len(q.list), batch)
			work := q.list[:n:n]
			q.list = q.list[n:]
			stopped := q.stopped
			q.mu.Unlock()
			if n == 0 {
				if stopped {
					return
				}
				q.drained()
				break
			}
			write(work)
			for _, c := range work {
				if c.done != nil {
					close(c.done)
				}
			}
		}
	}
}

func (q *queue) empty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.list) == 0
}

// stop writes what is queued and ends the goroutine.
func (q *queue) stop() {
	q.mu.Lock()
	q.stopped = true
	ended, wake, urgent := q.ended, q.wake, q.urgent
	q.mu.Unlock()
	if ended == nil {
		return
	}
	signal(urgent)
	signal(wake)
	<-ended
}

// write makes one transaction of changes.
func (j *Journal) write(work []change) {
	j.mu.Lock()
	db := j.db
	j.mu.Unlock()
	if db == nil {
		return
	}
	if err := transact(db, work); err != nil {
		j.receipts.keep()
		j.trouble(db, err)
	}
}

// writing is a transaction. Of what it writes again and again the statements
// are prepared: reading them takes SQLite as long as what they do.
type writing struct {
	*sql.Tx
	statements map[string]*sql.Stmt
}

// Exec runs a statement.
func (w *writing) Exec(query string, args ...any) (sql.Result, error) {
	s := w.statements[query]
	if s == nil {
		var err error
		if s, err = w.Prepare(query); err != nil {
			return nil, err
		}
		w.statements[query] = s // until the transaction ends
	}
	return s.Exec(args...)
}

func transact(db *sql.DB, work []change) error {
	tx, err := db.BeginTx(context.Background(), nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing happens after a commit
	w := &writing{tx, map[string]*sql.Stmt{}}
	for _, c := range work {
		if err := c.apply(w); err != nil {
			return err
		}
	}
	return tx.Commit()
}
