package transfer

import (
	"context"
	"net/http"
	"path/filepath"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"transect/client/fault"
	"transect/client/journal"
)

// multipart sends the parts that no earlier run has sent, and returns how many were sent before. A
// resumed upload that the platform has dropped starts over, once.
func (u *upload) multipart(ctx context.Context) (resumed int, err error) {
	c, err := u.Budget.Acquire(ctx, u.turn, 0)
	if err != nil {
		return 0, err
	}
	err = u.begin(withConnection(ctx, c))
	c.Release()
	if err != nil {
		return 0, err
	}
	if b := u.begun; b != nil {
		if b.MD5 == u.sums.whole && b.Size == u.plan.size && b.Chunk == u.plan.chunk {
			var counted, found atomic.Int64
			resumed, err = u.sendParts(ctx, b, &counted, &found)
			if err == nil || ctx.Err() != nil || !isLost(err) {
				return resumed, err
			}
			u.Logger.Debug("starting an upload over", "file", u.Path, "reason", err)
			count(u.Progress, -counted.Load())
			count(u.Found, -found.Load())
		}
		u.Journal.Forget(u.destination, "")
	}
	fields := u.fields(0)
	fields["filename"], fields["checksum"] = filepath.Base(u.Path), u.sums.whole
	fields["chunk_size"], fields["total_size"] = u.plan.chunk, u.plan.size
	if u.Mode == ToStorage {
		fields["direct_upload"] = true
	}
	if err := u.call(ctx, "create-multipart-upload", fields, nil); err != nil {
		return 0, err
	}
	b := &journal.Upload{Size: u.plan.size, Chunk: u.plan.chunk, MD5: u.sums.whole, Parts: u.sums.parts,
		Unchanged: u.computed}
	b.ID = u.Journal.Begin(u.destination, u.src.state(), *b)
	var counted, found atomic.Int64
	_, err = u.sendParts(ctx, b, &counted, &found)
	return 0, err
}

// isLost reports whether the platform has dropped an upload.
func isLost(err error) bool {
	status := fault.Status(err)
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusRequestTimeout, http.StatusTooManyRequests:
		return false
	}
	return status >= 400 && status < 500
}

// sendParts sends the missing parts and completes the upload. counted is the number of bytes of all
// sent parts, found the share that an earlier run has sent.
func (u *upload) sendParts(ctx context.Context, b *journal.Upload, counted, found *atomic.Int64) (resumed int,
	err error) {
	group, inner := errgroup.WithContext(ctx)
	for n := 1; n <= u.plan.parts; n++ {
		_, size := u.plan.span(n)
		if b.Done[n] {
			resumed++
			counted.Add(size)
			found.Add(size)
			count(u.Progress, size)
			count(u.Found, size)
			continue
		}
		c, stopped := u.Budget.Acquire(inner, u.turn, size)
		if stopped != nil {
			break // the group or the caller stopped, and that error is reported
		}
		group.Go(func() error {
			defer c.Release()
			if err := u.sendPart(withConnection(inner, c), n); err != nil {
				return err
			}
			u.Journal.Confirm(u.destination, b.ID, n) // first, because the process may be killed
			counted.Add(size)
			return nil
		})
	}
	err = group.Wait()
	switch {
	case ctx.Err() != nil:
		return resumed, fault.Stopped(ctx)
	case err != nil:
		return resumed, err
	}
	if err := u.src.unchanged(); err != nil {
		return resumed, err
	}
	if err := u.call(ctx, "complete-multipart-upload", u.fields(0), nil); err != nil {
		return resumed, err
	}
	u.Journal.Forget(u.destination, b.ID)
	return resumed, nil
}

// count calls report, if set, with bytes other than 0.
func count(report func(int64), bytes int64) {
	if report != nil && bytes != 0 {
		report(bytes)
	}
}
