package history_test

import (
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"transect/runtime/unattended/history"
)

func TestProgress(t *testing.T) {
	s := history.In(filepath.Join(t.TempDir(), "state [1]"))
	run := &history.Summary{ID: history.NewID(start), State: history.Running, Script: "x.lua", Started: start}
	e, err := s.Begin(run)
	if err != nil {
		t.Fatal(err)
	}
	if p, err := s.Progress(run.ID); err != nil || len(p.Samples) != 0 {
		t.Fatalf("before the first second: %+v, %v", p, err)
	}
	want := &history.Progress{ItemsDone: 3, Ingests: []string{"a"}, Displays: []history.Display{{Label: "ingest", Files: 3, TotalFiles: 8}},
		Samples: []history.Sample{{Seconds: 1.5, Sent: 1000, Received: 20}}}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.WriteProgress(text); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Progress(run.ID); err != nil || !cmp.Equal(got, want) {
		t.Errorf("%v\n%s", err, cmp.Diff(got, want))
	}
	run.State, run.End = history.Ended, &history.End{At: start}
	if err := e.End(run); err != nil {
		t.Fatal(err)
	}
	if runs, err := s.List(0, nil); err != nil || len(runs) != 1 {
		t.Errorf("the progress counts as a run: %d, %v", len(runs), err)
	}
	if n, err := s.Prune(0, start.Add(time.Hour)); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	if p, err := s.Progress(run.ID); err != nil || len(p.Samples) != 0 {
		t.Errorf("the progress of a run that was removed: %+v, %v", p, err)
	}
}

// A run of a day has as many samples as one of two minutes, at even intervals,
// and always its last second.
func TestSamplesAreBounded(t *testing.T) {
	var s history.Samples
	for second := 1; second <= 24*60*60; second++ {
		now := history.Sample{Seconds: float64(second), Sent: int64(second)}
		s.Add(now)
		list := s.With(now)
		if len(list) > 121 || list[len(list)-1] != now {
			t.Fatalf("after %d seconds: %d samples, the last is %+v", second, len(list), list[len(list)-1])
		}
		for i := 2; i < len(list)-1; i++ {
			if list[i].Seconds-list[i-1].Seconds != list[1].Seconds-list[0].Seconds {
				t.Fatalf("after %d seconds: uneven intervals: %+v", second, list)
			}
		}
	}
}
