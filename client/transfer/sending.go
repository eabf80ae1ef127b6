package transfer

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"

	"transect/client/fault"
)

// sending is one attempt at one span of a file: it counts what leaves, and
// takes the count back when the attempt was for nothing. The bytes come from
// memory where the file is held there; else from the file, which a connection
// without encryption may send itself, see Span.
type sending struct {
	*Transfers
	ctx      context.Context
	src      *source
	offset   int64
	size     int64
	progress func(int64)

	mu     sync.Mutex
	sent   int64
	over   bool // nothing counts any more
	fault  error
	handle *os.File  // for the connection, which moves its position
	last   time.Time // when the connection was last given bytes
	ended  bool      // all bytes were given
}

func (u *upload) sending(ctx context.Context, n int) *sending {
	offset, size := u.plan.span(n)
	u.stats.active.Add(1)
	return &sending{Transfers: u.Transfers, ctx: ctx, src: u.src, offset: offset, size: size, progress: u.Progress, last: time.Now()}
}

// Read reads on. A file that ends early breaks the request off, rather than
// letting it be filled from nowhere.
func (a *sending) Read(b []byte) (int, error) {
	a.given()
	if len(b) > 0 && a.bandwidth != nil {
		from := time.Now()
		n, err := a.bandwidth.Take(a.ctx, len(b))
		a.stats.since(onLimit, from)
		if err != nil {
			return 0, err
		}
		b = b[:n]
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.last = time.Now()
	if a.over {
		return 0, fs.ErrClosed // the connection may still read after its answer
	}
	if a.sent == a.size {
		a.ended = true
		return 0, io.EOF
	}
	if a.handle != nil {
		a.handle.Close() // it is read in another way now
		a.handle = nil
	}
	b = b[:min(int64(len(b)), a.size-a.sent)]
	var n int
	var err error
	if a.src.held != nil {
		n, err = a.src.held.ReadAt(b, a.offset+a.sent)
	} else {
		n, err = a.src.file.ReadAt(b, a.offset+a.sent)
		a.last = a.stats.since(onDisk, a.last)
	}
	a.counts(int64(n))
	switch {
	case n == len(b):
	case err == nil, errors.Is(err, io.EOF):
		if a.src.held == nil {
			a.fault = a.src.changed()
			return n, a.fault
		}
	default:
		a.fault = fault.Of(&fault.UploadError{}, "cannot read %s: %w", a.src.path, fault.Reason(err))
		return n, a.fault
	}
	return n, nil
}

// given notes the time the connection took for what it was given last.
func (a *sending) given() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stats.since(onNetwork, a.last)
}

func (a *sending) counts(n int64) {
	if n <= 0 {
		return
	}
	a.sent += n
	a.ended = a.sent == a.size
	a.stats.sent.Add(n)
	a.budget.Moved(n)
	if a.progress != nil {
		a.progress(n)
	}
}

// Span gives the file, positioned at the next byte, and how many bytes of it
// are left to send; no file when it has to be read. A connection uses it to let
// the system copy.
func (a *sending) Span() (*os.File, int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	left := a.size - a.sent
	if a.over || left == 0 || a.src.held != nil || a.bandwidth.Limited() {
		return nil, 0
	}
	if a.handle == nil {
		file, err := os.Open(a.src.path)
		if err != nil {
			return nil, 0
		}
		info, err := file.Stat()
		if err == nil && os.SameFile(info, a.src.info) {
			_, err = file.Seek(a.offset+a.sent, io.SeekStart)
		}
		if err != nil || !os.SameFile(info, a.src.info) {
			file.Close()
			return nil, 0
		}
		a.handle = file
	}
	a.last = time.Now()
	return a.handle, left
}

// Sent notes bytes that were taken from the file of Span. None means that the
// file ended early.
func (a *sending) Sent(n int64) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.last = a.stats.since(onNetwork, a.last)
	switch {
	case a.over:
		return fs.ErrClosed
	case n == 0:
		a.fault = a.src.changed()
		return a.fault
	}
	a.counts(n)
	return nil
}

// Close ends the reading of this attempt.
func (a *sending) Close() error { return nil }

// end stops the counting and gives the error met while reading. Bytes of a
// failed attempt are taken back.
func (a *sending) end(ok bool) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over {
		return a.fault
	}
	a.over = true
	a.stats.active.Add(-1)
	if a.ended {
		a.stats.since(onServer, a.last)
	} else {
		a.stats.since(onNetwork, a.last)
	}
	if a.handle != nil {
		a.handle.Close() // it was only read from
	}
	if !ok && a.sent > 0 {
		a.stats.resent.Add(1)
		if a.progress != nil {
			a.progress(-a.sent)
		}
	}
	return a.fault
}

// attempts follows the bodies opened for one request: a redirect or a repeat
// below opens another one, and only the last one counts.
type attempts struct {
	open func() *sending
	last *sending
}

func (a *attempts) reader() (io.ReadCloser, error) {
	if a.last != nil {
		if err := a.last.end(false); err != nil {
			return nil, err
		}
	}
	a.last = a.open()
	return a.last, nil
}

func (a *attempts) end(ok bool) error {
	if a.last == nil {
		return nil
	}
	return a.last.end(ok)
}
