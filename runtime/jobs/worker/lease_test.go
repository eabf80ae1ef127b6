package worker

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// The clock of the database counts, however wrong that of the machine is.
func TestClockApart(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	l := &lease{times: DefaultTimes, log: slog.New(slog.NewTextHandler(&said, nil))}
	l.renew = func(context.Context) (time.Time, error) { return time.Now().Add(5 * time.Minute), nil }
	for range 3 {
		if err := l.beat(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if off := time.Until(l.databaseTime()); off < 299*time.Second || off > 301*time.Second || l.databaseTime().Location() != time.UTC {
		t.Error(off, l.databaseTime())
	}
	if left := l.left(); left > DefaultTimes.Hold || left < DefaultTimes.Hold/2 {
		t.Errorf("jobs may go on for %s", left)
	}
	if n := strings.Count(said.String(), "differs from that of the database"); n != 1 {
		t.Errorf("said %d times: %s", n, &said)
	}
}

// Who has not been able to renew its lease for a while declares nobody dead.
func TestTrusted(t *testing.T) {
	t.Parallel()
	var away error
	l := &lease{times: Times{Beat: time.Millisecond, Lease: 20 * time.Millisecond, Hold: time.Minute}, log: slog.New(slog.DiscardHandler),
		renew: func(context.Context) (time.Time, error) { return time.Now(), away }}
	_ = l.beat(t.Context())
	if l.trusted() {
		t.Error("trusted at once")
	}
	time.Sleep(25 * time.Millisecond)
	if !l.trusted() {
		t.Error("not trusted after the time of a lease")
	}
	away = errors.New("no route to host")
	_ = l.beat(t.Context())
	if l.trusted() || !l.valid() {
		t.Error("trusted, or not valid, while the database is away")
	}
	away = nil
	_ = l.beat(t.Context())
	if l.trusted() {
		t.Error("trusted right after an outage")
	}
	away = errFenced
	if err := l.beat(t.Context()); !errors.Is(err, errFenced) || l.valid() {
		t.Error("valid although others have its jobs")
	}
}
