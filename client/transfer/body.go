package transfer

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"sync"
	"time"
)

// requestBody is one attempt to send a range of a file, from memory where the
// file is buffered. It counts the bytes that arrive, and takes them back when the
// attempt fails.
type requestBody struct {
	*upload
	ctx          context.Context
	offset, size int64
	data         []byte // the range, when it is in memory

	mu   sync.Mutex
	sent int64
	over bool      // the attempt has ended; bytes no longer count
	err  error     // from reading the file
	last time.Time // when the connection last took bytes

	counting sync.Mutex // separate from mu, which a stalled connection holds
	arrived  int64
	counted  bool // the final count was made; later ones are ignored
}

// newBody returns a body, which end closes.
func (u *upload) newBody(ctx context.Context, offset, size int64) *requestBody {
	u.Stats.active.Add(1)
	b := &requestBody{upload: u, ctx: ctx, offset: offset, size: size, last: time.Now()}
	if u.src.buffer != nil {
		b.data = u.src.buffer[offset : offset+size]
	}
	return b
}

// reader returns the body for the transport; when the range is in memory, it is an io.WriterTo, too.
func (b *requestBody) reader() io.ReadCloser {
	if b.data != nil {
		return bufferedBody{b}
	}
	return b
}

// Read implements io.Reader. A file that is shorter than declared fails the
// request.
func (b *requestBody) Read(p []byte) (int, error) {
	now := time.Now()
	p, _, err := b.limited(b.ctx, p, now)
	if err != nil {
		return 0, err
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
	p = p[:min(int64(len(p)), b.size-b.sent)]
	if b.data != nil {
		n := copy(p, b.data[b.sent:])
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
	b.sent += n
	b.Stats.sent.Add(n)
}

// confirm counts the first n bytes as arrived. The last call sets the final count, which may be
// lower after a failure.
func (b *requestBody) confirm(n int64, last bool) {
	b.counting.Lock()
	defer b.counting.Unlock()
	if delta := n - b.arrived; !b.counted && (delta > 0 || last) {
		b.arrived, b.counted = n, last
		connectionOf(b.ctx).moved(delta)
		count(b.Progress, delta)
	}
}

// bufferedBody is a body in memory, sent without another copy.
type bufferedBody struct{ *requestBody }

// writeSize is the number of bytes per write: the connection must take them within its time limit.
const writeSize = 128 << 10

// Len returns how many bytes remain to be sent.
func (b bufferedBody) Len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return int(b.size - b.sent)
}

// WriteTo implements io.WriterTo.
func (b bufferedBody) WriteTo(w io.Writer) (n int64, err error) {
	for rest := b.data[len(b.data)-b.Len():]; len(rest) > 0 && err == nil; {
		var p []byte
		if p, _, err = b.limited(b.ctx, rest[:min(len(rest), writeSize)], time.Now()); err == nil {
			var m int
			m, err = b.write(w, p)
			rest, n = rest[m:], n+int64(m)
		}
	}
	return n, err
}

// write writes a piece of the body. It holds the lock meanwhile, because the buffer is reused for
// another file once the attempt has ended.
func (b *requestBody) write(w io.Writer, p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over {
		return 0, fs.ErrClosed
	}
	began := time.Now()
	n, err := w.Write(p)
	b.last = b.Stats.since(onNetwork, began)
	b.count(int64(n))
	return n, err
}

// Close implements io.Closer and does nothing; end ends the attempt.
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
	arrived := int64(0)
	if ok {
		arrived = b.size
	}
	b.confirm(arrived, true)
	return b.err
}
