package transfer

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"
)

// requestBody is one attempt to send a span of a file. It counts the bytes that
// leave, and takes them back when the attempt fails. The bytes come from memory
// where the file is buffered, otherwise from the file; an unencrypted
// connection may let the system copy the file, see Span.
type requestBody struct {
	*Transfers
	ctx      context.Context
	src      *source
	offset   int64
	size     int64
	progress func(int64)

	mu     sync.Mutex
	sent   int64
	over   bool      // the attempt has ended, nothing counts any more
	err    error     // of reading the file
	handle *os.File  // of Span; the connection moves its position
	last   time.Time // when the connection was last given bytes
}

// newBody returns the body of part n, which is closed by end.
func (u *upload) newBody(ctx context.Context, n int) *requestBody {
	offset, size := u.plan.span(n)
	u.Stats.active.Add(1)
	return &requestBody{Transfers: u.Transfers, ctx: ctx, src: u.src, offset: offset, size: size, progress: u.Progress, last: time.Now()}
}

// Read implements io.Reader. A file that is shorter than declared fails the
// request.
func (b *requestBody) Read(p []byte) (int, error) {
	now := time.Now()
	if b.Bandwidth != nil && len(p) > 0 {
		n, err := b.Bandwidth.Take(b.ctx, len(p))
		if err != nil {
			return 0, err
		}
		p = p[:n]
		b.Stats.since(onLimit, now)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.Stats.add(onNetwork, now.Sub(b.last))
	b.last = time.Now()
	if b.over {
		return 0, fs.ErrClosed // the connection may still read after its answer
	}
	if b.sent == b.size {
		return 0, io.EOF
	}
	b.closeHandle()
	p = p[:min(int64(len(p)), b.size-b.sent)]
	if b.src.buffer != nil {
		n := copy(p, b.src.buffer[b.offset+b.sent:])
		b.count(int64(n))
		return n, nil
	}
	n, err := b.src.file.ReadAt(p, b.offset+b.sent)
	b.last = b.Stats.since(onDisk, b.last)
	b.count(int64(n))
	switch {
	case n == len(p):
		return n, nil
	case err == nil, errors.Is(err, io.EOF):
		b.err = b.src.changed()
	default:
		b.err = b.src.unreadable(err)
	}
	return n, b.err
}

func (b *requestBody) count(n int64) {
	if n <= 0 {
		return
	}
	b.sent += n
	b.Stats.sent.Add(n)
	b.Budget.Transferred(n)
	count(b.progress, n)
}

// Span implements transport.FileBody.
func (b *requestBody) Span() (*os.File, int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	left := b.size - b.sent
	if b.over || left == 0 || b.src.buffer != nil || b.Bandwidth.Limited() {
		return nil, 0
	}
	if b.handle == nil {
		file, err := os.Open(b.src.path)
		if err != nil {
			return nil, 0
		}
		info, err := file.Stat()
		if err == nil && os.SameFile(info, b.src.info) {
			_, err = file.Seek(b.offset+b.sent, io.SeekStart)
		}
		if err != nil || !os.SameFile(info, b.src.info) {
			_ = file.Close() // only read from
			return nil, 0
		}
		b.handle = file
	}
	b.last = time.Now()
	return b.handle, left
}

// Sent implements transport.FileBody.
func (b *requestBody) Sent(n int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last = b.Stats.since(onNetwork, b.last)
	switch {
	case b.over:
		return fs.ErrClosed
	case n == 0:
		b.err = b.src.changed()
		return b.err
	}
	b.count(n)
	return nil
}

func (b *requestBody) closeHandle() {
	if b.handle != nil {
		_ = b.handle.Close() // only read from
		b.handle = nil
	}
}

// Close implements io.Closer. The attempt ends with end.
func (b *requestBody) Close() error { return nil }

// end stops counting and returns the error of reading the file. Bytes of a
// failed attempt are taken back.
func (b *requestBody) end(ok bool) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over {
		return b.err
	}
	b.over = true
	b.Stats.active.Add(-1)
	waitedFor := onNetwork
	if b.sent == b.size {
		waitedFor = onServer
	}
	b.Stats.since(waitedFor, b.last)
	b.closeHandle()
	if !ok && b.sent > 0 {
		count(b.progress, -b.sent)
	}
	return b.err
}

// bodies are the bodies of one request: the transport opens another one for a
// redirect or a retry, and only the last one counts.
type bodies struct {
	open func() *requestBody
	last *requestBody
}

func (b *bodies) next() (io.ReadCloser, error) {
	if b.last != nil {
		if err := b.last.end(false); err != nil {
			return nil, err
		}
	}
	b.last = b.open()
	return b.last, nil
}

func (b *bodies) end(ok bool) error {
	if b.last == nil {
		return nil
	}
	return b.last.end(ok)
}
