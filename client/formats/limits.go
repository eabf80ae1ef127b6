package formats

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"golang.org/x/sync/semaphore"
)

// The limits within which a file is read.
const (
	minTime   = 30 * time.Second
	minSpeed  = 1 << 20   // bytes for which there is a second more
	maxMemory = 640 << 20 // bytes, of everything that is decoded at the same time
)

// MaxTime is how long reading a file of a size may take: a small one that takes long
// was made for that.
func MaxTime(size int64) time.Duration { return minTime + time.Duration(size/minSpeed)*time.Second }

func tooSlow(size int64) error {
	return fmt.Errorf("it takes longer than %.0f s to read", MaxTime(size).Seconds())
}

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

// within has the reader of the file do something within the time limit. A decoder that
// panics has met a damaged file. An error says what failed.
func (f *file) within(ctx context.Context, what string, do func(context.Context, reader) error) (err error) {
	limited, cancel := context.WithTimeout(ctx, MaxTime(f.Size))
	defer cancel()
	defer func() {
		if err != nil {
			err = f.fault(what, err)
		}
	}()
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
			err = tooSlow(f.Size)
		}
	}()
	r, err := f.reader()
	switch {
	case err != nil:
		return err
	case r.describe == nil:
		return ErrNone
	}
	return do(limited, r)
}

// showPanics is set by tests.
var showPanics = false
