package client

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestEveryLineOnce lets a log grow by random batches, with equal and late
// lines, and has following resumed from a cursor at random moments: every line
// comes out once.
func TestEveryLineOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := time.Date(2026, 5, 31, 8, 0, 0, 0, time.UTC)
		line := rapid.Custom(func(t *rapid.T) LogLine {
			at := start.Add(time.Duration(rapid.IntRange(0, 20).Draw(t, "tick")) * time.Millisecond)
			return LogLine{Timestamp: at.Format(time.RFC3339Nano), Record: map[string]any{"message": rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "message")}}
		})
		batches := rapid.SliceOfN(rapid.SliceOfN(line, 0, 6), 1, 9).Draw(t, "batches")
		var written []LogLine
		var got []string
		cursor := ""
		log := resumed(t, cursor)
		for _, batch := range batches {
			written = append(written, batch...)
			all := slices.Clone(written)
			slices.SortStableFunc(all, func(a, b LogLine) int {
				switch {
				case earlier(a.Timestamp, b.Timestamp):
					return -1
				case earlier(b.Timestamp, a.Timestamp):
					return 1
				}
				return 0
			})
			for _, l := range log.take(all) {
				got = append(got, l.Timestamp+fmt.Sprint(l.Record))
				cursor = l.Cursor
			}
			if rapid.Bool().Draw(t, "resume") {
				log = resumed(t, cursor)
			}
		}
		var want []string
		for _, l := range written {
			want = append(want, l.Timestamp+fmt.Sprint(l.Record))
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("got  %q\nwant %q", got, want)
		}
	})
}

func resumed(t *rapid.T, cursor string) *followedLog {
	c, err := parseCursor(cursor)
	if err != nil {
		t.Fatal(err)
	}
	return c.follow("p")
}

func TestLongLogsResume(t *testing.T) {
	var lines []LogLine
	for i := range 500 {
		at := time.Date(2026, 5, 31, 8, 0, i, 0, time.UTC)
		lines = append(lines, LogLine{Timestamp: at.Format(time.RFC3339Nano), Record: map[string]any{"message": "line"}})
	}
	log := logCursor{}.follow("")
	first := log.take(lines[:300])
	if n := len(first[299].Cursor); n > 2000 {
		t.Errorf("a cursor of %d characters", n)
	}
	c, err := parseCursor(first[299].Cursor)
	if err != nil {
		t.Fatal(err)
	}
	again := c.follow("")
	if rest := again.take(lines); len(rest) != 200 || rest[0].Timestamp != lines[300].Timestamp {
		t.Errorf("%d lines after resuming, want 200", len(rest))
	}
}
