package transfer

import (
	"context"
	"errors"
	"net/http"

	"transect/client/fault"
)

// endsAnywhere is true of answers whose length nobody told: that the
// connection ended is all that marks their end, and it may have broken.
func endsAnywhere(answer *http.Response) bool {
	return answer.ContentLength < 0 && len(answer.TransferEncoding) == 0 && !answer.Uncompressed && answer.ProtoMajor < 2
}

// beyond asks for what comes after the end of such an answer. It gives an
// answer when there is more; none when the file has ended there, or when the
// server knows no ranges and its word must do.
func (r *receiving) beyond(ctx context.Context, at int64) (*http.Response, error) {
	if at == 0 {
		return nil, nil
	}
	answer, err := r.caller.Get(ctx, r.Path, r.Query, Span{From: at, Tag: r.tag})
	var refused *fault.ResponseError
	switch {
	case errors.As(err, &refused) && refused.Status == http.StatusRequestedRangeNotSatisfiable:
		return nil, nil
	case err != nil:
		return nil, err
	}
	first, _, total, ok := contentRange(answer.Header.Get("Content-Range"))
	if answer.StatusCode == http.StatusPartialContent && ok && first == at && r.sameState(answer, total) {
		return answer, nil
	}
	_ = answer.Body.Close()
	return nil, nil
}
