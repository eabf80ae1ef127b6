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
// recommended; their requests are repeated by the transport, like every other
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
		f.Facts().Hint = "the platform has what it was before; upload it again when nothing touches it"
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
	opened := 0
	bytes := &attempts{open: func() *sending {
		if opened++; opened > 1 {
			u.stats.retries.Add(1)
		}
		return u.sending(ctx, n)
	}}
	err := u.caller.Post(ctx, "/"+service+"/"+route, query, bytes.reader, size)
	if unread := bytes.end(err == nil); unread != nil {
		return unread
	}
	if err != nil {
		if ctx.Err() != nil {
			return fault.Stopped(ctx)
		}
		if changed := u.src.unchanged(); changed != nil {
			return changed
		}
	}
	return err
}
