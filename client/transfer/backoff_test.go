package transfer

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"
)

// TestOthersMoveWhileOneWaits: with a single connection, a file temporarily refused by the storage
// does not keep the next one from being sent.
func TestOthersMoveWhileOneWaits(t *testing.T) {
	s := newService(t)
	var once sync.Once
	s.onPut = func(w http.ResponseWriter, r *http.Request, _, _ int) (answered bool) {
		once.Do(func() {
			w.WriteHeader(http.StatusServiceUnavailable)
			answered = true
		})
		return answered
	}
	budget := NewBudget(1)
	tr := fast(s, Options{Budget: budget})
	waiting, other := make(chan struct{}), make(chan struct{})
	tr.Sleep = func(ctx context.Context, _ time.Duration) error {
		close(waiting)
		select {
		case <-other:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	first, _ := fileOf(t, 1000)
	ended := make(chan error, 1)
	go func() {
		_, err := tr.Upload(t.Context(), Upload{Dataset: "d", Component: "c", Path: first})
		ended <- err
	}()
	<-waiting
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if _, err := tr.Upload(ctx, Upload{Dataset: "e", Component: "c", Path: first}); err != nil {
		t.Fatal(err)
	}
	close(other)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if n := budget.Active(); n != 0 {
		t.Errorf("%d connections are active in the end", n)
	}
}

// TestBackoffKeepsTheCount: however a wait ends, its connection is released once, and no wait is
// longer than its context.
func TestBackoffKeepsTheCount(t *testing.T) {
	b := NewBudget(1)
	c, err := b.Acquire(t.Context(), b.Turn(), 0)
	if err != nil {
		t.Fatal(err)
	}
	ctx := withConnection(t.Context(), c)
	broken := errors.New("broken")
	if err := Backoff(ctx, func() error { return broken }); !errors.Is(err, broken) || b.Active() != 1 {
		t.Errorf("%v, %d active", err, b.Active())
	}
	ended, cancel := context.WithCancel(ctx)
	var other *Connection
	err = Backoff(ended, func() (err error) {
		if other, err = b.Acquire(t.Context(), b.Turn(), 0); err != nil { // another transfer has it now
			t.Error(err)
		}
		cancel()
		return nil
	})
	if err == nil || b.Active() != 2 {
		t.Errorf("%v, %d active", err, b.Active())
	}
	c.Release()
	other.Release()
	if b.Active() != 0 {
		t.Errorf("%d active in the end", b.Active())
	}
	if err := Backoff(t.Context(), func() error { return broken }); !errors.Is(err, broken) {
		t.Error(err)
	}
}
