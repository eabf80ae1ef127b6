package worker_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"transect/runtime/jobs"
	"transect/runtime/jobs/setting"
	"transect/runtime/jobs/worker"
	"transect/testdata/jobstest"
)

// patience is far more than anything here takes.
const patience = 90 * time.Second

// running is a worker in this process.
type running struct {
	stop func() // and wait for its end
}

func run(t *testing.T, store *jobs.Store, o worker.Options) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- worker.Run(ctx, store, o) }()
	stopped := false
	stop := func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(patience):
			t.Error("the worker does not stop")
		}
	}
	t.Cleanup(stop)
	return &running{stop: stop}
}

func submit(t *testing.T, store *jobs.Store, spec jobs.Spec, args ...string) int64 {
	t.Helper()
	spec.Args = args
	id, err := store.Submit(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func ended(t *testing.T, store *jobs.Store, id int64) *jobs.Job {
	t.Helper()
	return become(t, store, id, func(j *jobs.Job) bool { return j.State.Final() })
}

func become(t *testing.T, store *jobs.Store, id int64, ok func(*jobs.Job) bool) *jobs.Job {
	t.Helper()
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		job, err := store.Get(t.Context(), id)
		if err == nil && ok(job) {
			return job
		}
		if time.Since(began) > patience {
			t.Fatalf("job %d: %+v, %v", id, job, err)
		}
	}
}

func output(t *testing.T, store *jobs.Store, id int64) string {
	t.Helper()
	var text strings.Builder
	for after := (jobs.Position{}); ; {
		list, err := store.Log(t.Context(), id, after)
		if err != nil {
			t.Fatal(err)
		}
		if len(list) == 0 {
			return text.String()
		}
		for _, b := range list {
			text.WriteString(b.Lines)
			after = jobs.Position{Run: b.Run, Seq: b.Seq}
		}
	}
}

func attempts(t *testing.T, store *jobs.Store, id int64) (outcomes []string) {
	t.Helper()
	list, err := store.Attempts(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range list {
		outcomes = append(outcomes, string(a.Outcome))
	}
	return outcomes
}

func TestWorker(t *testing.T) {
	t.Parallel()
	jobstest.EachStore(t, func(t *testing.T, store *jobs.Store) {
		t.Parallel()
		dir := t.TempDir()
		o := options(dir, "here", slog.DiscardHandler)
		o.Secrets = []string{"sesame"}
		run(t, store, o)

		t.Run("outcome follows the exit code", func(t *testing.T) {
			ids := map[int]int64{}
			want := map[int]jobs.State{0: jobs.Done, 1: jobs.Failed, 2: jobs.Stopped, 3: jobs.DoneFailures, 4: jobs.Stopped, 5: jobs.Failed, 7: jobs.NeedsDecision, 10: jobs.Failed}
			for code := range want {
				ids[code] = submit(t, store, jobs.Spec{Script: "exit", Settings: setting.Settings{Retries: 2}}, strconv.Itoa(code))
			}
			for code, id := range ids {
				job := ended(t, store, id)
				n := 1
				if code == 5 {
					n = 3
				}
				if list := attempts(t, store, id); job.State != want[code] || job.ExitCode == nil || *job.ExitCode != code || len(list) != n {
					t.Errorf("exit code %d: %s, %v, attempts %v", code, job.State, job.ExitCode, list)
				}
				if code != 0 && code != 3 && job.Message != fmt.Sprintf("the end with %d", code) {
					t.Errorf("exit code %d: message %q", code, job.Message)
				}
			}
			locked := submit(t, store, jobs.Spec{Script: "exit"}, "6")
			if job := become(t, store, locked, func(j *jobs.Job) bool { return j.Waiting != "" }); job.State != jobs.Waiting {
				t.Errorf("%+v", job)
			}
			if err := store.Cancel(t.Context(), locked); err != nil {
				t.Error(err)
			}
		})
		t.Run("retries", func(t *testing.T) {
			id := submit(t, store, jobs.Spec{Script: "once", Settings: setting.Settings{Retries: 1}}, filepath.Join(dir, "once"))
			job := ended(t, store, id)
			if list := attempts(t, store, id); job.State != jobs.Done || !slices.Equal(list, []string{"retrying", "done"}) {
				t.Error(job.State, list)
			}
			crashed := submit(t, store, jobs.Spec{Script: "crash"})
			if job := ended(t, store, crashed); job.State != jobs.Failed || !strings.Contains(job.Message, "killed") {
				t.Errorf("%+v", job)
			}
		})
		t.Run("log", func(t *testing.T) {
			id := submit(t, store, jobs.Spec{Script: "print"}, "1000")
			ended(t, store, id)
			lines := strings.Split(output(t, store, id), "\n")
			if len(lines) != 1002 || lines[7] != "line 7 "+strings.Repeat("x", 50) || lines[999] != "line 999 "+strings.Repeat("x", 50) {
				t.Errorf("%d lines, such as %q", len(lines), lines[min(7, len(lines)-1)])
			}
			if text := strings.Join(lines, "\n"); strings.Contains(text, "sesame") {
				t.Error("a secret stands in the log")
			}
		})
		t.Run("folder", func(t *testing.T) {
			here := t.TempDir()
			a, b := submit(t, store, jobs.Spec{Script: "folder", Folder: here}), submit(t, store, jobs.Spec{Script: "folder", Folder: "/nowhere/at/all"})
			ended(t, store, a)
			ended(t, store, b)
			if got := strings.TrimSpace(output(t, store, a)); got != here {
				t.Error(got)
			}
			if got := output(t, store, b); !strings.Contains(got, "/nowhere/at/all is not on this machine") || !strings.Contains(got, jobs.RunID(b)) {
				t.Error(got)
			}
		})
		t.Run("cancel", func(t *testing.T) {
			id := submit(t, store, jobs.Spec{Script: "sleep"})
			become(t, store, id, func(j *jobs.Job) bool { return j.State == jobs.Running })
			if err := store.Cancel(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			if job := ended(t, store, id); job.State != jobs.Cancelled {
				t.Errorf("%+v", job)
			}
		})
		t.Run("offspring", func(t *testing.T) {
			id := submit(t, store, jobs.Spec{Script: "offspring"})
			ended(t, store, id)
			pid, err := strconv.Atoi(regexp.MustCompile(`\d+`).FindString(output(t, store, id)))
			if err != nil {
				t.Fatal(err)
			}
			for began := time.Now(); alive(pid); time.Sleep(10 * time.Millisecond) {
				if time.Since(began) > patience {
					t.Fatal("a program of the job goes on after it")
				}
			}
		})
		t.Run("key", func(t *testing.T) {
			work := t.TempDir()
			var ids []int64
			for range 3 {
				ids = append(ids, submit(t, store, jobs.Spec{Script: "effects", Settings: setting.Settings{Key: "one at a time"}}, work))
			}
			deadline := time.Now().Add(patience)
			for waiting := 0; waiting < 2; time.Sleep(20 * time.Millisecond) {
				if waiting = 0; time.Now().After(deadline) {
					t.Fatal("they do not wait for their key")
				}
				for _, id := range ids {
					if job, err := store.Get(t.Context(), id); err == nil && job.Waiting == "the key one at a time" {
						waiting++
					}
				}
			}
			touch(t, work, "finish")
			for _, id := range ids {
				if job := ended(t, store, id); job.State != jobs.Done {
					t.Error(job.State)
				}
			}
			if n := turns(t, work); n != 3 {
				t.Errorf("the jobs of one key took turns %d times", n)
			}
		})
	})
}

// turns counts how often the job of the effects changes.
func turns(t *testing.T, dir string) (n int) {
	last := int64(0)
	for _, d := range readEffects(t, dir) {
		if d.job != last {
			n, last = n+1, d.job
		}
	}
	return n
}

func alive(pid int) bool {
	if p, err := os.FindProcess(pid); err != nil || p.Signal(syscall.Signal(0)) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !strings.Contains(string(stat), ") Z ")
}

func touch(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// effect is a line that a job wrote.
type effect struct {
	job int64
	pid int
	at  time.Duration
}

func readEffects(t *testing.T, dir string) (all []effect) {
	t.Helper()
	text, _ := os.ReadFile(filepath.Join(dir, "effects"))
	for line := range strings.Lines(string(text)) {
		var d effect
		var at int64
		if n, _ := fmt.Sscan(line, &d.job, &d.pid, &at); n == 3 {
			d.at = time.Duration(at)
			all = append(all, d)
		}
	}
	return all
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	store := jobstest.Open(t, jobs.Config{StateDir: t.TempDir()})
	o := options(t.TempDir(), "here", slog.DiscardHandler)
	o.KillAfter = 300 * time.Millisecond
	run(t, store, o)
	id := submit(t, store, jobs.Spec{Script: "sleep", Settings: setting.Settings{Timeout: 100 * time.Millisecond}})
	if job := ended(t, store, id); job.State != jobs.Failed || *job.ExitCode != 10 || !strings.Contains(job.Message, "time limit of 100ms") {
		t.Errorf("%+v", job)
	}
}

// A worker that is told to stop releases what does not end within its grace.
func TestRelease(t *testing.T) {
	t.Parallel()
	jobstest.EachStore(t, func(t *testing.T, store *jobs.Store) {
		t.Parallel()
		o := options(t.TempDir(), "first", slog.DiscardHandler)
		o.Grace = 200 * time.Millisecond
		first := run(t, store, o)
		work := t.TempDir()
		id := submit(t, store, jobs.Spec{Script: "effects"}, work)
		become(t, store, id, func(*jobs.Job) bool { return len(readEffects(t, work)) > 0 })
		first.stop()
		if job, err := store.Get(t.Context(), id); err != nil || job.State != jobs.Waiting || job.Tries != 0 {
			t.Fatalf("%+v %v", job, err)
		}
		if list, err := store.Workers(t.Context(), false); err != nil || len(list) != 0 {
			t.Error("the worker did not leave", err)
		}
		touch(t, work, "finish")
		run(t, store, options(t.TempDir(), "second", slog.DiscardHandler))
		ended(t, store, id)
		if list := attempts(t, store, id); !slices.Equal(list, []string{"released", "done"}) {
			t.Error(list)
		}
	})
}

// Jobs go on when the disk of the database was full for a while.
func TestFullDatabase(t *testing.T) {
	t.Parallel()
	store := jobstest.Open(t, jobs.Config{StateDir: t.TempDir()})
	work := t.TempDir()
	run(t, store, options(t.TempDir(), "here", slog.DiscardHandler))
	id := submit(t, store, jobs.Spec{Script: "effects"}, work)
	become(t, store, id, func(*jobs.Job) bool { return len(readEffects(t, work)) > 0 })
	var pages int
	if err := store.DB().QueryRow("pragma max_page_count = 1").Scan(&pages); err != nil { // it becomes the present size
		t.Fatal(err)
	}
	touch(t, work, "finish")
	time.Sleep(quick.Beat)
	if err := store.DB().QueryRow("pragma max_page_count = 1000000").Scan(&pages); err != nil {
		t.Fatal(err)
	}
	if job := ended(t, store, id); job.State != jobs.Done {
		t.Errorf("%+v", job)
	}
}
