package runtime

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"time"

	"transect/client/fault"
	"transect/client/ledger"
	"transect/client/recovery"
)

// RunID names a run, which may have several starts.
type RunID struct {
	ID    string
	Known bool // it was given by the user or has earlier starts: its ledger is opened at the start
}

// settleAfter is how long after it was sent a request of a dead process may still
// arrive at a platform.
const settleAfter = 30 * time.Second

// runIDForm is that of at most mostRunID characters; a count in the pattern would
// slow every start.
var runIDForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

const mostRunID = 100

// CheckRunID refuses what cannot be the name of a run.
func CheckRunID(id string) error {
	if len(id) <= mostRunID && runIDForm.MatchString(id) {
		return nil
	}
	return fault.Hinted(fault.Of(&fault.UsageError{}, "%q cannot be the ID of a run", id), "use letters, digits, dots, dashes and underscores, at most 100")
}

// LedgerFolder is where the ledgers of this user's runs are.
func (p *Process) LedgerFolder() string { return filepath.Join(p.StateDir(), "runs") }

// runLedger is the ledger of a run, opened at its first write.
type runLedger struct {
	open  func() (*ledger.Ledger, error)
	key   func() ([]byte, error)
	tally recovery.Tally

	mu     sync.Mutex
	opened *ledger.Ledger
}

func newRunLedger(p *Process, job *Job) *runLedger {
	r := &runLedger{}
	r.key = sync.OnceValues(func() ([]byte, error) { return ledgerKey(p.LedgerFolder()) })
	r.open = sync.OnceValues(func() (*ledger.Ledger, error) {
		host, _ := os.Hostname() // not all systems have a name
		l, err := ledger.OpenRun(p.LedgerFolder(), job.Run.ID, ledger.Start{At: p.Now(), Host: host, PID: os.Getpid(), Version: job.Version, Script: job.Script})
		r.mu.Lock()
		defer r.mu.Unlock()
		r.opened = l
		return l, err
	})
	return r
}

func (r *runLedger) options() *recovery.Options {
	return &recovery.Options{Ledger: r.open, Key: r.key, Settle: settleAfter, Sync: true, Tally: &r.tally}
}

// end releases the ledger, and notes the end of a start that was not cut short.
func (r *runLedger) end(ok bool) error {
	r.mu.Lock()
	l := r.opened
	r.mu.Unlock()
	if l == nil {
		return nil
	}
	var err error
	if ok {
		err = l.End()
	}
	return errors.Join(err, l.Close())
}

// ledgerKey is the key of the fingerprints in a folder, made at the first use.
func ledgerKey(dir string) ([]byte, error) {
	path := filepath.Join(dir, "ledger.key")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fault.Of(&fault.FileError{}, "the key of the ledgers cannot be kept: %w", fault.Reason(err))
	}
	if file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
		key := make([]byte, keySize)
		rand.Read(key)
		_, err = file.Write(key)
		if err = errors.Join(err, file.Close()); err != nil {
			_ = os.Remove(path)
			return nil, fault.Of(&fault.FileError{}, "the key of the ledgers cannot be kept: %w", fault.Reason(err))
		}
		return key, nil
	}
	var key []byte
	var err error
	for range 100 { // another process may be writing it
		if key, err = os.ReadFile(path); err != nil || len(key) == keySize {
			break
		}
		time.Sleep(time.Millisecond)
	}
	switch {
	case err != nil:
		return nil, fault.Of(&fault.FileError{}, "the key of the ledgers cannot be read: %w", fault.Reason(err))
	case len(key) != keySize:
		return nil, fault.Of(&fault.FileError{}, "the key of the ledgers %s is damaged", path)
	}
	return key, nil
}

const keySize = 32 // bytes
