package declare

import "context"

// Stream yields records one after the other, as JSON. After an error it stays
// where it was: calling Next again tries the same place once more.
type Stream interface {
	Next(ctx context.Context) (record []byte, ok bool, err error)
	Close()
}

// Taker is implemented by streams that can tell whether a record is there
// already. Take never waits; without a record the reader calls Next.
type Taker interface {
	Take(ctx context.Context) (record []byte, ok bool)
}

// InTurn lets several goroutines read one stream: each record goes to one of
// them, and whoever waits for its turn can be stopped.
func InTurn(s Stream) Stream { return &inTurn{stream: s, turn: make(chan struct{}, 1)} }

type inTurn struct {
	stream Stream
	turn   chan struct{}
}

func (s *inTurn) Next(ctx context.Context) ([]byte, bool, error) {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, false, context.Cause(ctx)
	}
	defer func() { <-s.turn }()
	return s.stream.Next(ctx)
}

// Take implements Taker. Whoever holds the turn is not waited for.
func (s *inTurn) Take(ctx context.Context) ([]byte, bool) {
	taker, ok := s.stream.(Taker)
	if !ok {
		return nil, false
	}
	select {
	case s.turn <- struct{}{}:
	default:
		return nil, false
	}
	defer func() { <-s.turn }()
	return taker.Take(ctx)
}

func (s *inTurn) Close() {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
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
