// Package ledger records the writes of one run: each is noted before it is sent and after it is answered, so
// that a later start of the run takes the answer from here instead of sending it again.
//
// A run has one append-only file. Its records carry a length and a checksum; an end truncated by a crash is dropped
// when the file is opened. What a process has written survives its death; Sync makes it survive a power loss. The
// records of a run that may continue on another machine are kept remotely (remote.go). The package is independent of
// operations: callers define what a write is, and resolve the ones whose outcome is unknown.
package ledger

import (
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"transect/client/fault"
)

// Suffix is the extension of ledgers.
const Suffix = ".ledger"

// Ledger is the record of one run, opened for one start of it. It is safe for concurrent use.
type Ledger struct {
	run  string
	path string
	lock *flock.Flock // nil of a remote one

	mu     sync.Mutex
	file   *os.File
	size   int64
	failed error // why the file can no longer be written
	table  table
	starts []Start
	kept   map[string][]byte
	apart  bool   // opened to read: Keep and Put are not written
	owned  *owned // nil until first needed

	disk   syncer
	remote *remote // nil for one in a file
}

// Start is one process that worked on a run.
type Start struct {
	At       time.Time `json:"at"`
	Host     string    `json:"host,omitempty"`
	PID      int       `json:"pid"`
	Version  string    `json:"transect,omitempty"`
	Script   string    `json:"script,omitempty"`
	Args     []string  `json:"arguments,omitempty"` // without secrets
	CodeHash string    `json:"code_hash,omitempty"` // of the script and its modules
	Ended    bool      `json:"-"`                   // it recorded its end
}

// apply updates the state in memory by one record.
func (l *Ledger) apply(at int64, r record) error {
	if l.owned != nil {
		l.owned.take(r)
	}
	switch r := r.(type) {
	case *startRecord:
		l.starts = append(l.starts, r.Start)
	case *endRecord:
		l.starts[len(l.starts)-1].Ended = true
	case *Intent:
		return l.table.intend(at, r)
	case *Result:
		return l.table.resolve(at, r)
	case *keptRecord:
		l.kept[r.Name] = r.Value
	}
	return nil
}

// note appends a record, applies it, and waits until it is stored. The ledger is locked.
func (l *Ledger) note(r record) error {
	if kept, ok := r.(*keptRecord); ok && l.apart {
		return l.apply(0, kept)
	}
	if err := l.add(r); err != nil {
		return err
	}
	return l.accepted()
}

// add appends a record and applies it.
func (l *Ledger) add(r record) error {
	at := l.size
	if err := l.append(encode(r)); err != nil {
		return err
	}
	return l.apply(at, r)
}

// append writes at the end. A partial write is rolled back; the ledger refuses everything from then on.
func (l *Ledger) append(b []byte) error {
	if l.failed != nil {
		return l.failed
	}
	if _, err := l.file.WriteAt(b, l.size); err != nil {
		_ = l.file.Truncate(l.size)
		l.failed = unwritable(l.path, err)
		return l.failed
	}
	l.size += int64(len(b))
	return nil
}

func unwritable(path string, err error) error {
	return fault.Hinted(fault.Of(&fault.FileError{}, "the ledger of the run cannot be written: %s: %w", path,
		fault.Reason(err)),
		"writes that cannot be recorded are not sent: make room, or name another folder with TRANSECT_STATE_DIR, and "+
			"start the run again")
}

// Starts lists the starts of the run, this one last.
func (l *Ledger) Starts() []Start {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Start(nil), l.starts...)
}

// Ended reports whether an earlier start succeeded, and when it began.
func (l *Ledger) Ended() (at time.Time, ended bool) {
	for _, s := range l.Starts() {
		if s.Ended {
			at, ended = s.At, true
		}
	}
	return at, ended
}

// Ident identifies the ledger uniquely, even among runs with the same ID on other machines or at other times:
// it is sent to the platform with each write.
func (l *Ledger) Ident() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := fnv.New32a()
	if len(l.starts) > 0 {
		first := l.starts[0]
		fmt.Fprintf(h, "%d %s %d", first.At.UnixNano(), first.Host, first.PID)
	}
	return fmt.Sprintf("%s-%08x", l.run, h.Sum32())
}

// Run returns the run's ID.
func (l *Ledger) Run() string { return l.run }

// Keep returns the value stored under a name, or calls make and stores its result. Values are in the caller's
// encoding.
func (l *Ledger) Keep(name string, make func() ([]byte, error)) ([]byte, error) {
	l.mu.Lock()
	value, ok := l.kept[name]
	l.mu.Unlock()
	if ok {
		return value, nil
	}
	value, err := make()
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if earlier, kept := l.kept[name]; kept {
		return earlier, nil
	}
	return value, l.note(&keptRecord{name, value})
}

// Kept returns the value stored under a name, or nil.
func (l *Ledger) Kept(name string) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.kept[name]
}

// Put stores a value under a name, replacing an earlier one.
func (l *Ledger) Put(name string, value []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.note(&keptRecord{name, value})
}

// Decide records the outcome of a write, found out by other means.
func (l *Ledger) Decide(seq uint32, state State, ids []string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.note(&Result{Seq: seq, State: state, IDs: ids})
}

// End records that this start succeeded.
func (l *Ledger) End() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.note(&endRecord{})
}

// Close releases the ledger.
func (l *Ledger) Close() error {
	err := l.file.Close()
	if l.remote != nil {
		_ = os.Remove(l.file.Name()) // gone already on most systems
		return err
	}
	return errors.Join(err, l.lock.Close())
}

// Fingerprint identifies the content of a write, independently of its origin and time.
type Fingerprint [16]byte

func (f Fingerprint) String() string { return fmt.Sprintf("%x", f[:]) }
