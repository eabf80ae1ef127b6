package imagery

import (
	"cmp"
	"context"
	"crypto/sha256"
	"hash"
	"hash/maphash"
	"io"
	"slices"

	"golang.org/x/sync/errgroup"

	"transect/client/files"
	"transect/client/wait"
)

// dropDuplicates turns photos identical to an earlier one into problems.
func (s *Survey) dropDuplicates(ctx context.Context, tree files.Tree) {
	originals := map[int]string{}
	path := func(i int) string { return s.Photos[i].Path }
	size := func(i int) int64 { return s.Photos[i].Size }
	Duplicates(ctx, tree, len(s.Photos), size, path, cmp.Compare[int],
		func(duplicate, original int) { originals[duplicate] = path(original) })
	var kept []Photo
	for i, p := range s.Photos {
		original, repeated := originals[i]
		if !repeated {
			kept = append(kept, p)
			continue
		}
		s.Problems = append(s.Problems, newProblem(p.Path, Duplicate, "it is identical to %s", original))
	}
	s.Photos = kept
}

// candidate is a file that may have duplicates.
type candidate struct {
	size int64
	ends uint64 // hash of its first and last bytes, for files of equal size
	file uint32
}

// Duplicates finds files among n that are identical byte for byte, until ctx ends. The first in the
// order of compare is the original of the others. Only files of equal size are opened, and only
// those with equal ends are read completely, because all files of an uncompressed flight have one
// size.
func Duplicates(ctx context.Context, tree files.Tree, n int, size func(int) int64, path func(int) string,
	compare func(a, b int) int, found func(duplicate, original int)) {
	list := make([]candidate, n)
	for i := range list {
		list[i] = candidate{size: size(i), file: uint32(i)}
	}
	bySize := func(a, b candidate) int { return cmp.Compare(a.size, b.size) }
	byEnds := func(a, b candidate) int { return cmp.Compare(a.ends, b.ends) }
	seed := maphash.MakeSeed()
	groups(list, bySize, func(sameSize []candidate) {
		var group errgroup.Group
		group.SetLimit(8) // on a network share most of the time is latency
		read := make([]bool, len(sameSize))
		for i := range sameSize {
			f := &sameSize[i]
			name := path(int(f.file)) // path may not be called concurrently
			group.Go(func() error {
				f.ends, read[i] = ends(tree, name, f.size, seed)
				return nil
			})
			if ctx.Err() != nil {
				break
			}
		}
		_ = group.Wait()         // an unreadable file has no duplicates
		readable := sameSize[:0] // in place, because they may be a million
		for i, f := range sameSize {
			if read[i] {
				readable = append(readable, f)
			}
		}
		groups(readable, byEnds, func(sameEnds []candidate) {
			slices.SortFunc(sameEnds, func(a, b candidate) int { return compare(int(a.file), int(b.file)) })
			originals := map[[sha256.Size]byte]int{}
			for _, f := range sameEnds {
				h := sha256.New()
				if Hash(ctx, tree, path(int(f.file)), h) != nil {
					continue // stopped, or the file was just deleted
				}
				sum := [sha256.Size]byte(h.Sum(nil))
				if original, repeated := originals[sum]; repeated {
					found(int(f.file), original)
				} else {
					originals[sum] = int(f.file)
				}
			}
		})
	})
}

// groups sorts a list and visits the runs of at least two equal elements.
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
func ends(tree files.Tree, path string, size int64, seed maphash.Seed) (uint64, bool) {
	f, err := tree.Open(path)
	if err != nil {
		return 0, false
	}
	defer f.Close()
	var h maphash.Hash
	h.SetSeed(seed)
	buffer := make([]byte, min(size, 8<<10))
	for _, offset := range []int64{0, size - int64(len(buffer))} {
		n, err := f.ReadAt(buffer, offset)
		if err != nil && err != io.EOF {
			return 0, false
		}
		_, _ = h.Write(buffer[:n])
	}
	return h.Sum64(), true
}

// Hash adds the content of a file to a hash. It stops when ctx ends.
func Hash(ctx context.Context, tree files.Tree, path string, h hash.Hash) error {
	f, err := tree.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.CopyBuffer(h, wait.Reader(ctx, f), make([]byte, 256<<10))
	return err
}
