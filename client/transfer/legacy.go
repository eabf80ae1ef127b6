package transfer

import (
	"context"
	"net/url"
	"strconv"
)

// The legacy way sends bytes through the platform itself. Its requests are
// repeated below, by the same rules as every other platform request.

func (u *upload) postWhole(ctx context.Context) error {
	err := u.post(ctx, 1, "upload-component", url.Values{
		"filename": {u.name()}, "checksum": {u.sums.whole}, "dataset": {u.Dataset}, "component": {u.Component},
	})
	if err != nil {
		return u.failed(err)
	}
	return u.src.unchanged()
}

func (u *upload) postPart(ctx context.Context, n int) error {
	return u.post(ctx, n, "upload-part", url.Values{
		"dataset": {u.Dataset}, "component": {u.Component},
		"part_number": {strconv.Itoa(n)}, "checksum": {u.sums.parts[n-1]},
	})
}

func (u *upload) post(ctx context.Context, n int, route string, query url.Values) error {
	_, size := u.plan.span(n)
	bytes := &attempts{open: func() *sending { return u.sending(ctx, n) }}
	err := u.caller.Post(ctx, "/"+service+"/"+route, query, bytes.reader, size)
	if unread := bytes.end(err == nil); unread != nil {
		return unread
	}
	if err != nil {
		if ctx.Err() != nil {
			return stopped(ctx)
		}
		if changed := u.src.unchanged(); changed != nil {
			return changed
		}
	}
	return err
}
