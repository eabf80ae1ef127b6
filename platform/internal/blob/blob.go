// Package blob stores the bytes of uploaded files, one plain file per blob, in
// DIR/blobs/ab/ab12… (the blob's ID, spread over 256 folders).
//
// The platform's upload handlers stream request bodies in with Put (a whole
// file) or PutPart (one part of a multipart upload); downloads, ingestion and
// analytics read them with Open. IDs are random hexadecimal digits made by
// NewID, so no name a client sent ever becomes a path.
//
// What Put and PutPart returned without an error is on disk: the file and its
// folder are synced. Callers commit the database row that refers to a blob
// afterwards, so a crash leaves at most a file without a row.
package blob

import (
	"cmp"
	"crypto/md5" // the protocol's checksum
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"
)

// ErrTooLong means that a part has more bytes than it should.
var ErrTooLong = errors.New("the part is too long")

// ChecksumError means that a body does not have the expected MD5.
type ChecksumError struct{ Got, Want string }

func (e *ChecksumError) Error() string {
	return fmt.Sprintf("the bytes have the MD5 %s, expected %s", e.Got, e.Want)
}

// Store is a folder of blobs. Several processes may use the same one.
type Store struct {
	blobs     string
	incoming  string // temporary files of uploads in progress
	temporary bool
	mkdir     sync.Mutex
}

// Blob describes stored bytes.
type Blob struct {
	ID   string // 32 hexadecimal digits
	Size int64
	MD5  string // in hexadecimal
}

// NewID returns a random ID.
func NewID() string {
	var id [16]byte
	rand.Read(id[:])
	return hex.EncodeToString(id[:])
}

// Open creates the folders "blobs" and "incoming" in dir when they are missing.
// A temporary store does not sync: a crash of the machine may lose its blobs.
func Open(dir string, temporary bool) (*Store, error) {
	s := &Store{blobs: filepath.Join(dir, "blobs"), incoming: filepath.Join(dir, "incoming"), temporary: temporary}
	for _, d := range []string{s.blobs, s.incoming} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, err
		}
	}
	return s, s.syncDir(dir)
}

// Put streams body into the blob id, which appears complete or not at all, and
// replaces one of the same ID. It fails with a ChecksumError, and stores
// nothing, when the bytes do not have the MD5 checksum ("" accepts any).
func (s *Store) Put(id string, body io.Reader, checksum string) (Blob, error) {
	return s.create(id, func(f *os.File) (b Blob, err error) {
		b, err = copied(f, id, body)
		if err == nil && checksum != "" && b.MD5 != checksum {
			err = &ChecksumError{Got: b.MD5, Want: checksum}
		}
		return b, err
	})
}

// Make writes the blob id through a function, in any order. It appears complete or
// not at all.
func (s *Store) Make(id string, write func(*os.File) error) (Blob, error) {
	return s.create(id, func(f *os.File) (Blob, error) {
		if err := write(f); err != nil {
			return Blob{}, err
		}
		info, err := f.Stat()
		if err != nil {
			return Blob{}, err
		}
		return Blob{ID: id, Size: info.Size()}, nil
	})
}

// create fills a temporary file and makes it the blob id.
func (s *Store) create(id string, fill func(*os.File) (Blob, error)) (b Blob, err error) {
	path, err := s.makePath(id)
	if err != nil {
		return b, err
	}
	f, err := os.CreateTemp(s.incoming, id+"-*")
	if err != nil {
		return b, err
	}
	defer os.Remove(f.Name()) // does nothing once renamed
	b, err = fill(f)
	if err = s.sync(f, err); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return b, err
	}
	return b, s.syncDir(filepath.Dir(path))
}

// PutPart streams a part of size bytes into the blob id at offset, and returns the size and MD5 received. It
// fails with ErrTooLong when the body has more bytes; bytes outside of the part are never touched. The caller
// decides whether to accept a part that is short or has another MD5.
func (s *Store) PutPart(id string, offset, size int64, body io.Reader) (Blob, error) {
	path, err := s.makePath(id)
	if err != nil {
		return Blob{}, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return Blob{}, err
	}
	b, err := copied(io.NewOffsetWriter(f, offset), id, io.LimitReader(body, size))
	if err = s.sync(f, err); err != nil {
		return b, err
	}
	if n, _ := io.ReadFull(body, make([]byte, 1)); n > 0 {
		return b, ErrTooLong
	}
	return b, s.syncDir(filepath.Dir(path))
}

