package transfer

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	"transect/client/fault"
)

// open asks for bytes from to to. Only an answer that is exactly those of the
// same file will do.
func (r *receiving) open(ctx context.Context, from, to int64) (*http.Response, error) {
	part := Span{From: from, Tag: r.tag}
	if to != r.total {
		part.To = max(to, 0)
	}
	answer, err := r.caller.Get(ctx, r.Path, r.Query, part)
	var refused *fault.ResponseError
	if errors.As(err, &refused) && refused.Status == http.StatusRequestedRangeNotSatisfiable && from > 0 {
		return nil, &startOver{reason: "the range is not there any more"}
	}
	if err != nil || from == 0 && part.To == 0 && answer.StatusCode != http.StatusPartialContent && r.sameState(answer, answer.ContentLength) {
		return answer, err
	}
	first, _, total, ok := contentRange(answer.Header.Get("Content-Range"))
	switch {
	case answer.StatusCode != http.StatusPartialContent:
		return nil, &startOver{reason: "the whole file came instead of a range", answer: answer}
	case !ok, first != from, !r.sameState(answer, total):
		_ = answer.Body.Close()
		return nil, &startOver{reason: "another range came than the one asked for"}
	}
	return answer, nil
}

// sameState tells whether an answer is of the file that was begun.
func (r *receiving) sameState(answer *http.Response, total int64) bool {
	if tag := answer.Header.Get("ETag"); tag != "" && r.tag != "" && tag != r.tag {
		return false // replaced on the server meanwhile
	}
	if e := answer.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return false
	}
	return total < 0 || r.total < 0 || total == r.total
}

// body reads one answer as far as it is wanted and gives where it got to.
func (r *receiving) body(ctx context.Context, w *worker, answer *http.Response, at, to int64) (int64, error) {
	buffer := make([]byte, readBuffer)
	from := readerOf{ctx: ctx, r: answer.Body}
	for to < 0 || at < to {
		wanted := buffer
		if to >= 0 {
			wanted = buffer[:min(int64(len(buffer)), to-at)]
		}
		n, err := from.Read(wanted)
		if n > 0 {
			if err := r.file.writeAt(buffer[:n], at); err != nil {
				return at, err
			}
			r.got(at, int64(n))
			at, w.moved = at+int64(n), w.moved+int64(n)
		}
		switch {
		case errors.Is(err, io.EOF) && to < 0:
			return at, nil
		case errors.Is(err, io.EOF) && at < to:
			return at, io.ErrUnexpectedEOF
		case err != nil && !errors.Is(err, io.EOF):
			return at, err
		}
	}
	if at == r.total && to == r.total {
		if n, _ := from.Read(buffer[:1]); n > 0 {
			return at, &startOver{reason: "more bytes than announced"}
		}
	}
	return at, nil
}

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
