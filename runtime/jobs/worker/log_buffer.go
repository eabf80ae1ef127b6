package worker

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"transect/runtime/jobs"
)

// Limits of the log of an attempt.
const (
	batchLines = 200
	batchBytes = 64 << 10
	batchDelay = 200 * time.Millisecond
	maxLine    = 16 << 10 // bytes; the rest of a line is cut
	moreOfLine = 8 << 10  // bytes read beyond it: a secret across the cut is recognised by its end
	maxPending = 4 << 20  // bytes waiting for the database; then the script waits
	maxLog     = 16 << 20 // bytes per attempt; then the middle is dropped
	keptHead   = 1 << 20  // bytes at the beginning that are always kept
)

// batch is some lines of one stream.
type batch struct {
	seq    int64
	stream string
	lines  []byte
}

// logBuffer sends the lines of an attempt to the database, in order.
type logBuffer struct {
	keep   func(ctx context.Context, b batch) error                     // retried until it succeeds or the attempt is over
	drop   func(ctx context.Context, from, to int64, note string) error // replaces batches with a note
	redact func(string) string

	mu      sync.Mutex
	room    *sync.Cond
	open    batch
	count   int // lines of the open batch
	seq     int64
	queue   []batch
	pending int  // bytes in the queue
	over    bool // lines are no longer accepted
	wake    chan struct{}
	closing chan struct{}
	done    chan struct{}

	kept    []size // batches in the database after the head
	total   int    // their bytes
	head    int    // bytes of the head
	dropped int    // lines
	gap     int64  // the batch with the note about it; 0 for none
}

type size struct {
	seq          int64
	bytes, lines int
}

func newLogBuffer(ctx context.Context, b *logBuffer) *logBuffer {
	b.room = sync.NewCond(&b.mu)
	b.wake, b.closing, b.done = make(chan struct{}, 1), make(chan struct{}), make(chan struct{})
	go b.send(ctx)
	return b
}

// writer returns a writer that splits a stream into lines.
func (b *logBuffer) writer(stream string) *lineWriter { return &lineWriter{log: b, stream: stream} }

// say adds a line by the worker.
func (b *logBuffer) say(format string, args ...any) {
	b.add(jobs.StreamWorker, fmt.Sprintf(format, args...))
}

func (b *logBuffer) add(stream string, line string) {
	over := len(line) - maxLine
	line = b.redact(jobs.PlainLine(line))
	if over > 0 {
		line = strings.ToValidUTF8(line[:max(0, len(line)-over)], "") + " …"
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.pending > maxPending && !b.over {
		b.room.Wait()
	}
	if b.over {
		return
	}
	if b.count > 0 && b.open.stream != stream {
		b.cut()
	}
	b.open.stream = stream
	b.open.lines = append(append(b.open.lines, line...), '\n')
	if b.count++; b.count >= batchLines || len(b.open.lines) >= batchBytes {
		b.cut()
	}
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// cut closes the open batch.
func (b *logBuffer) cut() {
	if b.count == 0 {
		return
	}
	b.seq++
	b.open.seq = b.seq
	b.queue = append(b.queue, b.open)
	b.pending += len(b.open.lines)
	b.open, b.count = batch{}, 0
}

// close sends the remaining lines and waits until they are stored.
func (b *logBuffer) close() {
	close(b.closing)
	<-b.done
}

// send stores batches until the buffer is closed or the attempt is over.
func (b *logBuffer) send(ctx context.Context) {
	defer close(b.done)
	defer func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.over = true
		b.room.Broadcast()
	}()
	for last := false; !last; {
		select {
		case <-b.wake: // a partial batch waits for more
			select {
			case <-time.After(batchDelay):
			case <-b.closing:
			case <-ctx.Done():
			}
		case <-b.closing:
			last = true
		case <-ctx.Done():
			return
		}
		for _, each := range b.take() {
			if err := b.keep(ctx, each); err != nil {
				return // the job was taken over
			}
			b.bound(ctx, each)
			b.mu.Lock()
			b.pending -= len(each.lines)
			b.room.Broadcast()
			b.mu.Unlock()
		}
	}
}

// take returns the batches to send.
func (b *logBuffer) take() []batch {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cut()
	queue := b.queue
	b.queue = nil
	return queue
}

// bound drops the middle of a log that is too large.
func (b *logBuffer) bound(ctx context.Context, last batch) {
	n := size{last.seq, len(last.lines), bytes.Count(last.lines, []byte{'\n'})}
	if b.head < keptHead {
		b.head += n.bytes
		return
	}
	b.kept = append(b.kept, n)
	if b.total += n.bytes; b.total <= maxLog-keptHead {
		return
	}
	from := b.gap
	if from == 0 {
		from = b.kept[0].seq
	}
	var to int64
	for b.total > (maxLog-keptHead)*3/4 {
		first := b.kept[0]
		to = first.seq
		b.total -= first.bytes
		b.dropped += first.lines
		b.kept = b.kept[1:]
	}
	b.gap = from
	// retried with the next batch
	_ = b.drop(ctx, from, to, fmt.Sprintf("(%d lines dropped here: the log of an attempt is limited to %d MiB)\n",
		b.dropped, maxLog>>20))
}

// lineWriter passes whole lines to a buffer.
type lineWriter struct {
	mu     sync.Mutex
	log    *logBuffer
	stream string
	part   []byte
	seen   func(line string) // may be nil
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := len(p)
	for len(p) > 0 {
		line, rest, whole := bytes.Cut(p, []byte{'\n'})
		p = rest
		w.part = append(w.part, line[:min(len(line), maxLine+moreOfLine-len(w.part))]...)
		if whole {
			w.end()
		}
	}
	return n, nil
}

// end ends a line, even an unterminated one.
func (w *lineWriter) end() {
	line := strings.TrimSuffix(string(w.part), "\r")
	w.part = w.part[:0]
	if w.seen != nil {
		w.seen(line)
	}
	w.log.add(w.stream, line)
}

// flush passes on an unterminated last line.
func (w *lineWriter) flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.part) > 0 {
		w.end()
	}
}
