// Package history remembers the runs of this machine's user: a small file for
// each run, and what it printed. Runs never wait for one another: each writes
// files of its own. A run holds a lock as long as its process lives, so that
// one that was killed can be told from one that still runs.
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
	"transect/runtime/unattended/logfile"
	"transect/runtime/unattended/report"
)

// Store is the folder of the history.
type Store struct{ Dir string }

// In is the history below a state folder.
func In(stateDir string) Store { return Store{filepath.Join(stateDir, "runs")} }

const (
	logSize = 512 << 10             // and as much once more, set aside
	idTime  = "20060102-150405.000" // two runs of one second sort as well
)

// NewID makes the name of a run that starts now. Names sort by time.
func NewID(now time.Time) string {
	var random [3]byte
	rand.Read(random[:])
	return now.UTC().Format(idTime) + "-" + hex.EncodeToString(random[:])
}

func (s Store) path(id, kind string) string { return filepath.Join(s.Dir, id+kind) }

// Entry is a run under way.
type Entry struct {
	store Store
	id    string
	alive *flock.Flock
	Log   *logfile.File // what it prints
}

// Begin notes that a run has started.
func (s Store) Begin(run *report.Summary) (*Entry, error) {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return nil, err
	}
	e := &Entry{store: s, id: run.ID, alive: flock.New(s.path(run.ID, ".alive")),
		Log: &logfile.File{Path: s.path(run.ID, ".log"), Size: logSize, Keep: 1, Lone: true}}
	if _, err := e.alive.TryLock(); err != nil {
		return nil, err
	}
	err := e.write(run)
	if err == nil {
		err = e.Log.Open()
	}
	if err != nil {
		e.remove()
		return nil, err
	}
	return e, nil
}

// End notes how the run ended.
func (e *Entry) End(run *report.Summary) error {
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

func (e *Entry) remove() {
	_ = e.alive.Close()
	e.store.remove(e.id)
}

// write puts the summary in its place in one step. It is not forced to disk: a
// machine that crashes forgets its last run, and no run waits for the disk.
func (e *Entry) write(run *report.Summary) error {
	return atomicfile.WriteUnsynced(e.store.path(e.id, ".json"), run.JSON(), 0o600)
}

// ids lists the runs, newest first.
func (s Store) ids() ([]string, error) {
	files, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, f := range files {
		if id, ok := strings.CutSuffix(f.Name(), ".json"); ok {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	slices.Reverse(ids)
	return ids, nil
}

// List gives the newest runs, at most so many; all when 0. A file that cannot
// be read is left out.
func (s Store) List(most int) ([]*report.Summary, error) {
	ids, err := s.ids()
	var runs []*report.Summary
	for _, id := range ids {
		if run, err := s.read(id); err == nil {
			runs = append(runs, run)
		}
		if most > 0 && len(runs) == most {
			break
		}
	}
	return runs, err
}

func (s Store) read(id string) (*report.Summary, error) {
	text, err := os.ReadFile(s.path(id, ".json"))
	if err != nil {
		return nil, err
	}
	run := &report.Summary{}
	if err := json.Unmarshal(text, run); err != nil {
		return nil, err
	}
	if run.State == report.Running && !s.lives(id) {
		if text, err = os.ReadFile(s.path(id, ".json")); err == nil {
			_ = json.Unmarshal(text, run) // it may have ended just now
		}
		if run.State == report.Running {
			run.State = report.Lost
		}
	}
	return run, nil
}

// lives says whether the process of a run is still there.
func (s Store) lives(id string) bool {
	path := s.path(id, ".alive")
	if _, err := os.Stat(path); err != nil {
		return false
	}
	lock := flock.New(path, flock.SetFlag(os.O_RDWR))
	free, err := lock.TryRLock()
	_ = lock.Close()
	return err == nil && !free
}

// Find gives the run of a name, of the start or the end of one, or the last run
// for "last". Several may fit: then none is returned, and their names are.
func (s Store) Find(name string) (*report.Summary, []string, error) {
	ids, err := s.ids()
	if err != nil {
		return nil, nil, err
	}
	var fit []string
	for _, id := range ids {
		if name == "last" || id == name {
			fit = []string{id}
			break
		}
		if strings.HasPrefix(id, name) || strings.HasSuffix(id, name) {
			fit = append(fit, id)
		}
	}
	if len(fit) != 1 {
		return nil, fit, nil
	}
	run, err := s.read(fit[0])
	return run, fit, err
}

// Log gives what a run printed, each line with its time.
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

// Prune forgets all but the newest runs, and those that started before a
// moment; never one that still runs. It returns how many it forgot.
func (s Store) Prune(keep int, before time.Time) (int, error) {
	ids, err := s.ids()
	forgotten := 0
	for i, id := range ids {
		if i < keep && id >= before.UTC().Format(idTime) || s.lives(id) {
			continue
		}
		s.remove(id)
		forgotten++
	}
	return forgotten, err
}

func (s Store) remove(id string) {
	for _, kind := range []string{".log", ".log.1", ".alive", ".json.new", ".json"} {
		_ = os.Remove(s.path(id, kind)) // what is left goes next time
	}
}
