package blob

import (
	"io"
	"strings"
	"testing"
	"time"
)

// A piece that begins to arrive while a round runs, and stalls, does not hold
// up those that wait for the next one.
func TestStalledArrival(t *testing.T) {
	s, err := Open(t.TempDir(), false)
	if err != nil {
		t.Fatal(err)
	}
	s.packs.mu.Lock()
	s.packs.running = true // a round on a slow disk
	s.packs.mu.Unlock()
	done := make(chan error, 2)
	go func() {
		_, err := s.Receive(strings.NewReader("here"), -1, nil)
		done <- err
	}()
	until(t, s, func() bool { return s.packs.next != nil })
	body, client := io.Pipe()
	go func() {
		_, err := s.Receive(body, -1, nil)
		done <- err
	}()
	until(t, s, func() bool { return s.packs.arriving == 1 })
	s.packs.mu.Lock()
	s.packs.running = false
	s.packs.turn.Signal()
	s.packs.mu.Unlock()
	select {
	case err = <-done:
	case <-time.After(10 * time.Second):
		t.Error("it waits for the one that stalls")
	}
	client.Close()
	if again := <-done; err != nil || again != nil {
		t.Error(err, again)
	}
	until(t, s, func() bool { return s.packs.arriving == 0 })
}

// until waits for what is true some time.
func until(t *testing.T, s *Store, is func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		s.packs.mu.Lock()
		ok := is()
		s.packs.mu.Unlock()
		if ok {
			return
		}
		if time.Now().After(end) {
			t.Fatal("it never was")
		}
	}
}
