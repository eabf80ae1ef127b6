package history

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"transect/runtime/unattended/logfile"
)

// LogAfter returns the whole lines added to the log of a run after a cursor, and the next cursor. all reports
// whether they are the whole log, because the cursor is "" or too old. No file stays open, which would keep
// the run from rotating its log on some systems.
func (s Store) LogAfter(id, cursor string) (lines []byte, next string, all bool, err error) {
	first, position, found := strings.Cut(cursor, " ")
	offset, err := strconv.ParseInt(position, 10, 64)
	if !found || err != nil {
		offset = -1
	}
	path := s.path(id, ".log")
	now, err := readLog(path, first, offset)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, cursor, false, nil // about to be rotated, or not started
	case err != nil:
		return nil, cursor, false, err
	case now.continues:
		return now.lines, now.cursor(), false, nil
	}
	older, err := readLog(logfile.Rotated(path, 1), first, offset)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, cursor, false, err
	}
	return append(older.lines, now.lines...), now.cursor(), !older.continues, nil
}

// logPart is the part read of a file.
type logPart struct {
	first     string // stamp of its first line, which distinguishes files
	continues bool   // first is the requested one
	lines     []byte
	end       int64 // offset after the lines
}

func (p logPart) cursor() string { return p.first + " " + strconv.FormatInt(p.end, 10) }

// maxFirst is more than the length of a stamp.
const maxFirst = 40

// readLog reads the whole lines of a file: the lines after offset if its first stamp is the given one, else
// all.
func readLog(path, first string, offset int64) (logPart, error) {
	f, err := os.Open(path)
	if err != nil {
		return logPart{}, err
	}
	defer f.Close()
	begin := make([]byte, maxFirst)
	n, err := f.ReadAt(begin, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return logPart{}, err
	}
	stamp, _, whole := bytes.Cut(begin[:n], []byte(" "))
	if !whole {
		stamp = nil
	}
	p := logPart{first: string(stamp)}
	if p.continues = offset >= 0 && p.first != "" && p.first == first; p.continues {
		p.end = offset
	}
	text, err := io.ReadAll(io.NewSectionReader(f, p.end, logSize*2))
	if err != nil {
		return logPart{}, err
	}
	p.lines = text[:bytes.LastIndexByte(text, '\n')+1]
	p.end += int64(len(p.lines))
	return p, nil
}
