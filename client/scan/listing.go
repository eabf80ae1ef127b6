package scan

import (
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"slices"
	"sort"
	"strings"

	"transect/client/imagery"
)

// entryType is what a folder says of an entry.
type entryType byte

const (
	regular entryType = iota
	folder
	link
	special
)

// listing holds the names of one folder in natural order. Names of a flight
// differ in a few digits, so each is written as what it adds to the one before
// it: a dozen bytes, where a DirEntry would take some hundred.
type listing struct {
	blocks []string // of blockSize names each, the last may have fewer
	n      int
}

// A name in a block is its type, how many bytes of the name before it it
// begins with, how many follow, and these. The first of a block is whole.
const blockSize = 16

// place is where a name lies while a folder is read: 28 bits of chunk, 20 of
// offset, 16 of length.
type place uint64

const (
	chunkSize = 1 << 20
	batch     = 1024 // entries read at once
)

// list reads a folder. Entries read before an error are returned with it.
func list(open imagery.Opener, dir string) (*listing, error) {
	f, err := open.Open(dir)
	if err != nil {
		return &listing{}, err
	}
	defer f.Close()
	var b listingBuilder
	for err == nil {
		var entries []fs.DirEntry
		entries, err = f.ReadDir(batch)
		for _, e := range entries {
			b.add(e.Name(), typeOf(e.Type()))
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return b.done(), err
}

func typeOf(mode fs.FileMode) entryType {
	switch {
	case mode.IsRegular():
		return regular
	case mode.IsDir():
		return folder
	case mode&fs.ModeSymlink != 0:
		return link
	}
	return special
}

// listingBuilder fills a listing.
type listingBuilder struct {
	chunks []string // names one after the other, each preceded by its type
	order  []place
	chunk  strings.Builder
}

func (b *listingBuilder) add(name string, kind entryType) {
	if len(name) == 0 || len(name) > 1<<16-1 {
		return
	}
	if b.chunk.Len()+1+len(name) > chunkSize {
		b.chunks = append(b.chunks, b.chunk.String())
		b.chunk = strings.Builder{}
	}
	if b.chunk.Cap() == 0 && len(b.chunks) > 0 { // a small folder needs no whole chunk
		b.chunk.Grow(chunkSize)
	}
	b.order = append(b.order, place(len(b.chunks)<<36|b.chunk.Len()<<16|len(name)))
	b.chunk.WriteByte(byte(kind))
	b.chunk.WriteString(name)
}

// at returns a name, preceded by its type.
func (b *listingBuilder) at(p place) string {
	start := p >> 16 & (chunkSize - 1)
	return b.chunks[p>>36][start : start+1+p&(1<<16-1)]
}

func (b *listingBuilder) done() *listing {
	b.chunks = append(b.chunks, b.chunk.String())
	slices.SortFunc(b.order, func(x, y place) int { return imagery.NaturalCompare(b.at(x)[1:], b.at(y)[1:]) })
	l := &listing{n: len(b.order), blocks: make([]string, 0, (len(b.order)+blockSize-1)/blockSize)}
	var block []byte
	for names := range slices.Chunk(b.order, blockSize) {
		block = block[:0]
		before := ""
		for _, p := range names {
			kind, name := b.at(p)[0], b.at(p)[1:]
			shared := 0
			for shared < len(before) && shared < len(name) && before[shared] == name[shared] {
				shared++
			}
			block = append(block, kind)
			block = binary.AppendUvarint(block, uint64(shared))
			block = binary.AppendUvarint(block, uint64(len(name)-shared))
			block = append(block, name[shared:]...)
			before = name
		}
		l.blocks = append(l.blocks, string(block))
	}
	return l
}

func (l *listing) len() int { return l.n }

// next reads one name of a block.
func next(block string) (kind entryType, shared int, added, rest string) {
	kind, block = entryType(block[0]), block[1:]
	shared, block = number(block)
	length, block := number(block)
	return kind, shared, block[:length], block[length:]
}

// number reads an unsigned varint.
func number(text string) (n int, rest string) {
	for shift := 0; ; shift += 7 {
		b := text[0]
		n |= int(b&0x7f) << shift
		if text = text[1:]; b < 0x80 {
			return n, text
		}
	}
}

func (l *listing) entryAt(i int, name []byte) (entryType, []byte) {
	var kind entryType
	block := l.blocks[i/blockSize]
	for range i%blockSize + 1 {
		var shared int
		var added string
		kind, shared, added, block = next(block)
		name = append(name[:shared], added...)
	}
	return kind, name
}

func (l *listing) name(i int) string {
	var space [128]byte
	_, name := l.entryAt(i, space[:0])
	return string(name)
}

func (l *listing) kind(i int) entryType {
	var space [128]byte
	kind, _ := l.entryAt(i, space[:0])
	return kind
}

// from returns the first entry that does not come before the prefix.
func (l *listing) from(prefix string) int {
	block := sort.Search(len(l.blocks), func(b int) bool {
		_, _, first, _ := next(l.blocks[b])
		return imagery.ComparePrefix(first, prefix) >= 0
	})
	i := max(0, block-1) * blockSize
	for i < min(block*blockSize, l.n) && imagery.ComparePrefix(l.name(i), prefix) < 0 {
		i++
	}
	return i
}

// find returns the entry of that name, one in the same letter case first, -1
// when there is none.
func (l *listing) find(name string) int {
	found := -1
	for i := range l.withPrefix(name) {
		switch other := l.name(i); {
		case other == name:
			return i
		case found < 0 && strings.EqualFold(other, name):
			found = i
		}
	}
	return found
}

// withPrefix gives the entries whose names start with prefix, in any letter
// case.
func (l *listing) withPrefix(prefix string) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		// The order of names is that of prefixes only up to a digit that the
		// next character of a name may follow.
		key := strings.TrimRight(prefix, "0123456789")
		for i := l.from(key); i < l.n; i++ {
			name := l.name(i)
			if imagery.ComparePrefix(name, key) != 0 {
				return
			}
			if len(name) >= len(prefix) && strings.EqualFold(name[:len(prefix)], prefix) && !yield(i) {
				return
			}
		}
	}
}
