package imagery

import (
	"context"
	"runtime"
	"sync"

	"transect/client/files"
)

// Reader reads photos in order, a few ahead, so that large folders need little memory. It is not
// safe for concurrent use.
type Reader struct {
	paths []string
	tree  files.Tree
	ready []reading
}

type reading struct {
	photo   Photo
	problem *Problem
}

// NewReader returns a Reader of files.
func NewReader(paths []string, tree files.Tree) *Reader { return &Reader{paths: paths, tree: tree} }

// Next returns the next photo, and the problem that Scan would report for it, except for
// duplicates. ok is false at the end; err is the cause of ctx's end.
func (r *Reader) Next(ctx context.Context) (p Photo, problem *Problem, ok bool, err error) {
	if len(r.ready) == 0 {
		if err := r.read(ctx); err != nil {
			return p, nil, false, err
		}
	}
	if len(r.ready) == 0 {
		return p, nil, false, nil
	}
	next := r.ready[0]
	r.ready = r.ready[1:]
	return next.photo, next.problem, true, nil
}

// read reads some photos concurrently.
func (r *Reader) read(ctx context.Context) error {
	batch := r.paths[:min(4*runtime.GOMAXPROCS(0), len(r.paths))]
	found := make([]reading, len(batch))
	var wait sync.WaitGroup
	for i, path := range batch {
		wait.Go(func() {
			if ctx.Err() != nil {
				return
			}
			p, err := readFile(r.tree, path)
			p.Path = path
			found[i] = reading{p, problemWith(p, err)}
		})
	}
	wait.Wait()
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	r.ready, r.paths = found, r.paths[len(batch):]
	return nil
}
