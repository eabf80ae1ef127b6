package transfer

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"transect/client/fault"
)

// inParts sends what is missing of an upload in parts and says how many parts
// were not. An upload taken up again that the platform knows nothing of any
// more starts over, once.
func (u *upload) inParts(ctx context.Context) (resumed int, err error) {
	if u.entry.Started(u.sums.whole) {
		counted, found := &atomic.Int64{}, &atomic.Int64{}
		resumed, err = u.missing(ctx, counted, found)
		if err == nil || ctx.Err() != nil || !lost(err) {
			return resumed, err
		}
		u.log.Debug("starting an upload over", "file", u.Path, "reason", err)
		u.count(-counted.Load())
		u.found(-found.Load())
	}
	u.entry.Forget()
	if err := u.create(ctx); err != nil {
		return 0, err
	}
	u.entry.Start(u.sums.whole)
	_, err = u.missing(ctx, &atomic.Int64{}, &atomic.Int64{})
	return 0, err
}

// lost tells refusals that an upload the platform has dropped would meet.
func lost(err error) bool {
	var refused *fault.ResponseError
	if !errors.As(err, &refused) {
		return false
	}
	switch refused.Status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusRequestTimeout, http.StatusTooManyRequests:
		return false
	}
	return refused.Status >= 400 && refused.Status < 500
}

// missing sends the parts that were not confirmed and completes the upload.
// counted is the number of bytes of parts that are there, found of those that
// were there before.
func (u *upload) missing(ctx context.Context, counted, found *atomic.Int64) (resumed int, err error) {
	group, inner := errgroup.WithContext(ctx)
	for n := 1; n <= u.plan.parts; n++ {
		_, size := u.plan.span(n)
		if u.entry.Done(n) {
			resumed++
			counted.Add(size)
			found.Add(size)
			u.count(size)
			u.found(size)
			continue
		}
		if u.budget.Acquire(inner) != nil {
			break // the group or the caller stopped; its error is the one to tell
		}
		group.Go(func() error {
			defer u.budget.Release()
			if err := u.part(withConnection(inner, u.budget), n); err != nil {
				return err
			}
			u.entry.Confirm(n) // before anything else: a kill may come
			counted.Add(size)
			return nil
		})
	}
	err = group.Wait()
	switch {
	case ctx.Err() != nil:
		return resumed, stopped(ctx)
	case err != nil:
		return resumed, err
	}
	if err := u.src.unchanged(); err != nil {
		return resumed, err
	}
	return resumed, u.caller.Call(ctx, service, "complete-multipart-upload", u.fields(nil), nil)
}

func (u *upload) create(ctx context.Context) error {
	what := map[string]any{
		"filename": u.name(), "chunk_size": u.plan.chunk, "total_size": u.plan.size, "checksum": u.sums.whole,
	}
	if u.mode != ThroughPlatform {
		what["direct_upload"] = true
	}
	return u.caller.Call(ctx, service, "create-multipart-upload", u.fields(what), nil)
}

// part sends part n.
func (u *upload) part(ctx context.Context, n int) error {
	if u.mode == ThroughPlatform {
		return u.partFailed(n, u.postPart(ctx, n))
	}
	sign := func(ctx context.Context) (signed, error) {
		var s signed
		err := u.caller.Call(ctx, service, "get-upload-part-url",
			u.fields(map[string]any{"part_number": n, "checksum": u.sums.parts[n-1]}), &s)
		return s, err
	}
	success := func(status int) bool { return status == http.StatusOK || status == http.StatusNoContent }
	return u.partFailed(n, u.put(ctx, n, sign, success))
}

// partFailed names file and part around the error of one part.
func (u *upload) partFailed(n int, err error) error {
	if err == nil || told(err) {
		return err
	}
	return wrapped(err, "part %d of %d of %s could not be sent", n, u.plan.parts, u.Path)
}
