// Package blob keeps the bytes of uploaded files in a folder, each under a
// random name of its own. No name that came from outside ever becomes a path.
package blob

import (
	"bytes"
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

// atOnce is up to how many bytes a blob is held in memory and then written in
// one piece, together with others in one file: a file for each costs the system
// more than the bytes do.
const atOnce = 512 << 10

// Store is a folder of blobs.
type Store struct {
	blobs, incoming string
	temporary       bool
	packs           *packs
	assemblies      assemblies
}

// Blob is what was received.
type Blob struct {
	ID   string // of a file: 32 hexadecimal digits; of a piece of one: see place
	Size int64
	MD5  string // in hexadecimal
}

// File is an open blob.
type File interface {
	io.ReadSeekCloser
	io.ReaderAt
}

// Open uses the folders "blobs", "packs" and "incoming" in dir, making them
// when needed. A temporary one leaves the disk to itself: a crash of the machine
// may take what is there.
func Open(dir string, temporary bool) (*Store, error) {
	s := &Store{blobs: filepath.Join(dir, "blobs"), incoming: filepath.Join(dir, "incoming"), temporary: temporary,
		assemblies: assemblies{sums: map[string]*prefix{}}}
	for _, d := range []string{s.blobs, s.incoming} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, err
		}
	}
	var err error
	s.packs, err = openPacks(filepath.Join(dir, "packs"), temporary)
	return s, err
}

// Close closes what is open for writing.
func (s *Store) Close() error {
	s.assemblies.close()
	return s.packs.close()
}

// Receive streams bytes into a new blob. It fails with ErrTooLong as soon as
// more than limit bytes came (below zero: no limit), and leaves nothing behind
// then. The blob appears complete or not at all, whenever the process ends, and
// is on the disk when Receive returns. look, unless nil, gets the bytes of a small
// blob, for as long as it runs.
func (s *Store) Receive(from io.Reader, limit int64, look func([]byte)) (Blob, error) {
	if limit >= 0 {
		from = io.LimitReader(from, limit+1)
	}
	buffer := s.packs.buffers.Get().(*buffer)
	defer s.packs.buffers.Put(buffer)
	arrival := s.packs.arrives()
	defer arrival.end()
	n, err := io.ReadFull(from, buffer[:])
	begin := buffer[:n]
	switch {
	case err == io.EOF, err == io.ErrUnexpectedEOF:
		if limit >= 0 && int64(n) > limit {
			return Blob{}, ErrTooLong
		}
		b, err := s.keepPiece(begin, look, arrival)
		if !errors.Is(err, errors.ErrUnsupported) {
			return b, err
		}
	case err != nil:
		return Blob{}, err
	}
	arrival.end()
	return s.receiveFile(io.MultiReader(bytes.NewReader(begin), from), limit)
}

// keepPiece puts a small blob with others.
func (s *Store) keepPiece(data []byte, look func([]byte), a *arrival) (Blob, error) {
	b := Blob{Size: int64(len(data))}
	var err error
	var p *pack
	if b.ID, p, err = s.packs.add(data); err != nil {
		return Blob{}, err
	}
	if look != nil {
		look(data)
	}
	if b.MD5, err = s.packs.settle(data, p, a); err != nil {
		return Blob{}, errors.Join(err, s.Remove(b.ID))
	}
	return b, nil
}

// receiveFile streams bytes into a file of their own.
func (s *Store) receiveFile(from io.Reader, limit int64) (b Blob, err error) {
	b.ID = randomName()
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
	b.Size, err = io.CopyBuffer(struct{ io.Writer }{io.MultiWriter(f, hash)}, from, make([]byte, 256<<10))
	if err == nil && !s.temporary {
		err = f.Sync()
	}
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

func randomName() string {
	var name [16]byte
	rand.Read(name[:])
	return hex.EncodeToString(name[:])
}

// Open opens a blob for reading.
func (s *Store) Open(id string) (File, error) {
	if at, ok := placeOf(id); ok {
		return s.packs.open(at)
	}
	if !valid(id) {
		return nil, fmt.Errorf("blob %q: %w", id, os.ErrNotExist)
	}
	return os.Open(s.path(id))
}

// Remove takes a blob away; one that is not there is no error.
func (s *Store) Remove(id string) error {
	at, packed := placeOf(id)
	if !packed && !valid(id) {
		return nil
	}
	var err error
	if packed {
		err = s.packs.remove(at)
	} else {
		s.assemblies.forget(id)
		err = os.Remove(s.path(id))
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
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
