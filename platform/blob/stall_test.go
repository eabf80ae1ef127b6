package blob

import (
	"errors"
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

// A piece that was written before a round that failed is not taken for safe by
// the next one, and what comes later goes to another pack.
func TestFailedRound(t *testing.T) {
	s, err := Open(t.TempDir(), false)
	if err != nil {
		t.Fatal(err)
	}
	one, two := []byte("one"), []byte("two")
	_, p, err := s.packs.add(one)
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip("files cannot have holes here")
	}
	if _, _, again := s.packs.add(two); err != nil || again != nil {
		t.Fatal(err, again)
	}
	p.file.Close() // so that the disk fails
	for _, data := range [][]byte{one, two} {
		if _, err := s.packs.settle(data, p, s.packs.arrives()); err == nil {
			t.Errorf("%s is taken for safe", data)
		}
	}
	b, err := s.Receive(strings.NewReader("three"), -1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if f, err := s.Open(b.ID); err != nil {
		t.Error(err)
	} else {
		f.Close()
	}
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
