package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"transect/runtime/jobs"
	"transect/testdata/flightgen"
	"transect/testdata/jobstest"
)

// writesSlowly makes ten projects, one after the other.
const writesSlowly = `local sdk, time = require("sdk"), require("time")
local company = sdk.users.describe().company
for i = 1, 10 do
  sdk.projects.create{ name = arg[1] .. "-" .. i, company = company }
  time.sleep(0.04)
end`

// A service manager ends a worker with all processes of its jobs (systemd's
// KillMode=control-group): each gets SIGTERM, in any order, and what is left after ten
// seconds SIGKILL. However often, no job fails, and nothing is written twice.
// TRANSECT_SURVIVE_KILLS is the number of stops.
func TestServiceStopsAndStarts(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it stops workers again and again")
	}
	t.Parallel()
	stops := 6
	if n, err := strconv.Atoi(os.Getenv("TRANSECT_SURVIVE_KILLS")); err == nil {
		stops = n
	}
	jobstest.Each(t, func(t *testing.T, c jobs.Config) {
		t.Parallel()
		h := newHome(t, 0, flightgen.Options{})
		if h.settings = []string{"TRANSECT_STATE_DIR=" + filepath.Join(h.dir, "state")}; c.URL != "" {
			h.settings = append(h.settings, "TRANSECT_JOBS="+c.URL)
		}
		h.file("slow.lua", writesSlowly)
		store := jobstest.Open(t, jobs.Config{URL: c.URL, StateDir: filepath.Join(h.dir, "state")})
		var said bytes.Buffer
		count := 3 * stops
		for i := range count {
			h.must("submit", "--local", "slow.lua", fmt.Sprint("p", i))
		}
		left := func() (n int) {
			list, err := store.Open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return list[jobs.DefaultQueue].All()
		}
		stopped := 0
		for ; left() > 0; stopped++ {
			worker := h.command("worker", "--name", "service", "--slots", "4")
			worker.Stderr = &said
			if err := worker.Start(); err != nil {
				t.Fatal(err)
			}
			if stopped < stops {
				time.Sleep(time.Duration(200+rand.IntN(400)) * time.Millisecond)
			} else {
				for left() > 0 {
					time.Sleep(50 * time.Millisecond)
				}
			}
			stopService(t, worker)
		}
		list, err := store.List(context.Background(), jobs.Filter{})
		if err != nil || len(list) != count {
			t.Fatal(len(list), err)
		}
		for _, j := range list {
			if j.State != jobs.Done || j.Tries != 0 {
				t.Errorf("job %d: %s after %d tries", j.ID, j.Describe(), j.Tries)
			}
		}
		h.file("names.lua", `for p in require("sdk").projects.search_generator{} do print(p.name) end`)
		names := strings.Fields(h.must("run", "--local", "names.lua"))
		slices.Sort(names)
		names = slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, "p") || !strings.Contains(name, "-") })
		if once := slices.Compact(slices.Clone(names)); len(names) != 10*count || len(once) != len(names) {
			t.Errorf("%d projects with %d names, want %d", len(names), len(once), 10*count)
		}
		if t.Failed() {
			t.Logf("the workers said\n%s", &said)
		}
		t.Logf("%d stops, %d jobs", stopped, count)
	})
}

// stopService ends a process and its descendants as a service manager does.
func stopService(t *testing.T, main *exec.Cmd) {
	t.Helper()
	all := append(descendants(main.Process.Pid), main.Process.Pid)
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for _, pid := range all {
		_ = syscall.Kill(pid, syscall.SIGTERM) // it may have ended
	}
	ended := make(chan error, 1)
	go func() { ended <- main.Wait() }()
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		for _, pid := range append(descendants(main.Process.Pid), main.Process.Pid) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		<-ended
	}
}

func descendants(pid int) (all []int) {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, path := range tasks {
		text, _ := os.ReadFile(path) // it may have ended
		for _, child := range strings.Fields(string(text)) {
			if n, err := strconv.Atoi(child); err == nil {
				all = append(all, n)
				all = append(all, descendants(n)...)
			}
		}
	}
	return all
}
