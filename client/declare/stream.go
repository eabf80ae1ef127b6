package declare

import (
	"context"
	"sync"
)

// Stream yields the records of an iterator one by one, as JSON. Several goroutines may read it;
// each record goes to one of them. An error does not move it: calling Next again retries the same
// page.
type Stream struct {
	turn  chan struct{} // the right to fetch; waiters stop with their context
	fetch Fetch         // nil at the end
	close func()

	mu     sync.Mutex
	buffer [][]byte
}

// Fetch returns the next records of a stream. It may return none although more will follow.
type Fetch func(ctx context.Context) (records [][]byte, more bool, err error)

// NewStream starts with the given records. fetch and close may be nil.
func NewStream(records [][]byte, fetch Fetch, close func()) *Stream {
	return &Stream{turn: make(chan struct{}, 1), buffer: records, fetch: fetch, close: close}
}

// Next returns the next record; ok is false at the end.
func (s *Stream) Next(ctx context.Context) (record []byte, ok bool, err error) {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, false, context.Cause(ctx)
	}
	defer func() { <-s.turn }()
	for {
		if record, ok = s.TryNext(); ok || s.fetch == nil {
			return record, ok, nil
		}
		if ctx.Err() != nil {
			return nil, false, context.Cause(ctx)
		}
		records, more, err := s.fetch(ctx)
		if err != nil {
			return nil, false, err
		}
		if !more {
			s.fetch = nil
		}
		s.fill(records)
	}
}

func (s *Stream) fill(records [][]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.buffer = records
}

// TryNext never blocks: it returns false when the next record must be fetched first.
func (s *Stream) TryNext() (record []byte, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.buffer) == 0 {
		return nil, false
	}
	record = s.buffer[0]
	s.buffer[0] = nil // owned by the reader from here on
	s.buffer = s.buffer[1:]
	return record, true
}

// Close frees the stream's resources. It may be called more than once.
func (s *Stream) Close() {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	s.fetch = nil
	s.fill(nil)
	if s.close != nil {
		s.close()
	}
}

// Cursor is a stream of typed records.
type Cursor[T any] struct {
	_      [0]T // tells reflection the type of a record
	Stream *Stream
}

// Next returns the next record; ok is false at the end.
func (c *Cursor[T]) Next(ctx context.Context) (record T, ok bool, err error) {
	raw, ok, err := c.Stream.Next(ctx)
	if err != nil || !ok {
		return record, false, err
	}
	return record, true, DecodeRecord(raw, &record)
}

// Close frees the cursor's resources. It may be called more than once.
func (c *Cursor[T]) Close() { c.Stream.Close() }
