package httpcore

import (
	"bytes"
	"io"
	"net"
	"testing"
)

// written counts how often a body writes itself.
type written struct {
	*bytes.Reader
	times int
}

func (w *written) WriteTo(to io.Writer) (int64, error) {
	w.times++
	return w.Reader.WriteTo(to)
}

// A body in memory writes itself when all of it is to be sent, and no more than the length
// that was declared is sent otherwise.
func TestBodiesInMemory(t *testing.T) {
	for _, c := range []struct {
		size, declared int64
		itself         int
	}{{100, 100, 1}, {100, 40, 0}, {100, 200, 0}, {0, 0, 1}} {
		here, there := net.Pipe()
		body := &written{Reader: bytes.NewReader(make([]byte, c.size))}
		arrived := make(chan int64)
		go func() {
			n, _ := io.Copy(io.Discard, there)
			arrived <- n
		}()
		n, err := (&limitedConn{Conn: here}).ReadFrom(io.LimitReader(body, c.declared))
		here.Close()
		if got, want := <-arrived, min(c.size, c.declared); err != nil || n != want || got != want || body.times != c.itself {
			t.Errorf("%+v: %d sent, %d arrived, %v, wrote itself %d times", c, n, got, err, body.times)
		}
	}
}
