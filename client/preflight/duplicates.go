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

// checkDuplicates finds files that are byte for byte the same. Only files of
// one size are opened, and only those whose ends are the same as well are read
// whole: files of an uncompressed flight are all of one size.
func (s *survey) checkDuplicates(ctx context.Context) {
	type sized struct {
		size int64
		file uint32
	}
	order := make([]sized, 0, s.files.Len())
	for i, f := range s.files.All {
		order = append(order, sized{f.size, uint32(i)})
	}
	slices.SortFunc(order, func(a, b sized) int { return cmp.Or(cmp.Compare(a.size, b.size), cmp.Compare(a.file, b.file)) })
	seed := maphash.MakeSeed()
	var group []ending
	for start := 0; start < len(order) && ctx.Err() == nil; {
		end := start + 1
		for end < len(order) && order[end].size == order[start].size {
			end++
		}
		group = group[:0]
		for _, f := range order[start:end] {
			if end-start == 1 || ctx.Err() != nil {
				break
			}
			if ends, ok := endsOf(s.opts.Open, s.path(f.file), f.size, seed); ok {
				group = append(group, ending{ends, f.file})
			}
		}
		s.compare(ctx, group)
		start = end
	}
}

// ending is a file by its ends.
type ending struct {
	ends uint64
	file uint32
}

func (s *survey) path(file uint32) string { return s.names.path(s.files.At(int(file)).name) }

func (s *survey) fileName(file uint32) string { return s.names.name(s.files.At(int(file)).name) }

// compare tells the duplicates among files of one size.
func (s *survey) compare(ctx context.Context, files []ending) {
	slices.SortFunc(files, func(a, b ending) int { return cmp.Or(cmp.Compare(a.ends, b.ends), cmp.Compare(a.file, b.file)) })
	for start := 0; start < len(files); {
		end := start + 1
		for end < len(files) && files[end].ends == files[start].ends {
			end++
		}
		if end-start > 1 {
			s.compareWhole(ctx, files[start:end])
		}
		start = end
	}
}

// compareWhole tells the duplicates among files that share size and ends: the
// first by name is the original.
func (s *survey) compareWhole(ctx context.Context, files []ending) {
	slices.SortFunc(files, func(a, b ending) int {
		return cmp.Or(imagery.NaturalCompare(s.fileName(a.file), s.fileName(b.file)), cmp.Compare(a.file, b.file))
	})
	originals := map[[sha256.Size]byte]uint32{}
	for _, f := range files {
		if ctx.Err() != nil {
			return
		}
		sum, err := s.opts.Open.Checksum(ctx, s.path(f.file))
		if err != nil {
			continue // a file that just went away repeats nothing
		}
		original, repeated := originals[sum]
		if !repeated {
			originals[sum] = f.file
			continue
		}
		if s.path(original) == s.path(f.file) {
			continue // one file in two items, such as a shared .prj
		}
		s.problems.add(Problem{"duplicate", Warning, s.fileName(f.file),
			"it is the same file as " + s.fileName(original), "leave one of the two out"})
	}
}

// endsOf hashes the first and the last bytes of a file.
func endsOf(open imagery.Opener, path string, size int64, seed maphash.Seed) (uint64, bool) {
	const length = 8 << 10
	f, err := open.Open(path)
	if err != nil {
		return 0, false
	}
	defer f.Close()
	var hash maphash.Hash
	hash.SetSeed(seed)
	buffer := make([]byte, min(size, length))
	for _, at := range []int64{0, size - int64(len(buffer))} {
		n, err := f.ReadAt(buffer, at)
		if err != nil && err != io.EOF {
			return 0, false
		}
		_, _ = hash.Write(buffer[:n])
	}
	return hash.Sum64(), true
}
