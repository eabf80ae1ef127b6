package preflight

import (
	"context"
	"crypto/sha256"
	"hash/maphash"
	"io"
	"os"
	"slices"

	"transect/client/imagery"
)

// checkDuplicates finds files that are byte for byte the same. Only files of
// one size are opened, and only those whose ends are the same as well are read
// whole: files of an uncompressed flight are all of one size.
func (s *survey) checkDuplicates(ctx context.Context) {
	order := make([]uint32, len(s.files))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int {
		switch x, y := s.files[a].size, s.files[b].size; {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return imagery.NaturalCompare(s.names.name(s.files[a].name), s.names.name(s.files[b].name))
	})
	seed := maphash.MakeSeed()
	for start := 0; start < len(order) && ctx.Err() == nil; {
		end := start + 1
		for end < len(order) && s.files[order[end]].size == s.files[order[start]].size {
			end++
		}
		if end-start > 1 {
			s.compare(ctx, order[start:end], seed)
		}
		start = end
	}
}

// compare tells the duplicates among files of one size, in order of names.
func (s *survey) compare(ctx context.Context, files []uint32, seed maphash.Seed) {
	first := map[uint64]uint32{}           // by ends
	sums := map[[sha256.Size]byte]uint32{} // by content, of files that share their ends
	sumOf := func(i uint32) ([sha256.Size]byte, bool) {
		sum, err := imagery.Checksum(ctx, s.names.path(s.files[i].name))
		return sum, err == nil // a file that just went away repeats nothing
	}
	summed := map[uint32]bool{}
	for _, i := range files {
		if ctx.Err() != nil {
			return
		}
		ends, ok := endsOf(s.names.path(s.files[i].name), s.files[i].size, seed)
		if !ok {
			continue
		}
		other, shared := first[ends]
		if !shared {
			first[ends] = i
			continue
		}
		if !summed[other] {
			summed[other] = true
			if sum, ok := sumOf(other); ok {
				sums[sum] = other
			}
		}
		sum, ok := sumOf(i)
		if !ok {
			continue
		}
		original, repeated := sums[sum]
		if !repeated {
			sums[sum] = i
			continue
		}
		if s.names.path(s.files[original].name) == s.names.path(s.files[i].name) {
			continue // one file in two items, such as a shared .prj
		}
		s.problems.add(Problem{"duplicate", Warning, s.names.name(s.files[i].name),
			"it is the same file as " + s.names.name(s.files[original].name), "leave one of the two out"})
	}
}

// endsOf hashes the first and the last bytes of a file.
func endsOf(path string, size int64, seed maphash.Seed) (uint64, bool) {
	const length = 8 << 10
	f, err := os.Open(path)
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