// copied copies body to w and returns its size and MD5.
func copied(w io.Writer, id string, body io.Reader) (Blob, error) {
	hash := md5.New()
	n, err := io.CopyBuffer(struct{ io.Writer }{io.MultiWriter(w, hash)}, body, make([]byte, 256<<10))
	return Blob{ID: id, Size: n, MD5: hex.EncodeToString(hash.Sum(nil))}, err
}

// sync flushes a file to disk, unless err is set, and closes it.
func (s *Store) sync(f *os.File, err error) error {
	if err == nil && !s.temporary {
		err = f.Sync()
	}
	return cmp.Or(err, f.Close())
}

// Sum reads a whole blob and returns its size and MD5.
func (s *Store) Sum(id string) (Blob, error) {
	f, err := s.Open(id)
	if err != nil {
		return Blob{}, err
	}
	defer f.Close()
	return copied(io.Discard, id, f)
}

// Open opens a blob for reading.
func (s *Store) Open(id string) (*os.File, error) {
	path, err := s.path(id)
	if err != nil {
		return nil, err
	}
	return os.Open(path)
}

// Link creates the blob id as a link to a file elsewhere.
func (s *Store) Link(id, file string) error {
	path, err := s.makePath(id)
	if err == nil {
		file, err = filepath.Abs(file)
	}
	if err == nil {
		err = os.Symlink(file, path)
	}
	return err
}

// Remove deletes a blob; a missing one is not an error.
func (s *Store) Remove(id string) error {
	path, err := s.path(id)
	if err == nil {
		err = os.Remove(path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Sweep deletes the temporary files of uploads that were interrupted before a time.
func (s *Store) Sweep(before time.Time) error {
	var failed error
	for name := range idle(s.incoming, before) {
		failed = errors.Join(failed, os.Remove(filepath.Join(s.incoming, name)))
	}
	return failed
}

// Idle lists the blobs that were not written to since a time.
func (s *Store) Idle(before time.Time) (ids []string) {
	folders, _ := os.ReadDir(s.blobs)
	for _, folder := range folders {
		ids = slices.AppendSeq(ids, idle(filepath.Join(s.blobs, folder.Name()), before))
	}
	return ids
}

// idle lists the files of a folder that were not written to since a time.
func idle(dir string, before time.Time) iter.Seq[string] {
	return func(yield func(string) bool) {
		entries, _ := os.ReadDir(dir) // the next sweep retries if this fails
		for _, entry := range entries {
			info, err := entry.Info() // fails if it was deleted meanwhile
			if err == nil && info.Mode().IsRegular() && info.ModTime().Before(before) && !yield(entry.Name()) {
				return
			}
		}
	}
}

// path returns the file of a blob, or fs.ErrNotExist for an invalid ID.
func (s *Store) path(id string) (string, error) {
	if raw, err := hex.DecodeString(id); err != nil || len(raw) != 16 {
		return "", fmt.Errorf("blob %q: %w", id, fs.ErrNotExist)
	}
	return filepath.Join(s.blobs, id[:2], id), nil
}

// makePath calls path and creates the folder of the file.
func (s *Store) makePath(id string) (string, error) {
	path, err := s.path(id)
	if err != nil {
		return "", err
	}
	s.mkdir.Lock() // no goroutine uses a new folder before it is synced
	defer s.mkdir.Unlock()
	dir := filepath.Dir(path)
	switch err = os.Mkdir(dir, 0o700); {
	case errors.Is(err, fs.ErrExist):
		err = nil
	case err == nil:
		if err = s.syncDir(s.blobs); err != nil {
			os.Remove(dir)
		}
	}
	return path, err
}

// syncDir makes the entries of a folder durable. Windows cannot sync folders.
func (s *Store) syncDir(dir string) error {
	if s.temporary || runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
