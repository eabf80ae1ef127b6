package logfile

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
)

// Buffer holds the output of several streams until it is released or discarded. When it exceeds Max bytes,
// the oldest output is dropped.
type Buffer struct {
	Max int // bytes

	mu      sync.Mutex
	chunks  []chunk
	size    int
	dropped int64
}

type chunk struct {
	stream int
	text   []byte
}

// Stream returns a writer of stream n.
func (b *Buffer) Stream(n int) io.Writer { return bufferStream{b, n} }

type bufferStream struct {
	buffer *Buffer
	number int
}

func (s bufferStream) Write(p []byte) (int, error) {
	b := s.buffer
	b.mu.Lock()
	defer b.mu.Unlock()
	size := len(p)
	if size > b.Max {
		b.dropped += int64(size - b.Max)
		p = p[size-b.Max:]
	}
	if last := len(b.chunks) - 1; last >= 0 && b.chunks[last].stream == s.number && len(b.chunks[last].text) < 4096 {
		b.chunks[last].text = append(b.chunks[last].text, p...)
	} else {
		b.chunks = append(b.chunks, chunk{s.number, bytes.Clone(p)})
	}
	b.size += len(p)
	for b.size > b.Max && len(b.chunks) > 1 {
		b.size -= len(b.chunks[0].text)
		b.dropped += int64(len(b.chunks[0].text))
		b.chunks = b.chunks[1:]
	}
	return size, nil
}

// Release writes the buffered output to the streams, in its order.
func (b *Buffer) Release(streams ...io.Writer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.dropped > 0 {
		fmt.Fprintf(streams[len(streams)-1], "(%d bytes of earlier output were dropped)\n", b.dropped)
	}
	for _, c := range b.chunks {
		_, _ = streams[c.stream].Write(c.text) // the error cannot be reported anywhere
	}
	b.chunks = nil
}

// Deferred is a writer whose destination is opened later.
type Deferred struct {
	mu      sync.Mutex
	to      io.Writer // nil until Open
	pending []byte
}

// Write writes p, or buffers it until Open.
func (d *Deferred) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.to != nil {
		return d.to.Write(p)
	}
	d.pending = append(d.pending, p...)
	return len(p), nil
}

// Open sets the destination and writes the buffered text to it.
func (d *Deferred) Open(to io.Writer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.pending) > 0 {
		_, _ = to.Write(d.pending) // log files keep their own errors
	}
	d.to, d.pending = to, nil
}

// Tail keeps the last lines written to it.
type Tail struct {
	Lines int // at most
	Bytes int // of all lines

	mu    sync.Mutex
	lines [][]byte
	size  int
}

// Write adds one line.
func (t *Tail) Write(line []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	kept := bytes.Clone(line[max(0, len(line)-t.Bytes):])
	t.lines = append(t.lines, kept)
	t.size += len(kept)
	for len(t.lines) > t.Lines || t.size > t.Bytes {
		t.size -= len(t.lines[0])
		t.lines = t.lines[1:]
	}
	return len(line), nil
}

// String returns the text of the lines.
func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ToValidUTF8(string(bytes.Join(t.lines, nil)), "�")
}
