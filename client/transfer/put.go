package transfer

import (
	"context"
	"fmt"
	"net/http"

	"transect/client/fault"
)

const (
	// putAttempts bounds how often one part is sent after storage failed.
	putAttempts = 6
	// resigns bounds how often a refused address is asked for again: one that
	// expired is fine the next time, one that is wrong never is.
	resigns = 3
)

// signed is a URL of the storage and the headers it was signed for.
type signed struct {
	PutURL  string            `json:"put_url"`
	Headers map[string]string `json:"headers"`
}

// put sends span n to storage. A refused address (it expires) is asked for
// again and only this span sent again; storage that fails is given time.
func (u *upload) put(ctx context.Context, n int, sign func(context.Context) (signed, error), success func(int) bool) error {
	to, err := u.sign(ctx, sign)
	if err != nil {
		return err
	}
	refusals := 0
	for attempt := 1; ; attempt++ {
		status, err := u.putOnce(ctx, n, to)
		switch {
		case ctx.Err() != nil:
			return fault.Stopped(ctx)
		case err != nil && describesFile(err):
			return err
		case err == nil && success(status):
			return nil
		}
		reason := fmt.Sprintf("status %d", status)
		if err != nil {
			reason = err.Error()
		}
		if changed := u.src.unchanged(); changed != nil {
			return changed
		}
		if err == nil && (status == http.StatusUnauthorized || status == http.StatusForbidden) && refusals < resigns {
			refusals++
			u.stats.retries.Add(1)
			u.log.Debug("asking for a new address", "file", u.Path, "part", n, "reason", reason)
			if to, err = u.sign(ctx, sign); err != nil {
				return err
			}
			attempt--
			continue
		}
		if err == nil && !fault.TransientStatus(status) || attempt == putAttempts {
			if err == nil {
				err = u.refusedBytes(status)
			}
			return err
		}
		u.stats.retries.Add(1)
		u.log.Debug("sending again", "file", u.Path, "part", n, "attempt", attempt, "reason", reason)
		if err := u.backoff(ctx, attempt); err != nil {
			return err
		}
	}
}

func (u *upload) sign(ctx context.Context, sign func(context.Context) (signed, error)) (signed, error) {
	to, err := sign(ctx)
	if err == nil && to.PutURL == "" {
		err = fault.Of(&fault.QueryError{}, "the platform gave no address to send %s to", u.Path)
	}
	return to, err
}

// putOnce makes one attempt, with exactly the headers its address was signed for.
func (u *upload) putOnce(ctx context.Context, n int, to signed) (int, error) {
	header := http.Header{}
	for name, value := range to.Headers {
		header.Set(name, value)
	}
	_, size := u.plan.span(n)
	bytes := &attempts{open: func() *sending { return u.sending(ctx, n) }}
	status, err := u.caller.Put(ctx, to.PutURL, header, bytes.reader, size)
	if unread := bytes.end(err == nil && status >= 200 && status < 300); unread != nil {
		return 0, unread
	}
	return status, err
}

// refusedBytes is the error of storage that takes the bytes for nothing.
func (u *upload) refusedBytes(status int) error {
	f := fault.Of(&fault.ResponseError{}, "the storage refused %s with status %d %s", u.Path, status, http.StatusText(status))
	f.Status = status
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		f.Hint = "the addresses are refused although they are fresh: is this machine's clock right, does a proxy change requests?"
	case fault.TransientStatus(status):
		f.Hint = fmt.Sprintf("a fault of the storage, it was tried %d times: run again later", putAttempts)
	default:
		f.Hint = "it does not take the file as it is: look at its size and at what the platform allows"
	}
	return f
}
