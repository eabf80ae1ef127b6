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
	"sort"
	"sync"

	"transect/client/fault"
)

// What can become of a file.
const (
	Created = "created" // dataset created and file sent
	Resumed = "resumed" // the dataset was there, the file was not
	Skipped = "skipped" // both were there
	Failed  = "failed"
)

// Outcome is what became of one item: a file with its sidecar files.
type Outcome struct {
	Name      string `json:"name"`            // within the source
	Title     string `json:"title,omitempty"` // of the dataset
	Path      string `json:"path"`            // of its first file
	Size      int64  `json:"size"`            // of all its files
	Outcome   string `json:"outcome"`
	Kind      string `json:"kind,omitempty"`
	Dataset   string `json:"dataset,omitempty"`
	Component string `json:"component,omitempty"` // of the first file
	MD5       string `json:"md5,omitempty"`       // of the first file, where it is known
	Cause     string `json:"cause,omitempty"`     // of a failure, or a remark
	Hint      string `json:"hint,omitempty"`
	Key       string `json:"key,omitempty"`
	// PathEncoded is the path percent-encoded, where it is no text. Only reports
	// have it: Path is exact then.
	PathEncoded string `json:"path_encoded,omitempty"`
	Files       []Part `json:"files,omitempty"` // when there are several

	err error
}

// Part is one of several files of an item.
type Part struct {
	Component string `json:"component"`
	Path      string `json:"path"`
	Size      int64  `json:"size"`
	MD5       string `json:"md5,omitempty"`
	// As that of an outcome.
	PathEncoded string `json:"path_encoded,omitempty"`
}

// Err is the error of a failed outcome of this process, or nil.
func (o Outcome) Err() error { return o.err }

// Spool is a list of outcomes on disk, so that a million of them take no memory.
type Spool struct {
	path      string
	temporary bool

	mu   sync.Mutex
	file *os.File
	w    *bufio.Writer
}

const (
	spoolFolder = "ingest"
	spoolEnding = ".jsonl"
	keptSpools  = 50 // of earlier runs
)

// spoolDir is the folder of temporary files: that of the outcomes, where it can
// be had, as the system's may lie in memory.
func spoolDir(stateDir string) string {
	if stateDir == "" {
		return ""
	}
	folder := filepath.Join(stateDir, spoolFolder)
	if os.MkdirAll(folder, 0o700) != nil {
		return ""
	}
	return folder
}

func newSpool(stateDir, id string) (*Spool, error) {
	s := &Spool{}
	var err error
	if stateDir == "" {
		s.temporary = true
		s.file, err = os.CreateTemp("", "transect-ingest-*"+spoolEnding)
	} else {
		folder := filepath.Join(stateDir, spoolFolder)
		if err = os.MkdirAll(folder, 0o700); err == nil {
			prune(folder)
			s.file, err = os.OpenFile(filepath.Join(folder, id+spoolEnding), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		}
	}
	if err != nil {
		return nil, fault.Hinted(fault.Of(&fault.FileError{}, "cannot keep the outcomes of the run in %s: %w", cmp.Or(stateDir, os.TempDir()), fault.Reason(err)),
			"name another folder in TRANSECT_STATE_DIR")
	}
	s.path, s.w = s.file.Name(), bufio.NewWriterSize(s.file, 64<<10)
	return s, nil
}

// prune removes the outcomes of the oldest runs.
func prune(folder string) {
	names, err := filepath.Glob(filepath.Join(folder, "*"+spoolEnding))
	if err != nil || len(names) < keptSpools {
		return
	}
	sort.Strings(names) // they begin with the time
	for _, name := range names[:len(names)-keptSpools+1] {
		_ = os.Remove(name) // it is only in the way
	}
}

func (s *Spool) add(o Outcome) error {
	line, err := json.Marshal(o.asText())
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.w.Write(append(line, '\n')); err != nil {
		return spoolError(err)
	}
	return nil
}

func (s *Spool) flush() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.w == nil {
		return nil
	}
	return spoolError(s.w.Flush())
}

func spoolError(err error) error {
	if err == nil {
		return nil
	}
	return fault.Hinted(fault.Of(&fault.FileError{}, "cannot note an outcome: %w", fault.Reason(err)), "is the disk full? what was sent is safe: make room and run again")
}

// close ends the writing; the outcomes can still be read.
func (s *Spool) close() error {
	err := s.flush()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file != nil {
		if e := s.file.Close(); err == nil {
			err = spoolError(e)
		}
		s.file, s.w = nil, nil
	}
	return err
}

// Remove deletes the outcomes when they are in a temporary file.
func (s *Spool) Remove() {
	_ = s.close()
	if s.temporary {
		_ = os.Remove(s.path) // the system clears its temporary files some day
	}
}

// Read opens the outcomes for reading from the first on.
func (s *Spool) Read() (*OutcomeReader, error) {
	if err := s.flush(); err != nil {
		return nil, err
	}
	return openOutcomes(s.path)
}

// OutcomeReader reads outcomes one by one.
type OutcomeReader struct {
	file *os.File
	next func() (Outcome, bool, error)
}

func openOutcomes(path string) (*OutcomeReader, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fault.Of(&fault.FileError{}, "cannot read the outcomes of the run: %w", err)
	}
	lines := json.NewDecoder(bufio.NewReaderSize(file, 64<<10))
	return &OutcomeReader{file, func() (o Outcome, ok bool, err error) {
		err = lines.Decode(&o)
		switch {
		case err == nil:
			err = o.asFiles()
			return o, err == nil, err
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, fs.ErrClosed): // the last line of a killed run
			return Outcome{}, false, nil
		}
		return Outcome{}, false, fault.Of(&fault.FileError{}, "cannot read the outcomes of the run: %w", err)
	}}, nil
}

// Next returns the next outcome; ok is false at the end.
func (r *OutcomeReader) Next() (o Outcome, ok bool, err error) {
	if o, ok, err = r.next(); !ok {
		r.Close()
	}
	return o, ok, err
}

// Close frees the file. Closing again does nothing.
func (r *OutcomeReader) Close() { _ = r.file.Close() } // only read from

// Earlier opens the outcomes of an earlier run on this machine, by its id.
func Earlier(stateDir, id string) (*OutcomeReader, error) {
	path := filepath.Join(stateDir, spoolFolder, filepath.Base(id)+spoolEnding)
	if _, err := os.Stat(path); err != nil {
		return nil, fault.Hinted(fault.Of(&fault.FileError{}, "there is no ingest %s on this machine", id),
			"its outcomes are kept for the last %d runs; a report written with report = can be named instead", keptSpools)
	}
	return openOutcomes(path)
}

// replace puts another file, written to its end, in the place of the spool.
func (s *Spool) replace(file *os.File) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := file.Name()
	// Both are closed first: Windows renames no open file.
	err := file.Close()
	if s.file != nil {
		_ = s.file.Close() // its content is in the other
	}
	if err == nil {
		err = os.Rename(name, s.path)
	}
	if err == nil {
		s.file, err = os.OpenFile(s.path, os.O_WRONLY|os.O_APPEND, 0o600)
	}
	if err != nil {
		s.file, s.w = nil, nil
		return spoolError(err)
	}
	s.w = bufio.NewWriterSize(s.file, 64<<10)
	return nil
}
