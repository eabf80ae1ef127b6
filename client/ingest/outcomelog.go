package ingest

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"transect/client/fault"
)

// OutcomeLog is a file of outcomes, one JSON object per line, so that a million of them take no memory.
type OutcomeLog struct {
	path string

	mu      sync.Mutex
	file    *os.File // nil once closed
	w       *bufio.Writer
	flushed time.Time
}

// flushInterval is the longest time an outcome stays unwritten while others follow.
const flushInterval = time.Second

const (
	logFolder = "ingest"
	logEnding = ".jsonl"
	maxLogs   = 50 // kept
)

// tempDir returns the folder for temporary files: the folder of outcome logs, if it can be created,
// because the system's may be in memory.
func tempDir(stateDir string) string {
	if stateDir == "" {
		return ""
	}
	folder := filepath.Join(stateDir, logFolder)
	if os.MkdirAll(folder, 0o700) != nil {
		return ""
	}
	return folder
}

func newOutcomeLog(stateDir, id string) (*OutcomeLog, error) {
	l := &OutcomeLog{}
	var err error
	if stateDir == "" {
		l.file, err = os.CreateTemp("", "transect-ingest-*"+logEnding)
	} else {
		folder := filepath.Join(stateDir, logFolder)
		if err = os.MkdirAll(folder, 0o700); err == nil {
			pruneLogs(folder)
			l.file, err = os.OpenFile(filepath.Join(folder, id+logEnding), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		}
	}
	if err != nil {
		return nil, fault.Hinted(fault.Of(&fault.FileError{}, "cannot write the outcomes of the run to %s: %w",
			cmp.Or(stateDir, os.TempDir()), fault.Reason(err)),
			"name another folder in TRANSECT_STATE_DIR")
	}
	l.path, l.w = l.file.Name(), bufio.NewWriterSize(l.file, 64<<10)
	return l, nil
}

// pruneLogs removes the logs of the oldest runs.
func pruneLogs(folder string) {
	names, err := fs.Glob(os.DirFS(folder), "*"+logEnding)
	if err != nil || len(names) < maxLogs {
		return
	}
	slices.Sort(names) // names begin with the time
	for _, name := range names[:len(names)-maxLogs+1] {
		_ = os.Remove(filepath.Join(folder, name)) // the next run tries again
	}
}

// Path returns the path of the file, which later runs remove.
func (l *OutcomeLog) Path() string { return l.path }

func (l *OutcomeLog) add(o Outcome) error {
	line, err := json.Marshal(o.encoded())
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err = l.w.Write(append(line, '\n'))
	if now := time.Now(); err == nil && now.Sub(l.flushed) >= flushInterval {
		l.flushed, err = now, l.w.Flush()
	}
	return logError(err)
}

func (l *OutcomeLog) flush() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	return logError(l.w.Flush())
}

func logError(err error) error {
	if err == nil || fault.Find(err) != nil {
		return err
	}
	return fault.Hinted(fault.Of(&fault.FileError{}, "cannot write an outcome: %w", fault.Reason(err)),
		"is the disk full? what was sent is safe: make room and run again")
}

// close closes the file for writing; the outcomes can still be read.
func (l *OutcomeLog) close() error {
	err := l.flush()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		err = errors.Join(err, logError(l.file.Close()))
		l.file = nil
	}
	return err
}

// All yields the outcomes in order, and stops at an error.
func (l *OutcomeLog) All(yield func(Outcome, error) bool) {
	if err := l.flush(); err != nil {
		yield(Outcome{}, err)
		return
	}
	readLog(l.path)(yield)
}

// rewrite changes all outcomes, or none on an error.
func (l *OutcomeLog) rewrite(change func(*Outcome)) error {
	file, err := os.OpenFile(l.path+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return logError(err)
	}
	changed := &OutcomeLog{file: file, w: bufio.NewWriterSize(file, 64<<10)}
	for o, failed := range l.All {
		if err = failed; err == nil {
			change(&o)
			err = changed.add(o)
		}
		if err != nil {
			break
		}
	}
	// Windows cannot rename an open file, so close both first.
	if err = errors.Join(err, changed.close()); err == nil {
		err = l.close()
	}
	if err == nil {
		err = os.Rename(file.Name(), l.path)
	}
	if err != nil {
		_ = os.Remove(file.Name()) // the log stays unchanged
		return logError(err)
	}
	l.file, err = os.OpenFile(l.path, os.O_WRONLY|os.O_APPEND, 0o600)
	l.w.Reset(l.file)
	return logError(err)
}

func readLog(path string) iter.Seq2[Outcome, error] {
	return func(yield func(Outcome, error) bool) {
		file, err := os.Open(path)
		if err == nil {
			defer file.Close()
		}
		lines := json.NewDecoder(bufio.NewReaderSize(file, 64<<10))
		for err == nil {
			var o Outcome
			if err = lines.Decode(&o); err == nil {
				err = o.decode()
			}
			if err == nil && !yield(o, nil) {
				return
			}
		}
		if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) { // a killed run leaves an incomplete line
			yield(Outcome{}, fault.Of(&fault.FileError{}, "cannot read the outcomes of the run: %w", err))
		}
	}
}

// Earlier reads the outcomes of an earlier run on this machine, by its id.
func Earlier(stateDir, id string) (iter.Seq2[Outcome, error], error) {
	path := filepath.Join(stateDir, logFolder, filepath.Base(id)+logEnding)
	if _, err := os.Stat(path); err != nil {
		return nil, fault.Hinted(fault.Of(&fault.FileError{}, "there is no ingest %s on this machine", id),
			"the outcomes of the last %d runs are kept; name a report written with report = instead", maxLogs)
	}
	return readLog(path), nil
}

// inBatches visits the selected elements in order, with the results of looking them up: in batches
// of the size of one request, several requests concurrently.
func inBatches[T, F any](all iter.Seq2[T, error], want func(T) bool, lookUp func([]T) (F, error),
	visit func([]T, F) error) error {
	var looks []chan error // of the batches being looked up, in order
	var visits []func() error
	next := func() error {
		err := <-looks[0]
		if err == nil {
			err = visits[0]()
		}
		looks, visits = looks[1:], visits[1:]
		return err
	}
	begin := func(batch []T) error {
		if len(looks) == lookupsInFlight {
			if err := next(); err != nil {
				return err
			}
		}
		var found F
		done := make(chan error, 1)
		looks, visits = append(looks, done), append(visits, func() error { return visit(batch, found) })
		go func() {
			var err error
			found, err = lookUp(batch)
			done <- err
		}()
		return nil
	}
	err := func() error {
		var batch []T
		for o, err := range all {
			if err != nil {
				return err
			}
			if !want(o) {
				continue
			}
			if batch = append(batch, o); len(batch) == lookupSize {
				if err := begin(batch); err != nil {
					return err
				}
				batch = nil
			}
		}
		if len(batch) > 0 {
			return begin(batch)
		}
		return nil
	}()
	for len(looks) > 0 {
		if err == nil {
			err = next()
			continue
		}
		<-looks[0] // wait, so that nothing runs after the return
		looks = looks[1:]
	}
	return err
}
