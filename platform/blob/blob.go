// Package blob keeps the bytes of uploaded files in a folder, each under a
// random name of its own. No name that came from outside ever becomes a path.
package blob

import (
	"crypto/md5"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// ErrTooLong: more bytes came than were announced.
var ErrTooLong = errors.New("more bytes than announced")

// Store is a folder of blobs.
type Store struct {
	blobs, incoming string
}

// Blob is what was received.
type Blob struct {
	ID   string // 32 hexadecimal digits
	Size int64
	MD5  string // in hexadecimal
}

// Open uses the folders "blobs" and "incoming" in dir, making them when needed.
func Open(dir string) (*Store, error) {
	s := &Store{blobs: filepath.Join(dir, "blobs"), incoming: filepath.Join(dir, "incoming")}
	for _, d := range []string{s.blobs, s.incoming} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Receive streams bytes into a new blob. It fails with ErrTooLong as soon as
// more than limit bytes came (below zero: no limit), and leaves nothing behind
// then. The blob appears complete or not at all, whenever the process ends.
func (s *Store) Receive(from io.Reader, limit int64) (b Blob, err error) {
	var name [16]byte
	rand.Read(name[:])
	b.ID = hex.EncodeToString(name[:])
	temporary := filepath.Join(s.incoming, b.ID)
	f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return Blob{}, err
	}
	defer func() {
		if err != nil {
			os.Remove(temporary)
		}
	}()
	hash := md5.New()
	if limit >= 0 {
		from = io.LimitReader(from, limit+1)
	}
	b.Size, err = io.CopyBuffer(struct{ io.Writer }{io.MultiWriter(f, hash)}, from, make([]byte, 256<<10))
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil && limit >= 0 && b.Size > limit {
		err = ErrTooLong
	}
	if err != nil {
		return Blob{}, err
	}
	b.MD5 = hex.EncodeToString(hash.Sum(nil))
	if err = os.MkdirAll(filepath.Dir(s.path(b.ID)), 0o700); err != nil {
		return Blob{}, err
	}
	if err = os.Rename(temporary, s.path(b.ID)); err != nil {
		return Blob{}, err
	}
	return b, nil
}

// Join makes one new blob of several, in their order.
func (s *Store) Join(ids []string) (Blob, error) {
	r := &joined{store: s, ids: ids}
	defer r.close()
	return s.Receive(r, -1)
}

// joined reads blobs one after the other, with one file open at a time.
type joined struct {
	store *Store
	ids   []string
	file  *os.File
}

func (j *joined) Read(p []byte) (int, error) {
	for {
		if j.file == nil {
			if len(j.ids) == 0 {
				return 0, io.EOF
			}
			var err error
			if j.file, err = j.store.Open(j.ids[0]); err != nil {
				return 0, err
			}
			j.ids = j.ids[1:]
		}
		n, err := j.file.Read(p)
		if err != io.EOF {
			return n, err
		}
		j.close()
		if n > 0 {
			return n, nil
		}
	}
}

func (j *joined) close() {
	if j.file != nil {
		j.file.Close()
		j.file = nil
	}
}

// Open opens a blob for reading.
func (s *Store) Open(id string) (*os.File, error) {
	if !valid(id) {
		return nil, fmt.Errorf("blob %q: %w", id, os.ErrNotExist)
	}
	return os.Open(s.path(id))
}

// Remove takes a blob away; one that is not there is no error.
func (s *Store) Remove(id string) error {
	if !valid(id) {
		return nil
	}
	if err := os.Remove(s.path(id)); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// Sweep removes what uploads left behind that broke off before the given time.
func (s *Store) Sweep(before time.Time) {
	entries, err := os.ReadDir(s.incoming)
	if err != nil {
		return
	}
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && info.ModTime().Before(before) {
			os.Remove(filepath.Join(s.incoming, entry.Name()))
		}
	}
}

func valid(id string) bool {
	raw, err := hex.DecodeString(id)
	return err == nil && len(raw) == 16
}

// path spreads the blobs over 256 folders, as large folders are slow on some
// file systems.
func (s *Store) path(id string) string { return filepath.Join(s.blobs, id[:2], id) }
