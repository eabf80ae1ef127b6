package transfer

import (
	"compress/gzip"
	"context"
	"crypto/md5" // the protocol's checksum, not a protection
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"transect/client/checksum"
	"transect/client/fault"
)

const (
	// maxBreaks is how often in a row a connection may break without minProgress bytes in between.
	maxBreaks   = 6
	minProgress = 1 << 20

	minParallel   = 32 * MiB // files of at least this size are downloaded in parallel ranges
	rangeSize     = 16 * MiB // of such a range
	rangesPerFile = 4        // in flight at a time
)

// receiver is one file being downloaded.
type receiver struct {
	*Transfers
	Download
	*expectation
	file      *target
	total     int64  // -1 when unknown
	tag       string // strong ETag, or ""
	resumable bool
	restarted bool
	wrong     string // the MD5 of a copy that does not match the expected one
	doubted   bool   // another copy is being received because of that
	encoded   bool   // the bytes sent are not the file's own, but compressed
	first     *rangeWorker

	mu    sync.Mutex
	cut   bool // the connection broke too often
	have  spans
	grown sync.Cond // of mu: have has grown, or no more bytes will come
}

// rangeWorker receives ranges one after the other.
type rangeWorker struct {
	breaks   int   // without progress
	received int64 // bytes since the last break
}

// startOver is the error for received bytes that are useless: the file was replaced, or the server
// does not send the requested range.
type startOver string

func (s startOver) Error() string { return string(s) }

// receive downloads the whole file and verifies it.
func (r *receiver) receive(ctx context.Context, answer *http.Response) error {
	r.grown.L = &r.mu
	for {
		if answer == nil {
			var err error
			if answer, err = r.get(ctx, r.Download, span{}); err != nil {
				return err
			}
		}
		resumed, err := r.begin(answer)
		if err == nil {
			err = r.attempt(ctx, answer)
		}
		_ = answer.Body.Close() // only read from
		answer = nil
		var over startOver
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return fault.Stopped(ctx)
		case r.file.broken() != nil:
			return r.file.broken()
		case errors.As(err, &over):
		case resumed && r.wrong != "": // the partial file may be to blame
		case r.wrong != "" && !r.doubted: // a bit may have changed on the way
			r.doubted = true
			if !r.guessed {
				r.Logger.Warn("a download arrived changed: downloading it again", "file", r.file.path, "md5", r.wrong, "expected",
					r.md5)
			}
		default:
			return err
		}
		r.Logger.Debug("starting a download over", "path", r.Path, "reason", err)
		lost := r.have.bytes()
		count(r.Progress, -lost)
		r.first.received = -lost // reaching the same position again is not progress
		r.have, r.restarted = nil, true
		if err := r.file.reset(); err != nil {
			return err
		}
	}
}

// begin reads the headers of the first answer and the record of an earlier download.
func (r *receiver) begin(answer *http.Response) (resumed bool, err error) {
	r.total, r.tag, r.encoded = answer.ContentLength, strongTag(answer.Header), false
	switch encoding := strings.ToLower(strings.TrimSpace(answer.Header.Get("Content-Encoding"))); encoding {
	case "", "identity":
	case "gzip", "x-gzip":
		body, err := gzip.NewReader(answer.Body)
		if err != nil {
			return false, fault.Of(&fault.DownloadError{}, "%s is not the gzip that its header declares: %w", r.file.path, err)
		}
		answer.Body = struct {
			io.Reader
			io.Closer
		}{body, answer.Body}
		r.total, r.encoded = -1, true
	default:
		return false, fault.Of(&fault.DownloadError{}, "%s has the unsupported encoding %q", r.file.path, encoding)
	}
	r.resumable = !r.encoded && r.Body == nil && r.total >= minProgress && (r.tag != "" || r.md5 != "") && !r.file.shared
	r.file.identity = identity{Source: sourceHash(r.transport.BaseURL(), r.Download), Tag: r.tag, Total: r.total,
		MD5: r.md5}
	if r.resumable && !r.restarted {
		r.have = r.file.recorded()
	}
	if len(r.have) == 0 {
		return false, r.file.reset()
	}
	r.Logger.Debug("resuming a download", "path", r.Path, "have", r.have.bytes(), "of", r.total)
	count(r.Progress, r.have.bytes())
	return true, nil
}

