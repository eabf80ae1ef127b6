package history_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"transect/runtime/unattended/history"
)

// Whoever follows a log sees each line once and in order, also when the log is
// rotated in between; who comes too late begins anew.
func TestFollowLog(t *testing.T) {
	s := history.In(filepath.Join(t.TempDir(), "state [1]"))
	run := &history.Summary{ID: history.NewID(start), State: history.Running, Script: "x.lua", Started: start}
	e, err := s.Begin(run)
	if err != nil {
		t.Fatal(err)
	}
	line := func(i int) string {
		return fmt.Sprintf("2026-07-01T06:00:00.%06dZ line %d %s\n", i, i, strings.Repeat("x", 1000))
	}
	cursor, got, want, fresh := "", "", "", 0
	next := func() {
		t.Helper()
		lines, after, all, err := s.LogAfter(run.ID, cursor)
		if err != nil {
			t.Fatal(err)
		}
		if all {
			fresh++
			got = ""
		}
		got += string(lines)
		cursor = after
	}
	next()
	for i := range 1500 { // one and a half megabytes: rotated three times
		_, _ = e.Log.Write([]byte(line(i)))
		want += line(i)
		if i%100 == 99 {
			next()
			next()
		}
	}
	if got != want || fresh > 2 {
		t.Errorf("%d bytes of %d were followed, begun %d times", len(got), len(want), fresh)
	}
	old := cursor
	for i := range 1500 {
		_, _ = e.Log.Write([]byte(line(2000 + i)))
	}
	cursor = old
	if next(); fresh != 2 && fresh != 3 || !strings.HasSuffix(got, line(3499)) || strings.Contains(got, line(1)) {
		t.Errorf("a follower that came too late did not begin anew (%d)", fresh)
	}
	for _, wrong := range []string{"x", "2026 -5", " 99999999999999999999", got[:30] + " 5"} {
		if lines, _, _, err := s.LogAfter(run.ID, wrong); err != nil || !strings.HasSuffix(string(lines), line(3499)) {
			t.Errorf("cursor %q: %d bytes, %v", wrong, len(lines), err)
		}
	}
}
