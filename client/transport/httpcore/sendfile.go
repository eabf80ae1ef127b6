package httpcore

import (
	"io"
	"os"
	"sync"
)

// FileBody is a request body in a file. Over a connection without encryption the
// system copies it from there (sendfile), past this process.
type FileBody interface {
	// Span gives the file, positioned at the next byte, and how many bytes
	// follow; no file when the body has to be read.
	Span() (file *os.File, left int64)
	// Sent counts bytes that were sent; 0 when the file ended early.
	Sent(n int64) error
}

// spanAtATime is sent between two checks of the time: little enough that a slow
// connection is seen to move.
const spanAtATime = 128 << 10

var copyBuffers = sync.Pool{New: func() any { b := make([]byte, 64<<10); return &b }}

// ReadFrom sends a body, from its file where that can be.
func (c *limitedConn) ReadFrom(r io.Reader) (sent int64, err error) {
	limited, ok := r.(*io.LimitedReader)
	if body, file := bodyOf(limited, ok); file {
		if to, ok := c.Conn.(io.ReaderFrom); ok {
			if sent, err = c.sendFile(to, body, limited); err != nil {
				return sent, err
			}
		}
	}
	buffer, _ := copyBuffers.Get().(*[]byte)
	defer copyBuffers.Put(buffer)
	n, err := io.CopyBuffer(struct{ io.Writer }{c}, struct{ io.Reader }{r}, *buffer)
	return sent + n, err
}

func bodyOf(r *io.LimitedReader, ok bool) (FileBody, bool) {
	if !ok {
		return nil, false
	}
	body, ok := r.R.(FileBody)
	return body, ok
}

func (c *limitedConn) sendFile(to io.ReaderFrom, body FileBody, limited *io.LimitedReader) (sent int64, err error) {
	for limited.N > 0 {
		file, left := body.Span()
		if file == nil {
			return sent, nil
		}
		if err := c.alive(); err != nil {
			return sent, err
		}
		n, err := to.ReadFrom(&io.LimitedReader{R: file, N: min(left, limited.N, spanAtATime)})
		c.transferred.Add(n)
		sent += n
		limited.N -= n
		if err != nil {
			return sent, err
		}
		if err := body.Sent(n); err != nil {
			return sent, err
		}
	}
	return sent, nil
}