// attempt receives the missing ranges, while the checksum is computed and progress is recorded.
func (r *receiver) attempt(ctx context.Context, answer *http.Response) error {
	ended := make(chan struct{})
	var recording sync.WaitGroup
	if r.resumable {
		recorded := r.have.bytes()
		recording.Go(func() { r.recordProgress(recorded, ended) })
	}
	verified := r.verify()
	err := r.ranges(ctx, answer)
	close(ended)
	recording.Wait()
	wrong := verified(err != nil)
	if err == nil {
		return wrong
	}
	if r.resumable && r.file.broken() == nil {
		r.file.record(r.have)
	}
	return err
}

// buffer allocates a buffer not longer than the file.
func (r *receiver) buffer() []byte {
	size := int64(hashBuffer)
	if r.total >= 0 {
		size = min(size, r.total+1)
	}
	return make([]byte, size)
}

// received records that bytes were written.
func (r *receiver) received(at, n int64) {
	r.mu.Lock()
	r.have = r.have.with(at, at+n)
	r.grown.Broadcast()
	r.mu.Unlock()
	count(r.Progress, n)
}

// incomplete returns the error for a download whose connection broke too often.
func (r *receiver) incomplete(err error) error {
	r.mu.Lock()
	received := r.have.bytes()
	r.cut = true
	r.mu.Unlock()
	f := fault.Hinted(fault.Of(&fault.DownloadError{}, "%s broke off at byte %d", r.file.path, received),
		"nothing was kept; run again")
	if r.resumable && received >= minProgress {
		f.Hint = "the partial file is kept: run again to resume"
	}
	if r.total >= 0 {
		f.Message += " of " + strconv.FormatInt(r.total, 10)
	}
	if f.Cause = err; errors.Is(err, io.ErrUnexpectedEOF) {
		f.Cause = errors.New("the connection ended early")
	}
	return f
}

// verify computes the checksum of the file while it is received, reading back from the page cache
// whatever has no gap before it. result waits for it and compares it, unless the download failed.
func (r *receiver) verify() (result func(failed bool) error) {
	if r.md5 == "" {
		return func(bool) error { return nil }
	}
	var ended, aborted bool // of r.mu: no more bytes come
	var sum string
	var readError error
	done := make(chan struct{})
	go func() {
		defer close(done)
		h, at, buffer := md5.New(), int64(0), r.buffer()
		for {
			r.mu.Lock()
			for r.have.front() <= at && !ended {
				r.grown.Wait()
			}
			front, stop := r.have.front(), aborted
			r.mu.Unlock()
			if stop || at >= front {
				break
			}
			n, err := r.file.file.ReadAt(buffer[:min(int64(len(buffer)), front-at)], at)
			if n == 0 || err != nil && !errors.Is(err, io.EOF) {
				readError = fileError(err, "cannot read %s", r.file.path)
				break
			}
			h.Write(buffer[:n]) // never fails
			at += int64(n)
		}
		sum = checksum.Hex(h)
	}()
	return func(failed bool) error {
		r.mu.Lock()
		ended, aborted = true, failed
		r.grown.Broadcast()
		r.mu.Unlock()
		<-done
		same := sum == r.wrong // like the last copy
		if failed || readError != nil || sum == r.md5 || r.guessed && same {
			if !failed && sum != r.md5 {
				r.expectation.md5 = "" // the ETag is not an MD5
			}
			return readError
		}
		if r.wrong = sum; r.page {
			return receivedPage()
		}
		f := fault.Of(&fault.DownloadError{}, "%s has the MD5 %s instead of %s; it was discarded", r.file.path, sum, r.md5)
		f.Hint = "it arrived changed, more than once: check the network and any proxy, then download it again"
		if same {
			f.Hint = "the file on the platform is not the expected one: it was downloaded twice, and was the same"
		}
		return f
	}
}
