package preflight

import (
	"cmp"
	"context"
	"crypto/sha256"
	"hash/maphash"
	"io"
	"slices"

	"transect/client/imagery"
)

// candidate is a file that may have duplicates.
type candidate struct {
	size int64
	ends uint64 // hash of its first and last bytes, for files that share their size
	file uint32
}

// checkDuplicates finds files that are byte for byte the same. Only files of one
// size are opened, and only those with the same ends are read whole: the files
// of an uncompressed flight are all of one size.
func (s *survey) checkDuplicates(ctx context.Context) {
	list := make([]candidate, 0, s.files.Len())
	for i, f := range s.files.All {
		list = append(list, candidate{size: f.size, file: uint32(i)})
	}
	bySize := func(a, b candidate) int { return cmp.Compare(a.size, b.size) }
	byEnds := func(a, b candidate) int { return cmp.Compare(a.ends, b.ends) }
	seed := maphash.MakeSeed()
	groups(list, bySize, func(sameSize []candidate) {
		readable := sameSize[:0] // in place: they may be a million
		for _, f := range sameSize {
			var ok bool
			if f.ends, ok = endsOf(s.opts.Open, s.path(f.file), f.size, seed); ok && ctx.Err() == nil {
				readable = append(readable, f)
			}
		}
		groups(readable, byEnds, func(sameEnds []candidate) { s.compareWhole(ctx, sameEnds) })
	})
}

// groups sorts a list and visits the runs of two or more equal elements.
func groups(list []candidate, compare func(a, b candidate) int, visit func([]candidate)) {
	slices.SortStableFunc(list, compare)
	for len(list) > 0 {
		n := 1
		for n < len(list) && compare(list[n], list[0]) == 0 {
			n++
		}
		if n > 1 {
			visit(list[:n])
		}
		list = list[n:]
	}
}

func (s *survey) path(file uint32) string { return s.filePath(s.files.At(int(file))) }

// compareWhole reports the duplicates among files that share size and ends: the
// first by name is the original.
func (s *survey) compareWhole(ctx context.Context, files []candidate) {
	name := func(f uint32) string { return s.fileName(s.files.At(int(f))) }
	slices.SortStableFunc(files, func(a, b candidate) int { return imagery.NaturalCompare(name(a.file), name(b.file)) })
	originals := map[[sha256.Size]byte]uint32{}
	for _, f := range files {
		sum, err := s.opts.Open.Checksum(ctx, s.path(f.file))
		if err != nil {
			continue // stopped, or the file has just been deleted
		}
		original, repeated := originals[sum]
		if !repeated {
			originals[sum] = f.file
			continue
		}
		if s.path(original) != s.path(f.file) { // else it is in two items, such as a shared .prj
			s.problems.add(Problem{"duplicate", Warning, name(f.file), "it is the same file as " + name(original), "leave one of the two out"})
		}
	}
}

// endsOf hashes the first and the last bytes of a file.
func endsOf(open imagery.Opener, path string, size int64, seed maphash.Seed) (uint64, bool) {
	f, err := open.Open(path)
	if err != nil {
		return 0, false
	}
	defer f.Close()
	var hash maphash.Hash
	hash.SetSeed(seed)
	buffer := make([]byte, min(size, 8<<10))
	for _, offset := range []int64{0, size - int64(len(buffer))} {
		n, err := f.ReadAt(buffer, offset)
		if err != nil && err != io.EOF {
			return 0, false
		}
		_, _ = hash.Write(buffer[:n])
	}
	return hash.Sum64(), true
}
