package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"transect/runtime/jobs"
	"transect/runtime/jobs/bundle"
	"transect/runtime/jobs/worker"
	"transect/testdata/flightgen"
	"transect/testdata/jobstest"
)

// leaving is a script whose first job leaves something behind; the second one prints
// what it finds of it.
var leaving = []struct {
	name, code string
	left       bool // in the process, which then runs no other job
}{
	{"nothing", ``, false},
	{"globals", `if arg[1] == "1" then x = 1; package.loaded.y = 1; package.preload.z = print; string.w = 1; getmetatable("").v = 1; _G.print = print end
		for _, found in pairs{ x or false, package.loaded.y or false, package.preload.z or false, string.w or false, getmetatable("").v or false } do if found then print("found") end end`, false},
	{"half a line", `io.write(arg[1] == "1" and "half" or "")`, false},
	{"a task", `if arg[1] == "1" then require("task").spawn(function() while true do require("time").sleep(0.001); print("found") end end); os.exit(0) end`, false},
	{"an open file", `if arg[1] == "1" then held = io.open("held", "w") end`, true},
	{"a variable", `if arg[1] == "1" then os.setenv("TRANSECT_TEST_LEFT", "1") elseif os.getenv("TRANSECT_TEST_LEFT") then print("found") end`, true},
	{"a program", `if arg[1] == "1" then os.execute("sleep 3600 & echo $! > program") end`, true},
	{"a metatable of all", `local mt = debug.getmetatable(require("json").null); if arg[1] == "1" then mt.x = 1 elseif mt.x then print("found") end`, true},
	{"failed items", `if arg[1] == "1" then os.exit(3) end`, true},
	{"a success", `os.exit(0)`, false},
}

func TestJobsOfOneProcessLeaveNothingBehind(t *testing.T) {
	if testing.Short() {
		t.Skip("starts some twenty processes")
	}
	t.Parallel()
	for _, c := range leaving {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newJobFolder(t, c.code)
			first, second := f.submit("1"), f.submit("2")
			f.work(t)
			f.await(first)
			f.await(second)
			if again := f.pid(first) == f.pid(second); again == c.left {
				t.Errorf("the process ran the second job: %v", again)
			}
			if printed := f.output(second); printed != "" {
				t.Errorf("the second job printed %q", printed)
			}
			if c.name == "half a line" && f.output(first) != "half\n" {
				t.Errorf("the first job printed %q", f.output(first))
			}
			if pid := f.number("program"); pid != 0 {
				f.until("the program ends", func() bool { return !lives(pid) })
			}
		})
	}
}

// What ends a job ends its process, also when that has run others.
func TestTheProcessOfFurtherJobsIsEnded(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	t.Parallel()
	for _, how := range []string{"cancelled", "over time", "given back"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			f := newJobFolder(t, `if arg[1] == "2" then print("sleeping"); io.stdout:flush(); require("time").sleep(3600) end`)
			first := f.submit("1")
			if how == "over time" {
				f.spec.Timeout = 500 * time.Millisecond
			}
			second := f.submit("2")
			stop := f.work(t)
			f.await(first)
			f.until("the second job sleeps", func() bool { return f.output(second) == "sleeping\n" })
			pid := f.pid(second)
			if f.pid(first) != pid {
				t.Fatal("the second job has a process of its own")
			}
			want := map[string]jobs.State{"cancelled": jobs.Cancelled, "over time": jobs.Failed, "given back": jobs.Waiting}[how]
			switch how {
			case "cancelled":
				if err := f.store.Cancel(t.Context(), second); err != nil {
					t.Fatal(err)
				}
			case "given back":
				stop()
			}
			f.until("it is "+string(want), func() bool { job, err := f.store.Get(t.Context(), second); return err == nil && job.State == want })
			f.until("its process ends", func() bool { return !lives(pid) })
		})
	}
}

// jobFolder is a database of jobs of one script, and the folder in which they run.
type jobFolder struct {
	*home
	store *jobs.Store
	spec  jobs.Spec
}

func newJobFolder(t *testing.T, code string) *jobFolder {
	f := &jobFolder{home: newHome(t, 0, flightgen.Options{})}
	f.store = jobstest.Open(t, jobs.Config{StateDir: t.TempDir()})
	packed, err := bundle.Make(bundle.Source{Script: jobstest.Script(t, f.dir, "job.lua", code)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.store.PutBundle(t.Context(), packed); err != nil {
		t.Fatal(err)
	}
	f.spec = jobs.Spec{Script: "job.lua", Bundle: packed.Hash, Folder: f.dir}
	return f
}

func (f *jobFolder) submit(args ...string) int64 {
	f.t.Helper()
	f.spec.Args = args
	id, err := f.store.Submit(f.t.Context(), f.spec)
	if err != nil {
		f.t.Fatal(err)
	}
	return id
}

// work has a worker with one slot run the jobs.
func (f *jobFolder) work(t *testing.T) (stop func()) {
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- worker.Run(ctx, f.store, worker.Options{Name: "here", Queues: []string{jobs.DefaultQueue}, Slots: 1, Program: []string{f.program},
			Folder: filepath.Join(f.dir, "jobs"), Env: f.command().Env, Log: slog.New(slog.DiscardHandler)})
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return stop
}

func (f *jobFolder) until(what string, reached func() bool) {
	f.t.Helper()
	for began := time.Now(); !reached(); time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > testTimeout {
			f.t.Fatal("not reached: " + what)
		}
	}
}

func (f *jobFolder) await(id int64) {
	f.t.Helper()
	f.until("the end of a job", func() bool { job, err := f.store.Get(f.t.Context(), id); return err == nil && job.State.Final() })
}

func (f *jobFolder) output(id int64) (text string) {
	f.t.Helper()
	list, err := f.store.Log(f.t.Context(), id, jobs.Position{})
	if err != nil {
		f.t.Fatal(err)
	}
	for _, b := range list {
		if b.Stream == jobs.StreamOut {
			text += b.Lines
		}
	}
	return text
}

// pid is the process of a job, from the history of runs.
func (f *jobFolder) pid(id int64) int {
	f.t.Helper()
	paths, err := filepath.Glob(filepath.Join(f.dir, ".local", "state", "transect", "runs", "*.json"))
	if err != nil {
		f.t.Fatal(err)
	}
	for _, path := range paths {
		var run struct {
			Run string
			PID int
		}
		if text, err := os.ReadFile(path); err == nil && json.Unmarshal(text, &run) == nil && run.Run == jobs.RunID(id) {
			return run.PID
		}
	}
	f.t.Fatalf("job %d is not in the history", id)
	return 0
}

// lives reports whether a process does anything yet.
func lives(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

func (f *jobFolder) number(name string) (n int) {
	text, _ := os.ReadFile(filepath.Join(f.dir, name)) // there may be none
	_ = json.Unmarshal([]byte(strings.TrimSpace(string(text))), &n)
	return n
}
