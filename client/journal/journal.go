// Package journal remembers, across runs and processes, which files went where
// and which parts of half-sent ones the platform has confirmed. It is one small
// SQLite file in the state folder. It holds hashes of paths and places,
// checksums, sizes and times; no addresses, no tokens, no names.
//
// What the platform has confirmed of a half-sent file survives the death of the
// process when Confirm returns (see receipts.go), and that of the machine a
// quarter of a second later. That a file was completed is written in that time,
// too: a crash in between means that it is looked at, or sent, once more.
package journal

import (
	"database/sql"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"transect/client/transfer"
)

// File is the journal's name in its folder.
const File = "journal.db"

// Limits bound what is kept. The zero value stands for the usual bounds.
type Limits struct {
	Finished   time.Duration // completed files are remembered so long; 30 days
	Unfinished time.Duration // half-sent ones; 60 days
	Files      int64         // so many files in all; a million
}

func (l Limits) orUsual() Limits {
	const day = 24 * time.Hour
	if l.Finished <= 0 {
		l.Finished = 30 * day
	}
	if l.Unfinished <= 0 {
		l.Unfinished = 60 * day
	}
	if l.Files <= 0 {
		l.Files = 1_000_000
	}
	return l
}

// Journal is a transfer.Journal on disk. It is opened when something is asked
// of it first. A journal that cannot be used is told once, as a warning, and
// everything goes on without one.
type Journal struct {
	dir    string
	log    *slog.Logger
	limits Limits
	now    func() time.Time

	mu     sync.Mutex
	db     *sql.DB
	asked  prepared
	opened bool // tried
	off    bool // not used any more
	aside  bool // a damaged one was set aside already
	told   bool // a warning was given
	queue  queue

	receipts receipts
}

// New prepares a journal in a folder, which is made when needed. It touches
// nothing yet.
func New(dir string, limits Limits, log *slog.Logger) *Journal {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Journal{dir: dir, log: log, limits: limits.orUsual(), now: time.Now}
}

func (j *Journal) path() string { return filepath.Join(j.dir, File) }

// database gives the open database, or nil when there is none to be had.
func (j *Journal) database() *sql.DB {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.off {
		return nil
	}
	if !j.opened {
		j.opened = true
		db, err := j.open()
		if err != nil {
			j.off = true
			j.warn("what was sent cannot be remembered; going on without a journal", err)
			return nil
		}
		j.db = db
		j.queue.drained = func() { j.receipts.drained(j.queue.empty) }
		j.queue.start(j.write)
	}
	return j.db
}

// prepared is the question asked of a database for each file: reading it takes
// SQLite longer than answering it.
type prepared struct {
	db        *sql.DB
	statement *sql.Stmt
}

// asking is the prepared form of a question.
func (j *Journal) asking(db *sql.DB, question string) (*sql.Stmt, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.asked.db != db {
		statement, err := db.Prepare(question)
		if err != nil {
			return nil, err
		}
		j.asked = prepared{db, statement}
	}
	return j.asked.statement, nil
}

// warn tells the first trouble with the journal. j.mu is held.
func (j *Journal) warn(message string, err error) {
	if !j.told {
		j.told = true
		why, hint := reason(err)
		j.log.Warn(message, "journal", j.path(), "reason", why, "hint", hint)
	}
}

// trouble looks at an error of the open database: a damaged one is set aside
// and a new one begun, once; with any other the journal is not used any more.
func (j *Journal) trouble(db *sql.DB, err error) {
	if isBusy(err) {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.warn("another process keeps the journal busy; some of what was sent is not noted", err)
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.off || j.db != db {
		return // somebody else met it before
	}
	if isDamage(err) && !j.aside {
		j.aside = true
		_ = db.Close() // it is of no use any more
		fresh, again := j.replace(err)
		if again == nil {
			j.db = fresh
			return
		}
		err = again
	} else {
		// Statements of other goroutines may still run; Close waits for them.
		defer func() { _ = db.Close() }()
	}
	j.db, j.off = nil, true
	j.warn("what was sent cannot be noted any more; going on without a journal", err)
}

// Close writes what is still to be written and closes the file.
func (j *Journal) Close() error {
	j.queue.stop()
	j.receipts.close()
	j.mu.Lock()
	db := j.db
	j.mu.Unlock()
	if db != nil {
		j.prune(db)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.off = true
	if j.db == nil {
		return nil
	}
	db, j.db = j.db, nil
	return db.Close()
}

// Open gives what is known of a file going to a place.
func (j *Journal) Open(f transfer.File, p transfer.Place, chunk int64) transfer.Entry {
	e := j.entry(f, p, chunk)
	db := j.database()
	if db == nil {
		return e
	}
	err := e.load(db)
	if err == nil && e.upload != nil {
		j.ready()
		// Parts this process has just confirmed may still be on their way there.
		j.queue.put(func(*writing) error { return nil }, true)
		err = e.load(db)
	}
	if err != nil {
		j.trouble(db, err)
	}
	return e
}

// Begin gives an entry for a place of which nothing can be known yet.
func (j *Journal) Begin(f transfer.File, p transfer.Place, chunk int64) transfer.Entry {
	return j.entry(f, p, chunk)
}

func (j *Journal) entry(f transfer.File, p transfer.Place, chunk int64) *entry {
	return &entry{journal: j, place: placeOf(p), state: stateOf(f), chunk: chunk, modified: f.ModTime}
}
