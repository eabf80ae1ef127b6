// Package wait provides the waits of retries: a sleep that ends with its context and the
// exponential backoff between attempts; and readers that end with a context.
package wait

import (
	"context"
	"io"
	"math/rand/v2"
	"time"
)

// Sleep waits for d. It returns early, with the context's error, when ctx ends.
func Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Backoff returns the wait before retry n, counted from 1: first, doubled with each retry up to
// longest. Half of it is random, so that clients that failed together do not return together.
func Backoff(n int, first, longest time.Duration) time.Duration {
	d := longest
	if n < 32 {
		d = min(first<<(n-1), longest)
	}
	if d < 2 {
		return d
	}
	return d/2 + rand.N(d/2)
}

// Reader reads from r until ctx ends.
func Reader(ctx context.Context, r io.Reader) io.Reader { return reader{ctx, r} }

type reader struct {
	ctx context.Context
	io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}
