package formats

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"time"

	"golang.org/x/sync/semaphore"
)

// The limits within which a file is read.
const (
	maxTime   = 60 * time.Second
	maxMemory = 640 << 20 // bytes, of everything that is decoded at the same time
)

var memory = semaphore.NewWeighted(maxMemory)

// reserve waits until that many bytes may be used, or refuses what is more than
// the limit. The memory is free again after release.
func reserve(ctx context.Context, bytes int64) (release func(), err error) {
	if bytes < 0 || bytes > maxMemory {
		return nil, errTooLarge
	}
	if err := memory.Acquire(ctx, bytes); err != nil {
		return nil, err
	}
	return func() { memory.Release(bytes) }, nil
}

var errTooLarge = errors.New("it is too large to be shown")

// within runs do within the time limit. A decoder that panics has met a damaged
// file.
func (f *file) within(ctx context.Context, do func(context.Context) error) (err error) {
	limited, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it is damaged (%v)", p)
			if showPanics {
				debug.PrintStack()
			}
		}
		switch { // whatever a decoder made of it
		case err == nil:
		case ctx.Err() != nil:
			err = ctx.Err()
		case limited.Err() != nil:
			err = fmt.Errorf("it takes longer than %.0f s to read", maxTime.Seconds())
		}
	}()
	return do(limited)
}

// showPanics is set by tests.
var showPanics = false

// stoppable is a reader that fails once its context has ended.
type stoppable struct {
	ctx context.Context
	r   *io.SectionReader
}

func (s stoppable) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.r.Read(p)
}

func (s stoppable) ReadAt(p []byte, at int64) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.r.ReadAt(p, at)
}

func (s stoppable) Seek(offset int64, whence int) (int64, error) { return s.r.Seek(offset, whence) }
