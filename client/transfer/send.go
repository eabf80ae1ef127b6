package transfer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"transect/client/fault"
	"transect/client/transport"
)

const (
	longestBackoff = 16 * time.Second
	// maxCorrupted is how often a corrupted part is sent again.
	maxCorrupted = 2
	// maxResigns is how often a new URL is requested after a refusal: replacing an expired URL
	// helps at once, replacing a wrong one never does.
	maxResigns = 3
)

// fields returns the request fields for part n, or for the upload when n is 0.
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

// route returns the route's name for the whole file or for a part.
func (u *upload) route(whole, part string) string {
	if u.plan.parts == 1 {
		return whole
	}
	return part
}

// sendPart sends part n; with a single part that is the whole file.
func (u *upload) sendPart(ctx context.Context, n int) error {
	send := u.put
	if u.Mode == ThroughPlatform {
		send = u.post
	}
	_, size := u.plan.span(n)
	u.sending(size)
	err := send(ctx, n)
	for again := 1; again <= maxCorrupted && isCorrupted(err); again++ {
		u.Logger.Warn("a file arrived changed: sending it again", "file", u.Path, "part", n)
		u.Stats.retries.Add(1)
		err = send(ctx, n)
	}
	var described *fault.UploadError
	var cancelled *fault.CancelledError
	var refused *fault.ResponseError
	var limit *fault.LimitError
	var forbidden *fault.PermissionError
	if err == nil || errors.As(err, &described) || errors.As(err, &cancelled) || errors.As(err, &limit) ||
		errors.As(err, &forbidden) || u.plan.parts == 1 && errors.As(err, &refused) && !isCorrupted(err) {
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

// post sends a part to the platform. The transport repeats it like any request.
func (u *upload) post(ctx context.Context, n int) error {
	query := url.Values{}
	for name, value := range u.fields(n) {
		query.Set(name, fmt.Sprint(value))
	}
	return u.send(ctx, n, func(body func() (io.ReadCloser, error), size int64, confirmed func(int64)) error {
		_, err := u.transport.Do(ctx,
			transport.Request{Repeatable: true, Path: service + u.route("upload-component", "upload-part"),
				Query: query, BodyReader: body, Size: size, Confirmed: confirmed})
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
	resigns := 0
	retries := &transport.Retries{Limit: u.transport.MaxRetries(), First: time.Second, Longest: longestBackoff,
		Sleep: u.sleep}
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
		err := u.send(ctx, n, func(body func() (io.ReadCloser, error), size int64, confirmed func(int64)) error {
			answer, err := u.transport.Storage(ctx, http.MethodPut, signed.PutURL, header, body, size, confirmed)
			if err == nil {
				err = u.storageError(answer)
				_ = answer.Body.Close() // only read from
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
		case isCorrupted(err): // sendPart decides
			return err
		default:
			if err := u.transport.Wait(ctx, retries, signed.PutURL, err); err != nil {
				return err
			}
		}
		u.Stats.retries.Add(1)
		u.Logger.Debug("sending again", "file", u.Path, "part", n, "reason", err)
	}
}

// send makes a request with part n as its body, which the transport reopens for a redirect or
// repetition: only the last attempt counts.
func (u *upload) send(ctx context.Context, n int,
	request func(body func() (io.ReadCloser, error), size int64, confirmed func(int64)) error) error {
	offset, size := u.plan.span(n)
	var last atomic.Pointer[requestBody]
	err := request(func() (io.ReadCloser, error) {
		if b := last.Load(); b != nil {
			u.Stats.retries.Add(1)
			if err := b.end(false); err != nil {
				return nil, err
			}
		}
		b := u.newBody(ctx, offset, size)
		last.Store(b)
		return b.reader(), nil
	}, size, func(n int64) { last.Load().confirm(n, false) })
	if b := last.Load(); b != nil {
		if readError := b.end(err == nil); readError != nil {
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

// storageError returns the error for an answer of the storage, nil for success.
func (u *upload) storageError(answer *http.Response) error {
	status := answer.StatusCode
	body, _ := io.ReadAll(io.LimitReader(answer.Body, 64<<10)) // read so that the connection is reused
	if status == http.StatusOK || status == http.StatusNoContent || u.plan.parts == 1 && status >= 200 && status < 300 {
		return u.transport.CheckPage(answer.Header, body)
	}
	refusal := transport.StorageRefusal(body)
	f := fault.Of(&fault.ResponseError{}, "the storage refused %s: %s", u.Path,
		cmp.Or(refusal.String(), "status "+strconv.Itoa(status)+" "+http.StatusText(status)))
	f.Status, f.Code, f.Service = status, refusal.Code, "storage"
	if f.Cause = nil; refusal.Code != "" {
		f.Cause = fmt.Errorf("status %d %s", status, http.StatusText(status))
	}
	switch {
	case isCorrupted(f):
		f.Hint = "it arrived changed, more than once: check the network, a proxy that changes requests, and this machine's " +
			"memory"
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		f.Hint = "fresh upload URLs are refused: check this machine's clock and any proxy that changes requests"
	case status == http.StatusInsufficientStorage:
		f.Hint = "make room where the platform keeps its data, and run again"
	case fault.TransientStatus(status):
		f.Hint = "a fault of the storage: run again later"
	default:
		f.Hint = "the storage does not accept the file: check its size and the platform's limits"
	}
	return f
}

// corruptedCodes are the error codes of storages for content that does not match its checksum.
var corruptedCodes = []string{"BadDigest", "InvalidDigest", "XAmzContentSHA256Mismatch", "XAmzContentChecksumMismatch",
	"Md5Mismatch", "Crc64Mismatch", "ChecksumMismatch"}

// isCorrupted reports whether content was corrupted in transit.
func isCorrupted(err error) bool {
	refused, ok := errors.AsType[*fault.ResponseError](err)
	return ok && slices.Contains(corruptedCodes, refused.Code)
}
