package transfer

import (
	"context"
	"fmt"
	"net/http"

	"transect/client/fault"
)

const (
	// putAttempts is how often a part is sent when the storage fails.
	putAttempts = 6
	// maxResigns is how often a new URL is requested after a refusal: one that
	// expired succeeds the next time, one that is wrong never does.
	maxResigns = 3
)

// signed is a URL of the storage and the headers it was signed for.
type signed struct {
	PutURL  string            `json:"put_url"`
	Headers map[string]string `json:"headers"`
}

// put sends part n to the storage. After a refusal it requests a new URL, as
// URLs expire; after a transient failure it backs off.
func (u *upload) put(ctx context.Context, n int, sign func(context.Context) (signed, error), success func(int) bool) error {
	to, err := u.sign(ctx, sign)
	if err != nil {
		return err
	}
	attempt, resigns := 1, 0
	for {
		status, err := u.putOnce(ctx, n, to)
		switch {
		case ctx.Err() != nil:
			return fault.Stopped(ctx)
		case err != nil && describesFile(err):
			return err
		case err == nil && success(status):
			return nil
		}
		if changed := u.src.unchanged(); changed != nil {
			return changed
		}
		refused := status == http.StatusUnauthorized || status == http.StatusForbidden
		final := !refused && !fault.TransientStatus(status)
		if err == nil {
			err = u.storageError(status)
		} else {
			refused, final = false, false
		}
		switch {
		case refused && resigns < maxResigns:
			resigns++
			u.Stats.retries.Add(1)
			u.Logger.Debug("requesting a new upload URL", "file", u.Path, "part", n, "reason", err)
			if to, err = u.sign(ctx, sign); err != nil {
				return err
			}
			continue
		case refused, final, attempt == putAttempts:
			return err
		}
		u.Stats.retries.Add(1)
		u.Logger.Debug("retrying an upload", "file", u.Path, "part", n, "attempt", attempt, "reason", err)
		if err := u.backoff(ctx, attempt); err != nil {
			return err
		}
		attempt++
	}
}

func (u *upload) sign(ctx context.Context, sign func(context.Context) (signed, error)) (signed, error) {
	to, err := sign(ctx)
	if err == nil && to.PutURL == "" {
		err = fault.Of(&fault.QueryError{}, "the platform returned no upload URL for %s", u.Path)
	}
	return to, err
}

// putOnce makes one attempt, with exactly the headers the URL was signed for.
func (u *upload) putOnce(ctx context.Context, n int, to signed) (status int, err error) {
	header := make(http.Header, len(to.Headers))
	for name, value := range to.Headers {
		header.Set(name, value)
	}
	_, size := u.plan.span(n)
	body := &bodies{open: func() *requestBody { return u.newBody(ctx, n) }}
	status, err = u.caller.Put(ctx, to.PutURL, header, body.next, size)
	if readError := body.end(err == nil && status >= 200 && status < 300); readError != nil {
		return 0, readError
	}
	return status, err
}

// storageError is a failed answer of the storage.
func (u *upload) storageError(status int) error {
	f := fault.Of(&fault.ResponseError{}, "the storage refused %s with status %d %s", u.Path, status, http.StatusText(status))
	f.Status = status
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		f.Hint = "fresh upload URLs are refused: check this machine's clock and any proxy that changes requests"
	case fault.TransientStatus(status):
		f.Hint = fmt.Sprintf("a fault of the storage, tried %d times: run again later", putAttempts)
	default:
		f.Hint = "the storage does not accept the file: check its size and the platform's limits"
	}
	return f
}
