package meter

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// clocked is a meter on a clock that the test sets.
func clocked(read func() Reading) (*Meter, *time.Time) {
	now := time.Unix(1000, 0)
	m := &Meter{label: "x", read: read, started: now}
	m.now = func() time.Time { return now }
	return m, &now
}

func TestFigures(t *testing.T) {
	r := Reading{}
	m, now := clocked(func() Reading { return r })
	step := func(d time.Duration, next Reading) string {
		*now = now.Add(d)
		r = next
		return m.figures(false).text()
	}
	for i, c := range []struct {
		after time.Duration
		r     Reading
		want  string
	}{
		{0, Reading{}, "0s"},
		{time.Second, Reading{FoundFiles: 40, Files: 3, Bytes: 3e6, Transferred: 0}, "3 files, 40 found so far, 3.0 MB, 1s"},
		// Resumed: most was there, and the rate is only of what this run moved.
		{time.Second, Reading{TotalFiles: 100, TotalBytes: 100e6, Files: 80, Bytes: 80e6}, "80 of 100 files, 80 MB of 100 MB (80%), 2s"},
		{time.Second, Reading{TotalFiles: 100, TotalBytes: 100e6, Files: 82, Bytes: 82e6, Transferred: 2e6, Limiter: "network", Retries: 1},
			"82 of 100 files, 82 MB of 100 MB (82%), 2.0 MB/s, 9s left, waits for the network, 1 retry, 3s"},
		// Nothing can be said of the rate and the time left while nothing may move.
		{time.Second, Reading{TotalFiles: 100, TotalBytes: 100e6, Files: 82, Bytes: 82e6, Transferred: 2e6, Limiter: "server", Retries: 1, RetryAfter: 70 * time.Second},
			"the platform limits requests: 1m10s left, 82 of 100 files, 82 MB of 100 MB (82%), 1 retry, 4s"},
		{0, Reading{TotalFiles: 100, TotalBytes: 100e6, Files: 100, Bytes: 100e6, Transferred: 2e6, Unread: 97}, "100 of 100 files, 100 MB of 100 MB (100%), the platform has yet to read 97, 4s"},
		// All bytes have arrived, and the last answers have not.
		{0, Reading{TotalFiles: 100, TotalBytes: 100e6, Files: 97, Bytes: 100e6, Transferred: 2e6, Limiter: "server"}, "97 of 100 files, 100 MB of 100 MB (99%), 1.0 MB/s, waits for the platform, 4s"},
		{time.Second, Reading{RetryAfter: time.Millisecond}, "the platform limits requests: 1s left, 5s"},
	} {
		if got := step(c.after, c.r); got != c.want {
			t.Errorf("%d: got %q, want %q", i, got, c.want)
		}
	}
	r = Reading{TotalFiles: 100, TotalBytes: 100e6, Files: 82, Bytes: 82e6, Transferred: 2e6, RetryAfter: time.Minute}
	*now = now.Add(-2 * time.Second)
	if got := m.figures(true).text(); !strings.Contains(got, "667 kB/s") || strings.Contains(got, "left") || strings.Contains(got, "waits") || strings.Contains(got, "limits") {
		t.Errorf("at the end: %q", got)
	}
}

// The rate is right from the start, after a wait, a first burst or a slow first piece.
func TestRate(t *testing.T) {
	const size = 300e6
	for name, moved := range map[string]func(ms int64) int64{
		"steady":   func(ms int64) int64 { return 60e3 * ms },
		"waits":    func(ms int64) int64 { return 60e3 * max(0, ms-1000) },
		"burst":    func(ms int64) int64 { return 60e6 + 60e3*max(0, ms-1000) },
		"trickles": func(ms int64) int64 { return min(30*ms, 30e3) + 60e3*max(0, ms-1000) },
	} {
		var r Reading
		m, now := clocked(func() Reading { return r })
		m.figures(false)
		for ms := int64(200); ms <= 4000; ms += 200 {
			*now = now.Add(200 * time.Millisecond)
			n := moved(ms)
			r = Reading{TotalFiles: 1, TotalBytes: size, Bytes: n, Transferred: n}
			f := m.figures(false)
			left := float64(size-n) / 60e6
			if ms >= 3000 && (f.left.Seconds() < left/1.6 || f.left.Seconds() > left*1.6) {
				t.Errorf("%s, after %d ms: %v left, %.1f s are", name, ms, f.left, left)
			}
		}
	}
}

func TestNoPercentageWithoutTotal(t *testing.T) {
	m, _ := clocked(func() Reading { return Reading{Files: 5, Bytes: 10, FoundFiles: 6} })
	if text := m.figures(false).text(); strings.Contains(text, "%") {
		t.Error(text)
	}
	var line map[string]any
	if err := json.Unmarshal([]byte(m.figures(false).json("x")), &line); err != nil || line["total_files"] != nil || line["found_files"] != 6.0 {
		t.Error(line, err)
	}
}
