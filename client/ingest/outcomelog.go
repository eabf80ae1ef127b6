package ingest

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"transect/client/fault"
)

// OutcomeLog is a file of outcomes, one JSON object a line, so that a million of
// them take no memory.
type OutcomeLog struct {
	path      string
	temporary bool

	mu   sync.Mutex
	file *os.File
	w    *bufio.Writer
}

const (
	logFolder = "ingest"
	logEnding = ".jsonl"
	maxLogs   = 50 // kept
)

// tempDir is the folder of temporary files: that of the outcome logs, where it
// can be created, because the system's may be in memory.
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
		l.temporary = true
		l.file, err = os.CreateTemp("", "transect-ingest-*"+logEnding)
	} else {
		folder := filepath.Join(stateDir, logFolder)
		if err = os.MkdirAll(folder, 0o700); err == nil {
			pruneLogs(folder)
			l.file, err = os.OpenFile(filepath.Join(folder, id+logEnding), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		}
	}
	if err != nil {
		return nil, fault.Hinted(fault.Of(&fault.FileError{}, "cannot write the outcomes of the run to %s: %w", cmp.Or(stateDir, os.TempDir()), fault.Reason(err)),
			"name another folder in TRANSECT_STATE_DIR")
	}
	l.path, l.w = l.file.Name(), bufio.NewWriterSize(l.file, 64<<10)
	return l, nil
}

// pruneLogs removes the logs of the oldest runs.
func pruneLogs(folder string) {
	names, err := filepath.Glob(filepath.Join(folder, "*"+logEnding))
	if err != nil || len(names) < maxLogs {
		return
	}
	slices.Sort(names) // they begin with the time
	for _, name := range names[:len(names)-maxLogs+1] {
		_ = os.Remove(name) // tried again by the next run
	}
}

func (l *OutcomeLog) add(o Outcome) error {
	line, err := json.Marshal(o.encoded())
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err = l.w.Write(append(line, '\n'))
	return logError(err)
}

func (l *OutcomeLog) flush() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.w == nil {
		return nil
	}
	return logError(l.w.Flush())
}

func logError(err error) error {
	if err == nil || fault.Find(err) != nil {
		return err
	}
	return fault.Hinted(fault.Of(&fault.FileError{}, "cannot write an outcome: %w", fault.Reason(err)), "is the disk full? what was sent is safe: make room and run again")
}

// close ends the writing; the outcomes can still be read.
func (l *OutcomeLog) close() error {
	err := l.flush()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		err = errors.Join(err, logError(l.file.Close()))
		l.file, l.w = nil, nil
	}
	return err
}

// Remove deletes the outcomes when they are in a temporary file.
func (l *OutcomeLog) Remove() {
	_ = l.close()
	if l.temporary {
		_ = os.Remove(l.path) // the system clears its temporary files
	}
}

// Read opens the outcomes for reading from the first on.
func (l *OutcomeLog) Read() (*OutcomeReader, error) {
	if err := l.flush(); err != nil {
		return nil, err
	}
	return openLog(l.path)
}

// each visits the outcomes that are wanted, some at a time.
func (l *OutcomeLog) each(want func(Outcome) bool, size int, visit func([]Outcome) error) error {
	reader, err := l.Read()
	if err != nil {
		return err
	}
	return reader.each(want, size, visit)
}

// rewrite changes the outcomes, all or none.
func (l *OutcomeLog) rewrite(change func(*Outcome)) error {
	file, err := os.OpenFile(l.path+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return logError(err)
	}
	changed := &OutcomeLog{file: file, w: bufio.NewWriterSize(file, 64<<10)}
	err = l.each(all, 1, func(list []Outcome) error {
		change(&list[0])
		return changed.add(list[0])
	})
	// Both are closed first: Windows renames no open file.
	err = errors.Join(err, changed.close())
	if err == nil {
		if err = l.close(); err == nil {
			err = os.Rename(file.Name(), l.path)
		}
	}
	if err != nil {
		_ = os.Remove(file.Name()) // the log is as it was
		return logError(err)
	}
	if l.file, err = os.OpenFile(l.path, os.O_WRONLY|os.O_APPEND, 0o600); err != nil {
		return logError(err)
	}
	l.w = bufio.NewWriterSize(l.file, 64<<10)
	return nil
}

func all(Outcome) bool { return true }

// OutcomeReader reads outcomes one by one.
type OutcomeReader struct {
	file *os.File
	next func() (Outcome, error) // io.EOF at the end
}

func openLog(path string) (*OutcomeReader, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fault.Of(&fault.FileError{}, "cannot read the outcomes of the run: %w", err)
	}
	lines := json.NewDecoder(bufio.NewReaderSize(file, 64<<10))
	return &OutcomeReader{file, func() (o Outcome, err error) {
		err = lines.Decode(&o)
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, fs.ErrClosed) { // a killed run leaves an incomplete line
			err = io.EOF
		}
		if err != nil && err != io.EOF {
			err = fault.Of(&fault.FileError{}, "cannot read the outcomes of the run: %w", err)
		}
		return o, err
	}}, nil
}

// Next returns the next outcome; ok is false at the end.
func (r *OutcomeReader) Next() (o Outcome, ok bool, err error) {
	if o, err = r.next(); err == nil {
		err = o.decode()
	}
	if err != nil {
		r.Close()
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return Outcome{}, false, err
	}
	return o, true, nil
}

// each visits the outcomes that are wanted, some at a time, and closes the reader.
func (r *OutcomeReader) each(want func(Outcome) bool, size int, visit func([]Outcome) error) error {
	defer r.Close()
	var list []Outcome
	for {
		o, ok, err := r.Next()
		if err != nil {
			return err
		}
		if ok && want(o) {
			list = append(list, o)
		}
		if len(list) > 0 && (!ok || len(list) == size) {
			if err := visit(list); err != nil {
				return err
			}
			list = nil
		}
		if !ok {
			return nil
		}
	}
}

// Close frees the file. Closing again does nothing.
func (r *OutcomeReader) Close() { _ = r.file.Close() } // only read from

// Earlier opens the outcomes of an earlier run on this machine, by its id.
func Earlier(stateDir, id string) (*OutcomeReader, error) {
	path := filepath.Join(stateDir, logFolder, filepath.Base(id)+logEnding)
	if _, err := os.Stat(path); err != nil {
		return nil, fault.Hinted(fault.Of(&fault.FileError{}, "there is no ingest %s on this machine", id),
			"the outcomes of the last %d runs are kept; name a report written with report = instead", maxLogs)
	}
	return openLog(path)
}
