package blob

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"transect/client/checksum"
)

const (
	// packSize is from which size on a pack takes no more.
	packSize = 256 << 20
	// block is the size of what file systems give back: every piece begins at
	// a multiple of it, so that removing it frees all of its space.
	block = 4 << 10
)

// packs are files that hold many small blobs each. One process appends to one
// pack, which it holds locked, and starts another when it is full; removed
// pieces become holes.
type packs struct {
	dir     string
	buffers sync.Pool

	temporary bool // nothing needs to be on the disk

	mu       sync.Mutex
	current  *pack
	written  []*pack // to since the last round began
	next     *round  // that those who come now go with
	arriving int     // pieces that will go with a round soon
	turn     sync.Cond
	running  bool // a round
}

// pack is one that this process appends to.
type pack struct {
	name string
	file *os.File
	end  int64

	// Guarded by the mutex of packs:
	dirty   bool
	writing int
	full    bool
	failed  error // of a round: what was written before may be lost
}

// place is where a piece lies, and the checksum of it: a hole in its place must
// not pass for its bytes. As an ID it is the name of the pack and the others in
// hexadecimal, with dots between.
type place struct {
	pack         string
	offset, size int64
	sum          uint32
}

func (p place) String() string { return fmt.Sprintf("%s.%x.%x.%08x", p.pack, p.offset, p.size, p.sum) }

// placeOf reads an ID. Other text than String writes is no place.
func placeOf(id string) (p place, ok bool) {
	parts := strings.Split(id, ".")
	if len(parts) != 4 || !valid(parts[0]) {
		return p, false
	}
	var numbers [3]uint64
	for i, bits := range []int{63, 20, 32} {
		var err error
		if numbers[i], err = strconv.ParseUint(parts[1+i], 16, bits); err != nil {
			return p, false
		}
	}
	p = place{parts[0], int64(numbers[0]), int64(numbers[1]), uint32(numbers[2])}
	return p, p.size <= atOnce && p.String() == id
}

// add writes a blob as a piece of a pack. It fails with errors.ErrUnsupported
// where files cannot have holes.
func (s *packs) add(data []byte) (id string, p *pack, err error) {
	p, at, err := s.reserve(int64(len(data)))
	if err != nil {
		return "", nil, err
	}
	at.sum = checksum.CRC32C(data)
	_, err = p.file.WriteAt(data, at.offset)
	s.mu.Lock()
	defer s.mu.Unlock()
	p.writing--
	if !p.dirty {
		p.dirty = true
		s.written = append(s.written, p)
	}
	if err != nil {
		return "", nil, errors.Join(err, makeHole(p.file, at.offset, rounded(at.size)))
	}
	return at.String(), p, nil
}

// reserve finds room for so many bytes.
func (s *packs) reserve(size int64) (*pack, place, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == nil {
		p, err := newPack(s.dir)
		if err != nil {
			return nil, place{}, err
		}
		s.current = p
	}
	p := s.current
	at := place{pack: p.name, offset: p.end, size: size}
	p.end += rounded(size)
	p.writing++
	if p.end >= packSize {
		p.full, s.current = true, nil
	}
	return p, at, nil
}

func openPacks(dir string, temporary bool) (*packs, error) {
	s := &packs{dir: dir, temporary: temporary, buffers: sync.Pool{New: func() any { return new(buffer) }}}
	s.turn.L = &s.mu
	return s, os.MkdirAll(dir, 0o700)
}

func newPack(dir string) (*pack, error) {
	name := randomName()
	path := filepath.Join(dir, name)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if err = hold(f); err == nil {
		err = makeHole(f, 0, block) // tells whether the file system can
	}
	if err != nil {
		f.Close()
		os.Remove(path)
		return nil, err
	}
	return &pack{name: name, file: f}, nil
}

func rounded(size int64) int64 { return (size + block - 1) / block * block }

func (s *packs) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	open := map[*pack]bool{}
	for _, p := range append(s.written, s.current) {
		if p != nil {
			open[p] = true
		}
	}
	var errs []error
	for p := range open {
		if p.dirty && !s.temporary {
			errs = append(errs, p.file.Sync())
		}
		errs = append(errs, p.file.Close())
	}
	s.written, s.current = nil, nil
	return errors.Join(errs...)
}

func (s *packs) path(p place) string { return filepath.Join(s.dir, p.pack) }

// open reads a piece. One that was removed, also meanwhile, is not there.
func (s *packs) open(at place) (File, error) {
	f, err := os.Open(s.path(at))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p := &piece{packs: s, buffer: s.buffers.Get().(*buffer)}
	data := p.buffer[:at.size]
	if _, err := f.ReadAt(data, at.offset); err != nil && err != io.EOF {
		p.Close()
		return nil, err
	}
	if checksum.CRC32C(data) != at.sum {
		p.Close()
		return nil, fmt.Errorf("blob %s: %w", at, os.ErrNotExist)
	}
	p.Reader = bytes.NewReader(data)
	return p, nil
}

// buffer is room for a piece.
type buffer [atOnce]byte

// piece is one that is open. Nothing may read it after Close.
type piece struct {
	*bytes.Reader
	packs  *packs
	buffer *buffer
}

func (p *piece) Close() error {
	if p.buffer != nil {
		p.packs.buffers.Put(p.buffer)
		p.Reader, p.buffer = bytes.NewReader(nil), nil
	}
	return nil
}

// remove makes a hole of a piece, and removes the pack when nothing is left and
// nobody appends to it.
func (s *packs) remove(at place) error {
	f, err := os.OpenFile(s.path(at), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := makeHole(f, at.offset, rounded(at.size)); err != nil {
		return err
	}
	if hold(f) == nil && isHole(f) {
		return os.Remove(f.Name())
	}
	return nil
}
