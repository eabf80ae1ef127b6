package worker

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"transect/runtime/jobs"
	"transect/testdata/jobstest"
)

// The clock of the database counts, however wrong that of the machine is.
func TestClockApart(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	l := &lease{times: DefaultTimes, log: slog.New(slog.NewTextHandler(&said, nil))}
	l.renew = func(context.Context) (time.Time, error) { return time.Now().Add(5 * time.Minute), nil }
	for range 3 {
		if err := l.renewOnce(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if left := l.left(); left > DefaultTimes.Hold || left < DefaultTimes.Hold/2 {
		t.Errorf("jobs may go on for %s", left)
	}
	if n := strings.Count(said.String(), "differs from the database"); n != 1 {
		t.Errorf("said %d times: %s", n, &said)
	}
}

// Who has not been able to renew its lease for a while declares nobody dead.
func TestTrusted(t *testing.T) {
	t.Parallel()
	var away error
	l := &lease{times: Times{Beat: time.Millisecond, Lease: 20 * time.Millisecond, Hold: time.Minute}, log: slog.New(slog.DiscardHandler),
		renew: func(context.Context) (time.Time, error) { return time.Now(), away }}
	_ = l.renewOnce(t.Context())
	if l.trusted() {
		t.Error("trusted at once")
	}
	time.Sleep(25 * time.Millisecond)
	if !l.trusted() {
		t.Error("not trusted after the time of a lease")
	}
	away = errors.New("no route to host")
	_ = l.renewOnce(t.Context())
	if l.trusted() || !l.valid() {
		t.Error("trusted, or not valid, while the database is away")
	}
	away = nil
	_ = l.renewOnce(t.Context())
	if l.trusted() {
		t.Error("trusted right after an outage")
	}
	l.mu.Lock()
	l.steady, l.deadline = l.steady-l.times.Lease, l.steady // it slept
	l.mu.Unlock()
	_ = l.renewOnce(t.Context())
	if l.trusted() {
		t.Error("trusted right after sleeping")
	}
	away = errFenced
	if err := l.renewOnce(t.Context()); !errors.Is(err, errFenced) || l.valid() {
		t.Error("valid although others have its jobs")
	}
}

// A worker that registers again, for no answer came, is one worker.
func TestRegisterAgain(t *testing.T) {
	t.Parallel()
	jobstest.EachStore(t, func(t *testing.T, store *jobs.Store) {
		t.Parallel()
		s := newSession(&Worker{store: store, o: Options{Name: "here", Slots: 1, Times: DefaultTimes, Log: slog.New(slog.DiscardHandler)}, queues: []string{"here"}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for range 2 {
			if err := s.register(ctx); err != nil {
				t.Fatal(err)
			}
		}
		if list, err := store.Workers(ctx, false); err != nil || len(list) != 1 {
			t.Error(len(list), err)
		}
		s.leave()
		if err := s.register(ctx); !errors.Is(err, errFenced) {
			t.Error("a dead worker registers:", err)
		}
	})
}

// What has the same value for as long as asked is old.
func TestUnchanged(t *testing.T) {
	t.Parallel()
	var u unchanged[string, int64]
	for i, step := range []struct {
		there map[string]int64
		old   string
	}{
		{map[string]int64{"dead": 7, "alive": 1, "leaves": 1}, ""},
		{map[string]int64{"dead": 7, "alive": 2, "late": 9}, ""},
		{map[string]int64{"dead": 7, "alive": 1, "leaves": 1, "late": 9}, "dead"}, // whose lease is set back has renewed it
		{map[string]int64{"dead": 8, "alive": 2, "late": 9}, "late"},
	} {
		old := ""
		for k := range u.see(step.there, time.Duration(i)*time.Second, 2*time.Second) {
			old += k
		}
		if old != step.old {
			t.Errorf("step %d: %q, want %q", i, old, step.old)
		}
	}
}
