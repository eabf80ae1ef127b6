package ledger

import (
	"bytes"
	"errors"
	"sync"
	"testing"
	"time"
)

// shelf is a remote in memory. Each holder takes it from the one before.
type shelf struct {
	mu      sync.Mutex
	content []byte
	epoch   int
	appends int
	entered chan struct{} // told of each append that waits
	release chan struct{} // nil to let all pass
}

type holder struct {
	*shelf
	mine int
}

var errTaken = errors.New("it was taken over")

func (s *shelf) take() *holder {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.epoch++
	return &holder{s, s.epoch}
}

func (h *holder) Read(from int64) ([]byte, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	rest := h.content[from:]
	return bytes.Clone(rest[:min(len(rest), 100)]), nil
}

func (h *holder) Append(at int64, b []byte) error {
	if h.release != nil {
		h.entered <- struct{}{}
		<-h.release
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.mine != h.epoch || at != int64(len(h.content)) {
		return errTaken
	}
	h.appends++
	h.content = append(h.content, b...)
	return nil
}

func openRemote(t *testing.T, r Remote) *Ledger {
	t.Helper()
	l, err := OpenRemote("job-1", r, Start{At: time.Now(), PID: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func TestARemoteLedgerGoesOnElsewhere(t *testing.T) {
	s := &shelf{}
	first := openRemote(t, s.take())
	resolve(t, take(t, first, write(1)), Done, "one")
	take(t, first, write(2)) // its answer is lost

	second := openRemote(t, s.take())
	if first.Ident() != second.Ident() {
		t.Error("the ledger has another name in its second start")
	}
	if r := take(t, second, write(1)); r.New || r.State != Done || string(r.Result.Answers[0]) != "one" {
		t.Errorf("what was done comes back as %+v", r)
	}
	if r := take(t, second, write(2)); r.New || r.State != Open || r.Start != 1 {
		t.Errorf("what is open comes back as %+v", r)
	}
	if _, err := first.Take(write(3)); !errors.Is(err, errTaken) {
		t.Errorf("the first holder could note a write: %v", err)
	}
	if _, err := first.Take(write(1)); err == nil {
		t.Error("a ledger that has lost its run goes on")
	}
	third := openRemote(t, s.take())
	if n := len(third.Starts()); n != 3 {
		t.Errorf("there were %d starts", n)
	}
	if unused, open := third.Unclaimed(); unused != 1 || open != 1 {
		t.Errorf("%d done and %d open, want one each", unused, open)
	}
}

func TestIntentsOfTasksShareAMessage(t *testing.T) {
	s := &shelf{}
	l := openRemote(t, s.take())
	s.entered, s.release = make(chan struct{}), make(chan struct{})
	before, tasks := s.appends, 32
	rows := make(chan error, tasks)
	go func() { _, err := l.Take(write(0)); rows <- err }()
	<-s.entered // the others note while this one is under way
	for n := range tasks - 1 {
		go func() {
			w := write(1) // the same, on purpose
			w.Task = uint64(n)
			_, err := l.Take(w)
			rows <- err
		}()
	}
	for noted := 0; noted < tasks; {
		l.mu.Lock()
		noted = int(l.table.n)
		l.mu.Unlock()
		time.Sleep(time.Millisecond)
	}
	if len(rows) > 0 {
		t.Error("a write was let go before its intent was kept")
	}
	go func() {
		for range s.entered {
		}
	}()
	close(s.release)
	for range tasks {
		if err := <-rows; err != nil {
			t.Error(err)
		}
	}
	close(s.entered)
	if got := s.appends - before; got != 2 {
		t.Errorf("%d intents went in %d messages, want 2", tasks, got)
	}
	if n := int(l.table.n); n != tasks {
		t.Errorf("%d rows of %d writes", n, tasks)
	}
}

func TestMessagesHoldWholeRecords(t *testing.T) {
	s := &shelf{}
	l := openRemote(t, s.take())
	big := string(bytes.Repeat([]byte("x"), 1<<20))
	l.mu.Lock()
	for range 10 {
		if err := l.add(&keptRecord{"big", []byte(big)}); err != nil {
			t.Fatal(err)
		}
	}
	err := l.accepted()
	l.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	if s.appends != 1+4 { // the start; 3 + 3 + 3 + 1 of a little more than 1 MiB
		t.Errorf("10 MiB went in %d messages", s.appends-1)
	}
	if again := openRemote(t, s.take()); string(again.Kept("big")) != big {
		t.Error("what was kept did not come back")
	}
}

func TestADamagedRemoteLedgerIsRefused(t *testing.T) {
	s := &shelf{}
	resolve(t, take(t, openRemote(t, s.take()), write(1)), Done)
	whole := s.content
	for _, cut := range []int{len(whole) - 1, len(whole) / 2, 5} {
		s.content = whole[:cut]
		if _, err := OpenRemoteToEdit("job-1", s.take()); err == nil {
			t.Errorf("cut at %d of %d bytes it was opened", cut, len(whole))
		}
	}
}
