package ledger

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"transect/client/fault"
)

// OpenRun opens the ledger of a run, creating it if needed, and begins a start. It fails with LockedError
// while another process has it open, and with FileError when it is damaged, of a newer version, or cannot be
// written.
func OpenRun(dir, run string, start Start) (*Ledger, error) {
	l, err := OpenToEdit(dir, run)
	if err != nil {
		return nil, err
	}
	return l.begin(start)
}

// begin records a start.
func (l *Ledger) begin(start Start) (*Ledger, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.note(&startRecord{start}); err != nil {
		_ = l.Close()
		return nil, err
	}
	return l, nil
}

// OpenToEdit is like OpenRun without a start: for decisions about its writes.
func OpenToEdit(dir, run string) (*Ledger, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, unwritable(dir, err)
	}
	l := &Ledger{run: run, path: filepath.Join(dir, run+Suffix), kept: map[string][]byte{}}
	l.lock = flock.New(l.path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	switch ok, err := l.lock.TryLock(); {
	case err != nil:
		return nil, unwritable(l.path, err)
	case !ok:
		return nil, inProgress(dir, run)
	}
	file, err := os.OpenFile(l.path, os.O_RDWR, 0o600)
	if err != nil {
		_ = l.lock.Close()
		return nil, unwritable(l.path, err)
	}
	l.file = file
	if !l.locksFile() { // the file was replaced before it was locked
		_ = l.Close()
		return OpenToEdit(dir, run)
	}
	if err := l.load(); err != nil {
		_ = l.Close()
		return nil, err
	}
	return l, nil
}

// OpenToRead opens the ledger of a run that may be in progress. It fails with
// fs.ErrNotExist when the run has none.
func OpenToRead(dir, run string) (*Ledger, error) {
	l := &Ledger{run: run, path: filepath.Join(dir, run+Suffix), kept: map[string][]byte{}, apart: true}
	var err error
	if l.file, err = os.Open(l.path); err != nil {
		return nil, err
	}
	l.lock = flock.New(l.path)
	info, err := l.file.Stat()
	if err == nil {
		l.size, err = scan(l.file, info.Size(), l.apply)
	}
	if err != nil {
		_ = l.file.Close()
		return nil, l.unusable(err)
	}
	return l, nil
}

// inProgress returns the error that names the process working on a run.
func inProgress(dir, run string) error {
	holder := "another process"
	if l, err := OpenToRead(dir, run); err == nil {
		if starts := l.Starts(); len(starts) > 0 {
			last := starts[len(starts)-1]
			holder = fmt.Sprintf("process %d on %s since %s", last.PID, cmp.Or(last.Host, "this machine"),
				last.At.Local().Format(time.DateTime))
		}
		_ = l.file.Close()
	}
	return fault.Hinted(fault.Of(&fault.LockedError{}, "the run %s is in progress: %s", run, holder),
		"wait for its end, or start another run")
}

func (l *Ledger) unusable(err error) error {
	return fault.Hinted(fault.Of(&fault.FileError{}, "the ledger %s cannot be used: %w", l.path, err),
		"start another run, or forget this one: transect runs forget %s", l.run)
}

// load reads the records of earlier starts and drops a truncated end.
func (l *Ledger) load() error {
	info, err := l.file.Stat()
	if err != nil {
		return unwritable(l.path, err)
	}
	if info.Size() < int64(len(header)) { // new, or truncated in its first line
		if err := l.file.Truncate(0); err != nil {
			return unwritable(l.path, err)
		}
		return l.append([]byte(header))
	}
	l.size, err = scan(l.file, info.Size(), l.apply)
	if err != nil {
		return l.unusable(err)
	}
	if l.size < info.Size() {
		if err := l.file.Truncate(l.size); err != nil {
			return unwritable(l.path, err)
		}
	}
	return nil
}
