package declare

import "context"

// Stream yields the records of an iterator one by one, as JSON. Several
// goroutines may read it; each record goes to one of them. After an error it
// stays where it was: calling Next again retries the same page.
type Stream struct {
	lock   chan struct{} // its waiters give up with their context
	buffer [][]byte
	fetch  Fetch // nil at the end
	close  func()
}

// Fetch gets the next records of a stream. There may be none for now, and more
// to come.
type Fetch func(ctx context.Context) (records [][]byte, more bool, err error)

// NewStream begins with the records that are there already. fetch and close may
// be nil.
func NewStream(records [][]byte, fetch Fetch, close func()) *Stream {
	return &Stream{lock: make(chan struct{}, 1), buffer: records, fetch: fetch, close: close}
}

// Next returns the next record; ok is false at the end.
func (s *Stream) Next(ctx context.Context) (record []byte, ok bool, err error) {
	select {
	case s.lock <- struct{}{}:
	case <-ctx.Done():
		return nil, false, context.Cause(ctx)
	}
	defer func() { <-s.lock }()
	for len(s.buffer) == 0 && s.fetch != nil {
		if ctx.Err() != nil {
			return nil, false, context.Cause(ctx)
		}
		records, more, err := s.fetch(ctx)
		if err != nil {
			return nil, false, err
		}
		if s.buffer = records; !more {
			s.fetch = nil
		}
	}
	record, ok = s.pop()
	return record, ok, nil
}

// TryNext never waits: it reports false when the next record is yet to be
// fetched, or another goroutine is reading.
func (s *Stream) TryNext() (record []byte, ok bool) {
	select {
	case s.lock <- struct{}{}:
	default:
		return nil, false
	}
	defer func() { <-s.lock }()
	return s.pop()
}

func (s *Stream) pop() (record []byte, ok bool) {
	if len(s.buffer) == 0 {
		return nil, false
	}
	record = s.buffer[0]
	s.buffer[0] = nil // the reader's alone from here
	s.buffer = s.buffer[1:]
	return record, true
}

// Close frees what the stream holds. It may be called more than once.
func (s *Stream) Close() {
	s.lock <- struct{}{}
	defer func() { <-s.lock }()
	s.buffer, s.fetch = nil, nil
	if s.close != nil {
		s.close()
	}
}

// Cursor is a stream of typed records.
type Cursor[T any] struct{ Stream *Stream }

// Next returns the next record; ok is false at the end.
func (c *Cursor[T]) Next(ctx context.Context) (record T, ok bool, err error) {
	raw, ok, err := c.Stream.Next(ctx)
	if err != nil || !ok {
		return record, false, err
	}
	return record, true, DecodeRecord(raw, &record)
}

// Close frees what the cursor holds. It may be called more than once.
func (c *Cursor[T]) Close() { c.Stream.Close() }

func (c *Cursor[T]) stream() *Stream { return c.Stream }
