package transfer

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	"golang.org/x/sync/errgroup"

	"transect/client/fault"
)

// ranges receives the missing ranges: sequentially, or in parallel when the file is large and the
// server supports it. answer is the file from its beginning.
func (r *receiver) ranges(ctx context.Context, answer *http.Response) error {
	if r.total < 0 {
		return r.fetch(ctx, r.first, 0, -1, answer)
	}
	parallel := r.resumable && !r.restarted && r.total >= r.minParallel &&
		strings.EqualFold(answer.Header.Get("Accept-Ranges"), "bytes")
	size := r.total + 1
	if parallel {
		size = r.rangeSize
	}
	gaps := r.have.gaps(r.total, size)
	missing := make(chan [2]int64, len(gaps))
	for _, gap := range gaps {
		missing <- gap
	}
	close(missing)
	group, inner := errgroup.WithContext(ctx)
	waiting, allTaken := context.WithCancel(inner)
	turn := r.Budget.Turn()
	defer allTaken()
	// The first worker uses the download's own connection and answer, which starts at byte 0.
	gap, ok := <-missing
	group.Go(func() error {
		defer allTaken()
		if gap[0] > 0 {
			_ = answer.Body.Close() // resumed at a later byte
			answer = nil
		}
		for ; ok; gap, ok = <-missing {
			if err := r.fetch(inner, r.first, gap[0], gap[1], answer); err != nil {
				return err
			}
			answer = nil
		}
		return nil
	})
	for range min(rangesPerFile, len(gaps)) - 1 {
		if !parallel {
			break
		}
		group.Go(func() error {
			w := &rangeWorker{}
			// The connection is released after each range, because others wait as well.
			for {
				c, stopped := r.Budget.Acquire(waiting, turn, size)
				if stopped != nil {
					return nil
				}
				gap, ok := <-missing
				var err error
				if ok {
					err = r.fetch(withConnection(inner, c), w, gap[0], gap[1], nil)
				}
				c.Release()
				if !ok || err != nil {
					return err
				}
			}
		})
	}
	err := group.Wait()
	if ctx.Err() != nil {
		return fault.Stopped(ctx)
	}
	return err
}

// fetch receives the bytes from (inclusive) to to (exclusive; -1 is the end). answer begins at
// from, or is nil.
func (r *receiver) fetch(ctx context.Context, w *rangeWorker, from, to int64, answer *http.Response) error {
	connectionOf(ctx).expect(max(to-from, 0))
	at, broken := from, false
	for {
		var err error
		if answer == nil {
			switch answer, err = r.open(ctx, at, to); {
			case err != nil && broken:
				return err // the break is counted
			case err != nil:
				return r.limitRestarts(w, err)
			}
		}
		checkEnd := to < 0 && !r.encoded && unknownLength(answer)
		at, err = r.copyBody(ctx, w, answer, at, to)
		_ = answer.Body.Close() // read to its end, or broken
		answer = nil
		if err == nil && checkEnd {
			if answer, err = r.openAfterEnd(ctx, at); answer != nil {
				continue
			}
		}
		var over startOver
		switch {
		case ctx.Err() != nil:
			return fault.Stopped(ctx)
		case err == nil:
			return nil
		case r.file.broken() != nil:
			return r.file.broken()
		case errors.As(err, &over):
			return r.limitRestarts(w, err)
		}
		if w.received >= minProgress {
			w.received, w.breaks = 0, 0
		}
		if w.breaks++; w.breaks > maxBreaks {
			return r.incomplete(err)
		}
		r.Logger.Debug("continuing a download", "path", r.Path, "from", at, "reason", err)
		if err := r.backoff(ctx, w.breaks, err); err != nil {
			return err
		}
		if broken = true; r.encoded || r.Body != nil && at > 0 { // ranges of it cannot be requested
			return startOver("the connection broke")
		}
	}
}

// limitRestarts returns err, replaced by a final error when the file was started over too often.
func (r *receiver) limitRestarts(w *rangeWorker, err error) error {
	var over startOver
	if errors.As(err, &over) {
		if w.breaks++; w.breaks > maxBreaks {
			return r.incomplete(err)
		}
	}
	return err
}

// open requests the bytes from to to. It accepts only exactly these, of the same file.
func (r *receiver) open(ctx context.Context, from, to int64) (*http.Response, error) {
	wanted := span{from: from, tag: r.tag}
	if to != r.total {
		wanted.to = max(to, 0)
	}
	answer, err := r.get(ctx, r.Download, wanted)
	if fault.Status(err) == http.StatusRequestedRangeNotSatisfiable && from > 0 {
		return nil, startOver("the range does not exist any more")
	}
	if err != nil || from == 0 && wanted.to == 0 && answer.StatusCode != http.StatusPartialContent &&
		r.sameFile(answer, answer.ContentLength) {
		return answer, err
	}
	first, _, total, ok := contentRange(answer.Header.Get("Content-Range"))
	if answer.StatusCode != http.StatusPartialContent || !ok || first != from || !r.sameFile(answer, total) {
		_ = answer.Body.Close() // not read
		return nil, startOver("the server did not send the range requested")
	}
	return answer, nil
}

// sameFile reports whether an answer is of the same version of the file as the first one.
func (r *receiver) sameFile(answer *http.Response, total int64) bool {
	if tag := answer.Header.Get("ETag"); tag != "" && r.tag != "" && tag != r.tag {
		return false
	}
	if e := answer.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return false
	}
	return total < 0 || r.total < 0 || total == r.total
}

// copyBody writes an answer to the file, up to to, and returns the position reached.
func (r *receiver) copyBody(ctx context.Context, w *rangeWorker, answer *http.Response, at, to int64) (int64, error) {
	buffer := r.buffer()
	for to < 0 || at < to {
		if err := ctx.Err(); err != nil {
			return at, err
		}
		wanted := buffer
		if to >= 0 {
			wanted = buffer[:min(int64(len(buffer)), to-at)]
		}
		n, err := answer.Body.Read(wanted)
		if n > 0 {
			if err := r.file.writeAt(buffer[:n], at); err != nil {
				return at, err
			}
			r.received(at, int64(n))
			at, w.received = at+int64(n), w.received+int64(n)
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
		if n, _ := answer.Body.Read(buffer[:1]); n > 0 {
			return at, startOver("the server sent more bytes than declared")
		}
	}
	return at, nil
}

// unknownLength reports whether only the end of its connection ends an answer: it may have broken instead.
func unknownLength(answer *http.Response) bool {
	return answer.ContentLength < 0 && len(answer.TransferEncoding) == 0 && !answer.Uncompressed && answer.ProtoMajor < 2
}

// openAfterEnd requests the bytes after such an answer. It returns nil when the file ended there,
// or the server does not support ranges.
func (r *receiver) openAfterEnd(ctx context.Context, at int64) (*http.Response, error) {
	if at == 0 {
		return nil, nil
	}
	answer, err := r.open(ctx, at, -1)
	var over startOver
	if errors.As(err, &over) {
		return nil, nil
	}
	return answer, err
}
