package history_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"transect/runtime/unattended/history"
)

// TestMain lets the test binary be a run that is killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv("HISTORY_TEST_RUN"); dir != "" {
		run := &history.Summary{ID: history.NewID(time.Now()), State: history.Running, Script: "killed.lua"}
		if _, err := history.In(dir).Begin(run); err != nil {
			panic(err)
		}
		fmt.Println(run.ID)
		select {}
	}
	os.Exit(m.Run())
}

var start = time.Date(2026, 7, 1, 6, 0, 0, 0, time.UTC)

// ran keeps a run that started and ended at a moment.
func ran(t testing.TB, s history.Store, at time.Time, printed string) *history.Summary {
	t.Helper()
	run := &history.Summary{ID: history.NewID(at), State: history.Running, Script: "x.lua", Started: at}
	e, err := s.Begin(run)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = e.Log.Write([]byte(printed))
	run.State, run.End = history.Ended, &history.End{At: at.Add(time.Second), Seconds: 1, Outcome: "success"}
	if err := e.End(run); err != nil {
		t.Fatal(err)
	}
	return run
}

func TestHistory(t *testing.T) {
	s := history.In(filepath.Join(t.TempDir(), "state [1]"))
	if runs, err := s.List(0, nil); err != nil || len(runs) != 0 {
		t.Fatalf("before the first run: %v, %v", runs, err)
	}
	first := ran(t, s, start, "from the first\n")
	second := ran(t, s, start.Add(time.Hour), "from the second\n")
	runs, err := s.List(0, nil)
	if err != nil || len(runs) != 2 || runs[0].ID != second.ID || runs[1].ID != first.ID || runs[0].State != history.Ended || runs[0].End.Seconds != 1 {
		t.Fatalf("%+v, %v", runs, err)
	}
	if text, err := s.Log(first.ID); err != nil || string(text) != "from the first\n" {
		t.Errorf("%q, %v", text, err)
	}
	for name, want := range map[string]string{"last": second.ID, first.ID: first.ID, first.ID[:15]: first.ID, second.ID[len(second.ID)-6:]: second.ID} {
		if run, _, err := s.Find(name); err != nil || run == nil || run.ID != want {
			t.Errorf("%s: %+v, %v", name, run, err)
		}
	}
	if run, fit, err := s.Find("20260701"); run != nil || len(fit) != 2 || err != nil {
		t.Errorf("a name of both: %v, %v, %v", run, fit, err)
	}
	if run, fit, err := s.Find("nothing"); run != nil || len(fit) != 0 || err != nil {
		t.Errorf("a name of none: %v, %v, %v", run, fit, err)
	}
	if info, err := os.Stat(s.Dir); err != nil || info.Mode().Perm()&0o077 != 0 && os.Getenv("OS") != "Windows_NT" {
		t.Errorf("others can read the history: %v, %v", info.Mode(), err)
	}
}

// A run that is under way says so; one whose process was killed is found out.
func TestRunningAndKilled(t *testing.T) {
	dir := t.TempDir()
	s := history.In(dir)
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), "HISTORY_TEST_RUN="+dir)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	var id string
	if _, err := fmt.Fscanln(out, &id); err != nil {
		t.Fatal(err)
	}
	state := func() string {
		run, _, err := s.Find(id)
		if err != nil || run == nil {
			t.Fatal(run, err)
		}
		return run.State
	}
	if got := state(); got != history.Running {
		t.Errorf("while it runs: %s", got)
	}
	if n, err := s.Prune(0, start.Add(1e6*time.Hour)); n != 0 || err != nil {
		t.Errorf("a run under way was forgotten: %d, %v", n, err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if got := state(); got != history.Lost {
		t.Errorf("after it was killed: %s", got)
	}
	if n, err := s.Prune(0, start); n != 1 || err != nil {
		t.Errorf("a run that was killed is kept for ever: %d, %v", n, err)
	}
	if left, _ := os.ReadDir(s.Dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// Prune keeps the newest, and what is young enough, and every file of those.
func TestRetention(t *testing.T) {
	root := t.TempDir()
	count := 0
	rapid.Check(t, func(t *rapid.T) {
		count++
		s := history.Store{Dir: filepath.Join(root, fmt.Sprint(count))}
		ages := rapid.SliceOfNDistinct(rapid.IntRange(0, 300), 0, 12, rapid.ID).Draw(t, "hours ago")
		now := start.Add(1000 * time.Hour)
		slices.Sort(ages) // newest first
		var ids []string
		for _, age := range slices.Backward(ages) {
			at := now.Add(-time.Duration(age) * time.Hour)
			run := &history.Summary{ID: history.NewID(at), State: history.Running, Started: at}
			e, err := s.Begin(run)
			if err == nil {
				err = e.End(run)
			}
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, run.ID)
		}
		slices.Reverse(ids)
		keep, limit := rapid.IntRange(0, 13).Draw(t, "keep"), rapid.IntRange(0, 301).Draw(t, "hours")
		var want []string
		for i, age := range ages {
			if i < keep && age <= limit {
				want = append(want, ids[i])
			}
		}
		n, err := s.Prune(keep, now.Add(-time.Duration(limit)*time.Hour))
		if err != nil || n != len(ids)-len(want) {
			t.Fatalf("forgot %d of %d, to be kept %d: %v", n, len(ids), len(want), err)
		}
		runs, err := s.List(0, nil)
		var got []string
		for _, r := range runs {
			got = append(got, r.ID)
			if _, err := s.Log(r.ID); err != nil {
				t.Fatal(err)
			}
		}
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("kept %v, want %v: %v", got, want, err)
		}
		files, _ := os.ReadDir(s.Dir)
		for _, f := range files {
			if !slices.ContainsFunc(want, func(id string) bool { return strings.HasPrefix(f.Name(), id) }) {
				t.Fatalf("%s was left behind", f.Name())
			}
		}
	})
}

// Runs that start and end at once, while others list and prune, all are there.
func TestRunsAtOnce(t *testing.T) {
	s := history.In(filepath.Join(t.TempDir(), "state [1]"))
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() { ran(t, s, start, "x\n") })
		all.Go(func() {
			if _, err := s.List(0, nil); err != nil {
				t.Error(err)
			}
			if _, err := s.Prune(100, start.Add(-time.Hour)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if runs, err := s.List(0, nil); err != nil || len(runs) != 20 {
		t.Errorf("%d of 20 runs, %v", len(runs), err)
	}
}

// A file that is damaged hides itself only, and goes when its time has come.
func TestDamagedEntry(t *testing.T) {
	s := history.In(filepath.Join(t.TempDir(), "state [1]"))
	bad := ran(t, s, start, "x\n")
	good := ran(t, s, start.Add(time.Hour), "x\n")
	for _, text := range []string{"", "{", "null and void", `{"id": 3}`, "\x00\x00\x00"} {
		if err := os.WriteFile(filepath.Join(s.Dir, bad.ID+".json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if runs, err := s.List(0, nil); err != nil || len(runs) != 1 || runs[0].ID != good.ID {
			t.Errorf("%q: %v, %v", text, runs, err)
		}
	}
	if n, err := s.Prune(1, start); n != 1 || err != nil {
		t.Errorf("it was not forgotten: %d, %v", n, err)
	}
}

// A folder that cannot be made, or written, is an error and no more.
func TestHistoryThatCannotBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := history.In(file).Begin(&history.Summary{ID: history.NewID(start)}); err == nil {
		t.Error("it was begun")
	}
}
