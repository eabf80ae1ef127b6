package scan

import (
	"errors"
	"io"
	"io/fs"
	"slices"
	"sort"
	"strings"

	"transect/client/files"
	"transect/client/formats/imagery"
)

// entryType is the type of a directory entry.
type entryType byte

const (
	regular entryType = iota
	folder
	link
	special
)

// listing holds the names of one folder in natural order: their bytes, and 8 more per name to find
// them. A million DirEntries would take some hundred megabytes.
type listing struct {
	chunks []string // consecutive names, each preceded by its type
	chunk  strings.Builder
	order  []uint64 // 28 bits chunk, 20 bits offset, 16 bits length
}

const chunkSize = 1 << 20

// list reads a folder. Entries read before an error are returned with it.
func list(tree files.Tree, dir string) (*listing, error) {
	l := &listing{}
	f, err := tree.Open(dir)
	if err != nil {
		return l, err
	}
	defer f.Close()
	for err == nil {
		var entries []fs.DirEntry
		entries, err = f.ReadDir(1024)
		for _, e := range entries {
			l.add(e.Name(), typeOf(e.Type()))
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	l.sort()
	return l, err
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

func (l *listing) add(name string, kind entryType) {
	if len(name) == 0 || len(name) > 1<<16-1 {
		return
	}
	if l.chunk.Len()+1+len(name) > chunkSize {
		l.sealChunk()
	}
	if l.chunk.Cap() == 0 && len(l.chunks) > 0 { // a small folder does not need a full chunk
		l.chunk.Grow(chunkSize)
	}
	l.order = append(l.order, uint64(len(l.chunks)<<36|l.chunk.Len()<<16|len(name)))
	l.chunk.WriteByte(byte(kind))
	l.chunk.WriteString(name)
}

func (l *listing) sealChunk() {
	l.chunks = append(l.chunks, l.chunk.String())
	l.chunk = strings.Builder{}
}

// sort sorts the names after the last addition.
func (l *listing) sort() {
	l.sealChunk()
	slices.SortFunc(l.order, func(a, b uint64) int { return imagery.NaturalCompare(l.at(a)[1:], l.at(b)[1:]) })
}

// at returns a name, preceded by its type.
func (l *listing) at(slot uint64) string {
	return l.chunks[slot>>36][slot>>16&(chunkSize-1):][:slot&(1<<16-1)+1]
}

func (l *listing) len() int { return len(l.order) }

func (l *listing) name(i int) string { return l.at(l.order[i])[1:] }

func (l *listing) kind(i int) entryType { return entryType(l.at(l.order[i])[0]) }

// find returns the entry with a name, preferably in the same case, or -1.
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

// withPrefix yields the entries whose names start with prefix, ignoring case.
func (l *listing) withPrefix(prefix string) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		// Sorting groups names by prefix only up to a digit that may be followed by the next
		// character of a name.
		key := strings.TrimRight(prefix, "0123456789")
		first := sort.Search(l.len(), func(i int) bool { return imagery.ComparePrefix(l.name(i), key) >= 0 })
		for i := first; i < l.len(); i++ {
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
