package transfer

import (
	"context"
	"net/url"
	"strconv"

	"transect/client/fault"
)

// UploadMode says where the bytes of uploads go.
type UploadMode int

// The upload modes of the protocol. Uploads through the platform are not
// recommended; their requests are retried by the transport, like every other
// platform request.
const (
	ToStorage       UploadMode = iota // PUT to signed URLs of the storage
	ThroughPlatform                   // POST to the platform itself
)

func (u *upload) postWhole(ctx context.Context) error {
	err := u.post(ctx, 1, "upload-component", url.Values{
		"filename": {u.name()}, "checksum": {u.sums.whole}, "dataset": {u.Dataset}, "component": {u.Component},
	})
	if err != nil {
		return u.failed(err)
	}
	err = u.src.unchanged()
	if f := fault.Find(err); f != nil {
		f.Facts().Hint = "the platform has the earlier content; run again when nothing writes to the file"
	}
	return err
}

func (u *upload) postPart(ctx context.Context, n int) error {
	return u.post(ctx, n, "upload-part", url.Values{
		"dataset": {u.Dataset}, "component": {u.Component},
		"part_number": {strconv.Itoa(n)}, "checksum": {u.sums.parts[n-1]},
	})
}

func (u *upload) post(ctx context.Context, n int, route string, query url.Values) error {
	_, size := u.plan.span(n)
	attempts := 0
	body := &bodies{open: func() *requestBody {
		if attempts++; attempts > 1 {
			u.Stats.retries.Add(1)
		}
		return u.newBody(ctx, n)
	}}
	err := u.caller.Post(ctx, "/"+service+"/"+route, query, body.next, size)
	if readError := body.end(err == nil); readError != nil {
		return readError
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
