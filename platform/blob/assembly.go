package blob

import (
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// assemblies are the files that parts are being written into, each at its
// place: nothing has to be copied once all are there. Their checksums are
// computed while the parts come.
type assemblies struct {
	mu      sync.Mutex
	sums    map[string]*prefix // by the ID of the file
	closed  bool
	working sync.WaitGroup
}

// prefix is the checksum of a file from its begin as far as parts are there.
type prefix struct {
	mu   sync.Mutex // held while hashing
	hash hash.Hash
	at   int64

	parts   map[int64]int64 // sizes of those that came, by offset; guarded by assemblies.mu
	running bool            // likewise
}

const hashBuffer = 1 << 20

// Place streams a part to its place in a file, which it makes when it is not
// there. It fails with ErrTooLong when more than size bytes come. What came is on
// the disk when it returns. It touches no other part.
func (s *Store) Place(id string, offset, size int64, from io.Reader) (Blob, error) {
	if !valid(id) {
		return Blob{}, fmt.Errorf("blob %q: %w", id, os.ErrNotExist)
	}
	if err := os.MkdirAll(filepath.Dir(s.path(id)), 0o700); err != nil {
		return Blob{}, err
	}
	f, err := os.OpenFile(s.path(id), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return Blob{}, err
	}
	s.assemblies.withdraw(id, offset)
	sum := md5.New()
	to := io.MultiWriter(io.NewOffsetWriter(f, offset), sum)
	n, err := io.CopyBuffer(struct{ io.Writer }{to}, io.LimitReader(from, size), make([]byte, 256<<10))
	if err == nil && n == size {
		if more, _ := io.ReadFull(from, make([]byte, 1)); more > 0 {
			err = ErrTooLong
		}
	}
	if err == nil && !s.temporary {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return Blob{ID: id, Size: n, MD5: hex.EncodeToString(sum.Sum(nil))}, err
}

// Placed notes that a part is good, and hashes the file as far as it can.
func (s *Store) Placed(id string, offset, size int64) {
	a := &s.assemblies
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return
	}
	p := a.prefix(id)
	p.parts[offset] = size
	if !p.running {
		p.running = true
		a.working.Go(func() { s.follow(id, p) })
	}
}

// withdraw forgets a part that comes again: perhaps with other bytes, where the
// first ones are hashed already.
func (a *assemblies) withdraw(id string, offset int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	old := a.sums[id]
	if old == nil {
		return
	}
	if _, again := old.parts[offset]; again {
		delete(old.parts, offset)
		p := newPrefix()
		p.parts = old.parts
		a.sums[id] = p
	}
}

func (a *assemblies) prefix(id string) *prefix {
	p := a.sums[id]
	if p == nil {
		p = newPrefix()
		a.sums[id] = p
	}
	return p
}

func newPrefix() *prefix { return &prefix{hash: md5.New(), parts: map[int64]int64{}} }

// follow hashes parts as they come, until the next one is missing.
func (s *Store) follow(id string, p *prefix) {
	a := &s.assemblies
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		a.mu.Lock()
		size, there := p.parts[p.at]
		if !there || size == 0 || a.closed || a.sums[id] != p {
			p.running = false
			a.mu.Unlock()
			return
		}
		a.mu.Unlock()
		if s.hash(id, p, p.at+size) != nil {
			return // Whole will meet it again
		}
	}
}

// hash reads on to a byte.
func (s *Store) hash(id string, p *prefix, until int64) error {
	f, err := os.Open(s.path(id))
	if err != nil {
		return err
	}
	defer f.Close()
	n, err := io.CopyBuffer(p.hash, struct{ io.Reader }{io.NewSectionReader(f, p.at, until-p.at)}, make([]byte, hashBuffer))
	p.at += n
	if err == nil && p.at < until {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// Whole gives the checksum of a file that all parts, of so many bytes, are in.
func (s *Store) Whole(id string, size int64) (Blob, error) {
	a := &s.assemblies
	a.mu.Lock()
	p := a.prefix(id)
	delete(a.sums, id) // follow stops after the part it is at
	a.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	info, err := os.Stat(s.path(id))
	switch {
	case err != nil:
		return Blob{}, err
	case info.Size() != size:
		return Blob{}, errors.Join(io.ErrUnexpectedEOF, fmt.Errorf("blob %s has %d bytes, not %d", id, info.Size(), size))
	}
	if err := s.hash(id, p, size); err != nil {
		return Blob{}, err
	}
	return Blob{ID: id, Size: size, MD5: hex.EncodeToString(p.hash.Sum(nil))}, nil
}

func (a *assemblies) forget(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.sums, id)
}

func (a *assemblies) close() {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	a.working.Wait()
}
