package gather

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
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

// listing holds the names of one folder in natural order. A name takes its
// bytes and nine more, where a DirEntry would take some hundred.
type listing struct {
	chunks []string // names one after the other, each preceded by its type
	order  []place
}

// place is where a name lies: 28 bits of chunk, 20 of offset, 16 of length.
type place uint64

const (
	chunkSize = 1 << 20
	batch     = 1024 // entries read at once
)

// list reads a folder. Entries read before an error are returned with it.
func list(dir string) (*listing, error) {
	f, err := os.Open(dir)
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
	listing
	chunk strings.Builder
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

func (b *listingBuilder) done() *listing {
	l := &b.listing
	l.chunks = append(l.chunks, b.chunk.String())
	slices.SortFunc(l.order, func(x, y place) int { return imagery.NaturalCompare(l.at(x), l.at(y)) })
	return l
}

func (l *listing) at(p place) string {
	start := p >> 16 & (chunkSize - 1)
	return l.chunks[p>>36][start+1 : start+1+p&(1<<16-1)]
}

func (l *listing) len() int { return len(l.order) }

func (l *listing) name(i int) string { return l.at(l.order[i]) }

func (l *listing) kind(i int) entryType {
	p := l.order[i]
	return entryType(l.chunks[p>>36][p>>16&(chunkSize-1)])
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
		first, _ := slices.BinarySearchFunc(l.order, key, func(p place, key string) int {
			if imagery.ComparePrefix(l.at(p), key) < 0 {
				return -1
			}
			return 1
		})
		for i := first; i < len(l.order); i++ {
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
