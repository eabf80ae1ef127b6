package imagery

import (
	"context"
	"crypto/sha256"
	"io"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"
)

// metadataKey is equal for identical photos. Only photos with equal keys are
// hashed: the size alone is the same for all photos of an uncompressed flight.
type metadataKey struct {
	size                int64
	width, height       int
	latitude, longitude float64
	acquired            time.Time
	band, capture       string
}

func keyOf(p Photo) metadataKey {
	return metadataKey{p.Size, p.Width, p.Height, p.Latitude, p.Longitude, p.Acquired.UTC(), p.Band, p.CaptureID}
}

// dropDuplicates turns photos that are identical to an earlier one into problems.
func (s *Survey) dropDuplicates(ctx context.Context, open Opener) {
	alike := map[metadataKey][]int{}
	for i, p := range s.Photos {
		alike[keyOf(p)] = append(alike[keyOf(p)], i)
	}
	sums := make([][sha256.Size]byte, len(s.Photos))
	hashed := make([]bool, len(s.Photos))
	var group errgroup.Group
	group.SetLimit(2 * runtime.GOMAXPROCS(0))
	for _, members := range alike {
		if len(members) < 2 {
			continue
		}
		for _, i := range members {
			group.Go(func() error {
				sum, err := open.Checksum(ctx, s.Photos[i].Path)
				sums[i], hashed[i] = sum, err == nil // a file deleted meanwhile is no duplicate
				return nil
			})
		}
	}
	_ = group.Wait()
	first := map[[sha256.Size]byte]string{}
	var kept []Photo
	for i, p := range s.Photos {
		original, repeated := first[sums[i]]
		if !hashed[i] || !repeated {
			if hashed[i] {
				first[sums[i]] = p.Path
			}
			kept = append(kept, p)
			continue
		}
		problem := newProblem(p.Path, Duplicate, "it is identical to %s", original)
		problem.Original = original
		s.Problems = append(s.Problems, problem)
	}
	s.Photos = kept
}

// Checksum returns the SHA-256 of a file. It stops when ctx ends.
func (open Opener) Checksum(ctx context.Context, path string) (sum [sha256.Size]byte, err error) {
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
