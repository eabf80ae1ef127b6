package imagery

import (
	"cmp"
	"context"
	"crypto/sha256"
	"hash/maphash"
	"io"
	"slices"
)

// dropDuplicates turns photos that are identical to an earlier one into problems.
func (s *Survey) dropDuplicates(ctx context.Context, open Opener) {
	originals := map[int]string{}
	path := func(i int) string { return s.Photos[i].Path }
	size := func(i int) int64 { return s.Photos[i].Size }
	open.Duplicates(ctx, len(s.Photos), size, path, cmp.Compare[int], func(duplicate, original int) { originals[duplicate] = path(original) })
	var kept []Photo
	for i, p := range s.Photos {
		original, repeated := originals[i]
		if !repeated {
			kept = append(kept, p)
			continue
		}
		problem := newProblem(p.Path, Duplicate, "it is identical to %s", original)
		problem.Original = original
		s.Problems = append(s.Problems, problem)
	}
	s.Photos = kept
}

// candidate is a file that may have duplicates.
type candidate struct {
	size int64
	ends uint64 // hash of its first and last bytes, for files that share their size
	file uint32
}

// Duplicates finds those of n files that are byte for byte the same, until ctx
// ends. The first in the order of compare is the original of the others. Only
// files of one size are opened, and only those with the same ends are read whole:
// the files of an uncompressed flight are all of one size.
func (open Opener) Duplicates(ctx context.Context, n int, size func(int) int64, path func(int) string,
	compare func(a, b int) int, found func(duplicate, original int)) {
	list := make([]candidate, n)
	for i := range list {
		list[i] = candidate{size: size(i), file: uint32(i)}
	}
	bySize := func(a, b candidate) int { return cmp.Compare(a.size, b.size) }
	byEnds := func(a, b candidate) int { return cmp.Compare(a.ends, b.ends) }
	seed := maphash.MakeSeed()
	groups(list, bySize, func(sameSize []candidate) {
		readable := sameSize[:0] // in place: they may be a million
		for _, f := range sameSize {
			var ok bool
			if f.ends, ok = open.ends(path(int(f.file)), f.size, seed); ok && ctx.Err() == nil {
				readable = append(readable, f)
			}
		}
		groups(readable, byEnds, func(sameEnds []candidate) {
			slices.SortFunc(sameEnds, func(a, b candidate) int { return compare(int(a.file), int(b.file)) })
			originals := map[[sha256.Size]byte]int{}
			for _, f := range sameEnds {
				sum, err := open.checksum(ctx, path(int(f.file)))
				if err != nil {
					continue // stopped, or the file has just been deleted
				}
				if original, repeated := originals[sum]; repeated {
					found(int(f.file), original)
				} else {
					originals[sum] = int(f.file)
				}
			}
		})
	})
}

// groups sorts a list and visits the runs of two or more equal elements.
func groups(list []candidate, compare func(a, b candidate) int, visit func([]candidate)) {
	slices.SortFunc(list, compare)
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

// ends hashes the first and the last bytes of a file.
func (open Opener) ends(path string, size int64, seed maphash.Seed) (uint64, bool) {
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

// checksum returns the SHA-256 of a file. It stops when ctx ends.
func (open Opener) checksum(ctx context.Context, path string) (sum [sha256.Size]byte, err error) {
	f, err := open.Open(path)
	if err != nil {
		return sum, err
	}
	defer f.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, stoppable{ctx, f}); err != nil {
		return sum, err
	}
	hash.Sum(sum[:0])
	return sum, nil
}

// stoppable is a reader that stops when its context ends.
type stoppable struct {
	ctx context.Context
	r   io.Reader
}

func (s stoppable) Read(b []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.r.Read(b)
}
