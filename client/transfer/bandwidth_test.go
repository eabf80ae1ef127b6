package transfer

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"transect/client/fault"
)

// clocked makes a limit live in virtual time.
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

// taken is how many bytes pass in a stretch of virtual time.
func taken(t *testing.T, b *Bandwidth, now *time.Time, d time.Duration) (bytes int) {
	t.Helper()
	for end := now.Add(d); now.Before(end); {
		n, err := b.Take(t.Context(), 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if bytes += n; !b.Limited() {
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
	if b.Limited() {
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
	if b.Limited() || taken(t, b, now, time.Second) < 100<<20 {
		t.Error("limited after eleven")
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
		"": "empty", "fast": "no number", "-1M": "negative", "0": "off means no limit", "10Mbit": "divide by 8", "100": "less than 1k",
		"25:00,1M": "no time of day", "08:00,": "no number", "08:00,1M 07:00,2M": "not in order", "08:00,1M 08:00,2M": "not in order",
		"08:00,1M 2M": "the time is missing", "NaN": "no number", "infM": "no number", "1,5M": "no time of day",
	} {
		_, err := ParseBandwidth(text)
		if f, ok := fault.Find(err).(*fault.ValueError); !ok || !strings.Contains(f.Message, want) || !strings.Contains(f.Hint, "512k") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if b, err := ParseBandwidth("off"); b != nil || err != nil || b.Limited() {
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
