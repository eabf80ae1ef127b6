package ledger

import (
	"bufio"
	"errors"
	"io"
	"os"
)

// Shorten drops the answers that may reports as readable from the platform again from the ledger of a run
// that is not in progress: the writes, their states and identifiers stay. The file is replaced atomically,
// and keeps its modification time.
func Shorten(dir, run string, may func(op string, r *Result) bool) error {
	return unlocked(dir, run, func(path string) error {
		l, err := OpenToRead(dir, run)
		if err != nil {
			return err
		}
		defer l.file.Close()
		info, err := l.file.Stat()
		if err != nil {
			return err
		}
		if drops, err := l.drops(may); err != nil || drops == 0 {
			return err
		}
		short, err := os.CreateTemp(dir, run+".short-*") // 0600
		if err != nil {
			return err
		}
		err = errors.Join(l.copyTo(short, may), short.Close())
		if err == nil {
			err = os.Chtimes(short.Name(), info.ModTime(), info.ModTime())
		}
		if err == nil {
			err = os.Rename(short.Name(), path)
		}
		if err != nil {
			_ = os.Remove(short.Name())
		}
		return err
	})
}

// Shortened returns a file with the content of a ledger as shortened by Shorten; nil if there is nothing to
// drop. The caller removes it after closing it.
func (l *Ledger) Shortened(may func(op string, r *Result) bool) (*os.File, error) {
	if drops, err := l.drops(may); err != nil || drops == 0 {
		return nil, err
	}
	short, err := os.CreateTemp("", "transect-ledger-*") // 0600
	if err != nil {
		return nil, unwritable(os.TempDir(), err)
	}
	if err = l.copyTo(short, may); err == nil {
		_, err = short.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, short.Close(), os.Remove(short.Name()))
	}
	return short, nil
}

// drops counts the writes whose answers may be dropped.
func (l *Ledger) drops(may func(op string, r *Result) bool) (n int, err error) {
	err = l.All(func(i Intent, r *Result) error {
		if r != nil && len(r.Answers) > 0 && may(i.Op, r) {
			n++
		}
		return nil
	})
	return n, err
}

// copyTo copies the records, without the answers that may be dropped.
func (l *Ledger) copyTo(file *os.File, may func(op string, r *Result) bool) error {
	out := bufio.NewWriter(file)
	_, _ = out.WriteString(header) // Flush returns errors
	var ops []string
	in := newWindow(l.file, int64(len(header)), l.size, 1<<20)
	for at := int64(len(header)); at < l.size; {
		r, n, err := in.record()
		if err != nil {
			return l.unreadable(err)
		}
		switch r := r.(type) {
		case *Intent:
			if int(r.Seq) > len(ops) {
				ops = append(ops, r.Op)
			}
		case *Result:
			if len(r.Answers) > 0 && may(ops[r.Seq-1], r) {
				r.Answers = nil
			}
		}
		_, _ = out.Write(encode(r))
		at += n
	}
	return errors.Join(out.Flush(), file.Sync())
}

// locksFile reports whether the lock is on the file that is open.
func (l *Ledger) locksFile() bool {
	locked, err := l.lock.Stat()
	opened, failed := l.file.Stat()
	return err != nil || failed != nil || os.SameFile(locked, opened)
}
