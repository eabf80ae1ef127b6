package formats

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"golang.org/x/sync/semaphore"
)

// Limits for reading a file.
const (
	minTime   = 30 * time.Second
	minSpeed  = 1 << 20   // bytes that add a second each
	maxMemory = 640 << 20 // bytes decoded at the same time, in total
)

// MaxTime returns how long reading a file of a size may take: only malicious small files take longer.
func MaxTime(size int64) time.Duration { return minTime + time.Duration(size/minSpeed)*time.Second }

func tooSlow(size int64) error {
	return fmt.Errorf("it takes longer than %.0f s to read", MaxTime(size).Seconds())
}

var memory = semaphore.NewWeighted(maxMemory)

// reserve waits until so many bytes may be used, and refuses more than the limit. release frees them.
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

// within runs do with the file's format and the time limit. It treats a panic of a decoder as a
// damaged file. The error includes what.
func (f *file) within(ctx context.Context, what string, do func(context.Context, *Format) error) (err error) {
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
		switch { // the end of a context precedes the decoder's error
		case err == nil:
		case ctx.Err() != nil:
			err = ctx.Err()
		case limited.Err() != nil:
			err = tooSlow(f.Size)
		}
	}()
	format, err := f.format()
	switch {
	case err != nil:
		return err
	case format.describe == nil:
		return ErrNone
	}
	return do(limited, format)
}

// showPanics is set by tests.
var showPanics = false
