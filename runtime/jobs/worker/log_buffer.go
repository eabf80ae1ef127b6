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

// Bounds of the log of an attempt.
const (
	batchLines = 200
	batchBytes = 64 << 10
	batchDelay = 200 * time.Millisecond
	maxLine    = 16 << 10 // bytes; the rest of a line is cut
	moreOfLine = 8 << 10  // bytes behind it that are looked at: a secret at the cut is known by its end
	maxPending = 4 << 20  // bytes that wait for the database; then the script does
	maxLog     = 16 << 20 // bytes of an attempt; then the middle is dropped
	keptHead   = 1 << 20  // bytes of its beginning that are always kept
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
	drop   func(ctx context.Context, from, to int64, note string) error // replaces batches by a note
	redact func(string) string

	mu      sync.Mutex
	room    *sync.Cond
	open    batch
	count   int // lines of the open batch
	seq     int64
	queue   []batch
	pending int  // bytes in the queue
	over    bool // nobody takes lines any longer
	wake    chan struct{}
	closing chan struct{}
	done    chan struct{}

	kept    []size // batches in the database behind the head
	total   int    // their bytes
	head    int    // bytes of the head
	dropped int    // lines
	gap     int64  // the batch that says so; 0 for none
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

// writer cuts a stream into lines.
func (b *logBuffer) writer(stream string) *lineWriter { return &lineWriter{log: b, stream: stream} }

// say adds a line of the worker.
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

// close sends what is left and waits until it is kept.
func (b *logBuffer) close() {
	close(b.closing)
	<-b.done
}

// send hands batches on until the buffer is closed or the attempt is over.
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
		case <-b.wake: // a batch that is not full waits for more
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
				return // the attempt is another's now
			}
			b.bound(ctx, each)
			b.mu.Lock()
			b.pending -= len(each.lines)
			b.room.Broadcast()
			b.mu.Unlock()
		}
	}
}

// take is what there is to send.
func (b *logBuffer) take() []batch {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cut()
	queue := b.queue
	b.queue = nil
	return queue
}

// bound drops the middle of a log that has grown too large.
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
	// tried again with the next
	_ = b.drop(ctx, from, to, fmt.Sprintf("(%d lines dropped here: the log of an attempt is limited to %d MiB)\n",
		b.dropped, maxLog>>20))
}

// lineWriter hands whole lines to a buffer.
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

// end ends a line, also one without its end.
func (w *lineWriter) end() {
	line := strings.TrimSuffix(string(w.part), "\r")
	w.part = w.part[:0]
	if w.seen != nil {
		w.seen(line)
	}
	w.log.add(w.stream, line)
}

// flush hands on a last line that was not ended.
func (w *lineWriter) flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.part) > 0 {
		w.end()
	}
}
