// Package history records the runs of this user on this machine: a summary and
// the output of each run, in files of its own, so that runs never wait for each
// other. A run holds a lock while its process lives, which distinguishes a run that
// was killed from one in progress. It also writes the summary as a JSON report and
// as metrics for Prometheus.
package history

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"transect/client/atomicfile"
	"transect/client/ledger"
	"transect/runtime/unattended/logfile"
)

// Store is the folder of the history.
type Store struct{ Dir string }

// In returns the history in a state folder.
func In(stateDir string) Store { return Store{filepath.Join(stateDir, "runs")} }

const (
	logSize = 512 << 10             // of output; as much again is kept rotated
	idTime  = "20060102-150405.000" // sorts by time
)

// NewID returns the ID of a new run. IDs sort by time.
func NewID(now time.Time) string {
	var random [3]byte
	rand.Read(random[:])
	return now.UTC().Format(idTime) + "-" + hex.EncodeToString(random[:])
}

func (s Store) path(id, kind string) string { return filepath.Join(s.Dir, id+kind) }

// Recorder keeps the record of a run in progress: an Entry, or what a supervisor has.
type Recorder interface {
	WriteProgress(text []byte) error
	End(*Summary) error
}

// Entry is a run in progress.
type Entry struct {
	store Store
	id    string
	alive *flock.Flock
	Log   *logfile.File // its output
}

// Begin records the start of a run.
func (s Store) Begin(run *Summary) (*Entry, error) {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return nil, err
	}
	e := &Entry{store: s, id: run.ID, alive: flock.New(s.path(run.ID, ".alive")),
		Log: &logfile.File{Path: s.path(run.ID, ".log"), Size: logSize, Keep: 1, Exclusive: true}}
	if _, err := e.alive.TryLock(); err != nil {
		return nil, err
	}
	err := e.write(run)
	if err == nil {
		err = e.Log.Open()
	}
	if err != nil {
		_ = e.alive.Close()
		s.remove(run.ID)
		return nil, err
	}
	return e, nil
}

// End records the end of the run.
func (e *Entry) End(run *Summary) error {
	err := e.write(run)
	if failed := e.Log.Err(); err == nil {
		err = failed
	}
	_ = e.Log.Close()
	if err == nil {
		_ = os.Remove(e.alive.Path())
	}
	_ = e.alive.Close()
	return err
}

// write replaces the summary atomically, without fsync: after a power failure
// the last run may be missing, and no run waits for the disk.
func (e *Entry) write(run *Summary) error {
	return atomicfile.WriteUnsynced(e.store.path(e.id, ".json"), run.JSON(), 0o600)
}

// names lists the files of the history, unsorted, as each run does so at its end.
func (s Store) names() ([]string, error) {
	dir, err := os.Open(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.Readdirnames(-1)
}

// ids lists the runs, newest first.
func (s Store) ids() ([]string, error) {
	names, err := s.names()
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, name := range names {
		if id, ok := strings.CutSuffix(name, ".json"); ok {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	slices.Reverse(ids)
	return ids, nil
}

// List returns the newest runs for which wanted returns true, at most limit; 0 is all. A nil wanted selects
// every run. Unreadable files are skipped.
func (s Store) List(limit int, wanted func(*Summary) bool) ([]*Summary, error) {
	ids, err := s.ids()
	var runs []*Summary
	for _, id := range ids {
		if run, err := s.read(id); err == nil && (wanted == nil || wanted(run)) {
			runs = append(runs, run)
		}
		if limit > 0 && len(runs) == limit {
			break
		}
	}
	return runs, err
}

func (s Store) read(id string) (*Summary, error) {
	text, err := os.ReadFile(s.path(id, ".json"))
	if err != nil {
		return nil, err
	}
	run := &Summary{}
	if err := json.Unmarshal(text, run); err != nil {
		return nil, err
	}
	if run.State == Running && !s.alive(id) {
		if text, err = os.ReadFile(s.path(id, ".json")); err == nil {
			_ = json.Unmarshal(text, run) // it may just have ended
		}
		if run.State == Running {
			run.State = Lost
		}
	}
	return run, nil
}

// alive reports whether the process of a run still exists.
func (s Store) alive(id string) bool {
	path := s.path(id, ".alive")
	if _, err := os.Stat(path); err != nil {
		return false
	}
	lock := flock.New(path, flock.SetFlag(os.O_RDWR))
	free, err := lock.TryRLock()
	_ = lock.Close()
	return err == nil && !free
}

// Find returns the run with an ID, with the start or the end of one, the last start of a named run, or the
// last run for "last". When the name is ambiguous it returns only the matching IDs.
func (s Store) Find(name string) (*Summary, []string, error) {
	ids, err := s.ids()
	if err != nil {
		return nil, nil, err
	}
	var matches []string
	for _, id := range ids {
		if name == "last" || id == name {
			matches = []string{id}
			break
		}
		if strings.HasPrefix(id, name) || strings.HasSuffix(id, name) {
			matches = append(matches, id)
		}
	}
	if len(matches) == 0 {
		named, err := s.List(1, func(run *Summary) bool { return run.Run == name })
		if err != nil || len(named) == 0 {
			return nil, nil, err
		}
		return named[0], []string{named[0].ID}, nil
	}
	if len(matches) != 1 {
		return nil, matches, nil
	}
	run, err := s.read(matches[0])
	return run, matches, err
}

// Log returns the output of a run, each line with its time.
func (s Store) Log(id string) ([]byte, error) {
	path := s.path(id, ".log")
	older, err := os.ReadFile(logfile.Rotated(path, 1))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	newer, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return append(older, newer...), err
}

// Prune removes all but the newest runs, and the ones started before a given time; never one in progress. It
// returns the number of runs removed.
func (s Store) Prune(keep int, before time.Time) (int, error) {
	ids, err := s.ids()
	removed := 0
	for i, id := range ids {
		if i < keep && id >= before.UTC().Format(idTime) || s.alive(id) {
			continue
		}
		s.remove(id)
		removed++
	}
	return removed, err
}

func (s Store) remove(id string) {
	if ended, _, err := s.outlook(id); err == nil && ended { // an unfinished run may be resumed
		_ = ledger.Remove(s.Dir, id)
	}
	for _, kind := range []string{".log", ".log.1", ".alive", progressKind, ".sock", ".json.new", ".json"} {
		_ = os.Remove(s.path(id, kind)) // leftovers are removed next time
	}
}
