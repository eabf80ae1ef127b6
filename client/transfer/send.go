package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"

	"transect/client/fault"
	"transect/client/transport"
)

const (
	// putAttempts is how often a part is sent when the storage fails.
	putAttempts = 6
	// maxResigns is how often a new URL is requested after a refusal: one that
	// expired succeeds the next time, one that is wrong never does.
	maxResigns = 3
)

// fields are the fields of a request about part n; about the upload when n is 0.
func (u *upload) fields(n int) map[string]any {
	f := map[string]any{"dataset": u.Dataset, "component": u.Component}
	switch {
	case n == 0:
	case u.plan.parts == 1:
		f["filename"], f["checksum"] = filepath.Base(u.Path), u.sums.whole
	default:
		f["part_number"], f["checksum"] = n, u.sums.parts[n-1]
	}
	return f
}

// route is the name of a route for the whole file, or for a part.
func (u *upload) route(whole, part string) string {
	if u.plan.parts == 1 {
		return whole
	}
	return part
}

// sendPart sends part n, which is the file when there is only one.
func (u *upload) sendPart(ctx context.Context, n int) error {
	send := u.put
	if u.Mode == ThroughPlatform {
		send = u.post
	}
	err := send(ctx, n)
	var described *fault.UploadError
	var cancelled *fault.CancelledError
	var refused *fault.ResponseError
	if err == nil || errors.As(err, &described) || errors.As(err, &cancelled) || u.plan.parts == 1 && errors.As(err, &refused) {
		return err
	}
	f := fault.Of(&fault.UploadError{}, "%s could not be sent", u.Path)
	if u.plan.parts > 1 {
		f.Message = fmt.Sprintf("part %d of %d of %s", n, u.plan.parts, f.Message)
	}
	f.Cause = err
	if cause := fault.Find(err); cause != nil {
		f.Hint = cause.Facts().Hint
	}
	return f
}

// post sends a part to the platform. The transport repeats it, like every
// request of the platform.
func (u *upload) post(ctx context.Context, n int) error {
	query := url.Values{}
	for name, value := range u.fields(n) {
		query.Set(name, fmt.Sprint(value))
	}
	return u.send(ctx, n, func(body func() (io.ReadCloser, error), size int64) error {
		_, err := u.transport.Do(ctx, transport.Request{Repeatable: true, Path: service + u.route("upload-component", "upload-part"),
			Query: query, BodyReader: body, Size: size})
		return u.observe(ctx, err)
	})
}

// put sends a part to a signed URL of the storage. After a refusal it requests a
// new URL, as URLs expire; after a transient failure it backs off.
func (u *upload) put(ctx context.Context, n int) error {
	var signed struct {
		PutURL  string            `json:"put_url"`
		Headers map[string]string `json:"headers"`
	}
	attempt, resigns := 1, 0
	for {
		if signed.PutURL == "" {
			if err := u.call(ctx, u.route("init-upload-component", "get-upload-part-url"), u.fields(n), &signed); err != nil {
				return err
			}
		}
		if signed.PutURL == "" {
			return fault.Of(&fault.QueryError{}, "the platform returned no upload URL for %s", u.Path)
		}
		header := make(http.Header, len(signed.Headers))
		for name, value := range signed.Headers {
			header.Set(name, value)
		}
		err := u.send(ctx, n, func(body func() (io.ReadCloser, error), size int64) error {
			answer, err := u.transport.Storage(ctx, http.MethodPut, signed.PutURL, header, body, size)
			if err == nil {
				_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10)) // so that the connection can be used again
				_ = answer.Body.Close()
				err = u.storageError(answer.StatusCode)
			}
			return u.observe(ctx, err)
		})
		switch {
		case err == nil || ctx.Err() != nil:
			return err
		case fault.Status(err) == http.StatusUnauthorized || fault.Status(err) == http.StatusForbidden:
			if resigns++; resigns > maxResigns {
				return err
			}
			signed.PutURL, signed.Headers = "", nil
		case attempt == putAttempts || !fault.Transient(err):
			return err
		default:
			if err := u.backoff(ctx, attempt, err); err != nil {
				return err
			}
			attempt++
		}
		u.Stats.retries.Add(1)
		u.Logger.Debug("sending again", "file", u.Path, "part", n, "reason", err)
	}
}

// send makes a request with part n as its body, which the transport opens anew
// for a redirect or a repetition: only the last one counts.
func (u *upload) send(ctx context.Context, n int, request func(body func() (io.ReadCloser, error), size int64) error) error {
	offset, size := u.plan.span(n)
	var last *requestBody
	err := request(func() (io.ReadCloser, error) {
		if last != nil {
			u.Stats.retries.Add(1)
			if err := last.end(false); err != nil {
				return nil, err
			}
		}
		last = u.newBody(ctx, offset, size)
		return last, nil
	}, size)
	if last != nil {
		if readError := last.end(err == nil); readError != nil {
			return readError
		}
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fault.Stopped(ctx)
	}
	if changed := u.src.unchanged(); changed != nil {
		return changed
	}
	return err
}

// storageError is the error of an answer of the storage, nil for success.
func (u *upload) storageError(status int) error {
	if status == http.StatusOK || status == http.StatusNoContent || u.plan.parts == 1 && status >= 200 && status < 300 {
		return nil
	}
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
