package transfer

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"transect/client/fault"
)

// clocked returns a limit in virtual time.
func clocked(t *testing.T, text string, start time.Time) (*Bandwidth, *time.Time) {
	t.Helper()
	b, err := ParseBandwidth(text)
	if err != nil {
		t.Fatal(err)
	}
	now := start
	b.now = func() time.Time { return now }
	b.sleep = func(ctx context.Context, d time.Duration) error {
		now = now.Add(max(d, 0))
		return ctx.Err()
	}
	return b, &now
}

func limited(b *Bandwidth) bool { return b != nil && b.at(b.now()) > 0 }

// taken returns how many bytes pass in a period of virtual time.
func taken(t *testing.T, b *Bandwidth, now *time.Time, d time.Duration) (bytes int) {
	t.Helper()
	for end := now.Add(d); now.Before(end); {
		n, err := b.Take(t.Context(), 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if bytes += n; !limited(b) {
			*now = now.Add(time.Millisecond)
		}
	}
	return bytes
}

func TestBandwidthIsKept(t *testing.T) {
	for text, rate := range map[string]float64{"1k": 1024, "512k": 512 << 10, "10M": 10 << 20, "1.5G": 1.5 * (1 << 30), "2048": 2048} {
		b, now := clocked(t, text, time.Date(2026, 5, 1, 12, 0, 0, 0, time.Local))
		if got := float64(taken(t, b, now, 20*time.Second)) / 20; math.Abs(got/rate-1) > 0.06 {
			t.Errorf("%s: %.0f bytes a second, want %.0f", text, got, rate)
		}
	}
}

func TestBandwidthFollowsTheTimeOfDay(t *testing.T) {
	day := func(hour, minute, second int) time.Time {
		return time.Date(2026, 5, 1, hour, minute, second, 0, time.Local)
	}
	b, now := clocked(t, "08:00,512k 19:00,10M 23:00,off", day(7, 59, 50))
	if limited(b) {
		t.Error("limited before eight: the last entry goes on after midnight")
	}
	*now = day(8, 0, 0)
	if got := taken(t, b, now, 10*time.Second) / 10; got < 500<<10 || got > 540<<10 {
		t.Errorf("%d bytes a second from eight", got)
	}
	// The change comes in the middle of a transfer.
	*now = day(18, 59, 55)
	before := taken(t, b, now, 5*time.Second) / 5
	after := taken(t, b, now, 5*time.Second) / 5
	if before > 540<<10 || after < 9<<20 || after > 11<<20 {
		t.Errorf("%d bytes a second before seven in the evening, %d after", before, after)
	}
	*now = day(23, 0, 0)
	if limited(b) || taken(t, b, now, time.Second) < 100<<20 {
		t.Error("limited after eleven")
	}
}

// TestBandwidthOvernight: the last entry of a day holds until the first of the
// next, over midnight.
func TestBandwidthOvernight(t *testing.T) {
	day := func(hour, minute, second int) time.Time {
		return time.Date(2026, 5, 1, hour, minute, second, 0, time.Local)
	}
	for _, c := range []struct {
		from    time.Time
		seconds int
		want    int // bytes, on both sides of the change
	}{
		{day(23, 59, 55), 10, 10 << 20}, // midnight changes nothing
		{day(21, 59, 58), 4, 2*8<<20 + 2<<20},
		{day(5, 59, 58), 4, 2<<20 + 2*8<<20},
		{day(0, 0, 0), 3, 3 << 20},
	} {
		b, now := clocked(t, "06:00,8M 22:00,1M", c.from)
		if got := taken(t, b, now, time.Duration(c.seconds)*time.Second); math.Abs(float64(got)/float64(c.want)-1) > 0.1 {
			t.Errorf("%d bytes in %d s from %s, want %d", got, c.seconds, c.from.Format(time.TimeOnly), c.want)
		}
	}
}

// TestBandwidthChangeWakesThoseWhoWait: a hundred connections that queue for a low limit stop
// waiting when it is lifted.
func TestBandwidthChangeWakesThoseWhoWait(t *testing.T) {
	start := time.Date(2026, 5, 1, 21, 59, 50, 0, time.Local)
	for table, longest := range map[string]time.Duration{"06:00,1k 22:00,off": 10 * time.Second, "06:00,1k 22:00,1M": 11 * time.Second} {
		b, now := clocked(t, table, start)
		if _, err := b.Take(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		for range 100 {
			b.limiter.ReserveN(*now, 512)
		}
		if n, err := b.Take(t.Context(), 1<<20); err != nil || n < 1 {
			t.Fatal(n, err)
		}
		if took := now.Sub(start); took < 10*time.Second || took > longest {
			t.Errorf("%s: it waited for %s", table, took)
		}
	}
}

// TestTransfersFollowTheTimetable sends a file, and fetches it, across a change
// of the limit: 2 s at 1 MiB a second and the rest at 4.
func TestTransfersFollowTheTimetable(t *testing.T) {
	s := newRangeService(t, 10*MiB)
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, s.content, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, transfer := range map[string]func(*Transfers) error{
		"up": func(tr *Transfers) error {
			_, err := tr.Upload(t.Context(), Upload{Dataset: "d", Component: "c", Path: path})
			return err
		},
		"up in parts": func(tr *Transfers) error {
			_, err := tr.Upload(t.Context(), Upload{Dataset: "d", Component: "c", Path: path, Multipart: true, ChunkSize: 5 * MiB})
			return err
		},
		"down": func(tr *Transfers) error {
			_, err := tr.Download(t.Context(), Download{Path: "/f", TargetPath: t.TempDir(), TargetName: "f"})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Date(2026, 5, 1, 5, 59, 58, 0, time.Local)
			b, now := clocked(t, "06:00,4M 19:00,1M", start)
			var mu sync.Mutex
			b.now = func() time.Time {
				mu.Lock()
				defer mu.Unlock()
				return *now
			}
			b.sleep = func(ctx context.Context, d time.Duration) error {
				mu.Lock()
				defer mu.Unlock()
				// Several wait at a time; this one is done when the clock reaches its end.
				*now = now.Add(max(d, 0))
				return ctx.Err()
			}
			tr := fast(s.testService, Options{Bandwidth: b, Budget: NewBudget(1)})
			if err := transfer(tr); err != nil {
				t.Fatal(err)
			}
			if took := b.now().Sub(start); took < 3600*time.Millisecond || took > 9*time.Second {
				// At one speed throughout it would be 2.5 or 10 seconds. Anything between is
				// possible, because overlapping waits add up on this clock.
				t.Errorf("it took %s of the clock", took)
			}
		})
	}
}

func TestBandwidthEndsWithItsContext(t *testing.T) {
	b, err := ParseBandwidth("1k")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 3 {
		if _, err = b.Take(ctx, 1<<20); err != nil {
			return
		}
	}
	t.Error("it went on")
}

func TestBandwidthsThatAreNone(t *testing.T) {
	for text, want := range map[string]string{
		"": "empty", "fast": "not a number", "-1M": "negative", "0": "off means no limit", "10Mbit": "divide by 8", "100": "less than 1k",
		"25:00,1M": "not a time of day", "08:00,": "not a number", "08:00,1M 07:00,2M": "not in order", "08:00,1M 08:00,2M": "not in order",
		"08:00,1M 2M": "the time is missing", "NaN": "not a number", "infM": "not a number", "1,5M": "not a time of day",
	} {
		_, err := ParseBandwidth(text)
		if f, ok := fault.Find(err).(*fault.ValueError); !ok || !strings.Contains(f.Message, want) || !strings.Contains(f.Hint, "512k") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if b, err := ParseBandwidth("off"); b != nil || err != nil || limited(b) {
		t.Error(b, err)
	}
}

func TestBandwidthTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		minutes := rapid.SliceOfNDistinct(rapid.IntRange(0, 24*60-1), 1, 6, rapid.ID).Draw(t, "minutes")
		for i := range minutes {
			for j := range i {
				if minutes[i] < minutes[j] {
					minutes[i], minutes[j] = minutes[j], minutes[i]
				}
			}
		}
		var entries []string
		for i, m := range minutes {
			entries = append(entries, fmt.Sprintf("%02d:%02d,%dM", m/60, m%60, i+1))
		}
		b, err := ParseBandwidth(strings.Join(entries, " "))
		if err != nil {
			t.Fatal(err)
		}
		at := rapid.IntRange(0, 24*60-1).Draw(t, "at")
		want := len(minutes)
		for i, m := range minutes {
			if m <= at {
				want = i + 1
			}
		}
		if got := b.at(time.Date(2026, 3, 29, at/60, at%60, 30, 0, time.UTC)); got != float64(want)*MiB {
			t.Fatalf("%v at %d: %.0f MiB, want %d", entries, at, got/MiB, want)
		}
	})
}
