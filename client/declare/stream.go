package declare

import "context"

// Stream yields the records of an iterator one by one, as JSON. After an error
// it stays where it was: calling Next again retries the same page.
type Stream interface {
	Next(ctx context.Context) (record []byte, ok bool, err error)
	Close()
}

// TryNexter is implemented by streams with a buffer. TryNext never waits: it
// reports false when the next record is yet to be fetched, or another goroutine
// is reading.
type TryNexter interface {
	TryNext() (record []byte, ok bool)
}

// Serialized lets several goroutines read one stream; each record goes to one of
// them. A wait for the other readers ends with its context.
func Serialized(s Stream) Stream { return &serialized{stream: s, lock: make(chan struct{}, 1)} }

type serialized struct {
	stream Stream
	lock   chan struct{}
}

func (s *serialized) Next(ctx context.Context) ([]byte, bool, error) {
	select {
	case s.lock <- struct{}{}:
	case <-ctx.Done():
		return nil, false, context.Cause(ctx)
	}
	defer func() { <-s.lock }()
	return s.stream.Next(ctx)
}

// TryNext implements TryNexter.
func (s *serialized) TryNext() ([]byte, bool) {
	buffered, ok := s.stream.(TryNexter)
	if !ok {
		return nil, false
	}
	select {
	case s.lock <- struct{}{}:
	default:
		return nil, false
	}
	defer func() { <-s.lock }()
	return buffered.TryNext()
}

func (s *serialized) Close() {
	s.lock <- struct{}{}
	defer func() { <-s.lock }()
	s.stream.Close()
}

// Cursor is a stream of typed records.
type Cursor[T any] struct{ Stream Stream }

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

func (c *Cursor[T]) stream() Stream { return c.Stream }
