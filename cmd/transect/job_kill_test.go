//go:build unix

package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"transect/runtime/jobs"
	"transect/runtime/jobs/link"
	"transect/testdata/flightgen"
	"transect/testdata/jobstest"
)

// attempt is a start of a job's run, as a worker makes it.
type attempt struct {
	cmd    *exec.Cmd
	out    strings.Builder
	link   *link.Worker
	served chan error
	lapse  func() // ends the renewal of its lease and waits until that is over
}

// beginAttempt starts a job on a machine, and renews its lease. The attempt before,
// if any, has not said that it ended.
func beginAttempt(t *testing.T, s *jobs.Store, job int64, machine *home, args ...string) *attempt {
	t.Helper()
	const lease = 4 * time.Second
	a := beginLeased(t, s, job, machine, link.Now()+lease, args...)
	renewing, stop := context.WithCancel(t.Context())
	until := make(chan time.Duration, 1) // end of the lease, when it is not renewed any more
	go func() {
		for {
			end := link.Now() + lease
			_ = a.link.Lease(end) // it may have ended
			select {
			case <-time.After(lease / 20):
			case <-renewing.Done():
				until <- end
				return
			}
		}
	}()
	a.lapse = func() {
		stop()
		time.Sleep(<-until - link.Now())
	}
	t.Cleanup(stop)
	return a
}

func beginLeased(t *testing.T, s *jobs.Store, job int64, machine *home, until time.Duration, args ...string) *attempt {
	t.Helper()
	var epoch int64
	if err := s.DB().QueryRow("update tr_job set epoch = epoch + 1 where job_id = $1 returning epoch", job).Scan(&epoch); err != nil {
		t.Fatal(err)
	}
	a := &attempt{cmd: machine.command(append([]string{"run"}, args...)...), served: make(chan error, 1)}
	a.cmd.Stdout, a.cmd.Stderr = &a.out, &a.out
	var err error
	if a.link, err = link.Attach(a.cmd); err != nil {
		t.Fatal(err)
	}
	if err := a.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	begin := link.Begin{Run: jobs.RunID(job), Job: job, Until: until, TakenOver: epoch > 1}
	go func() {
		a.served <- a.link.Serve(context.Background(), begin, s.Answers(context.Background(), job, epoch, func() {}, jobs.Patience{Try: time.Minute, Moved: func() {}}))
	}()
	t.Cleanup(func() { _ = a.cmd.Process.Kill() })
	return a
}

// end waits for the end of the process.
func (a *attempt) end(t *testing.T) error {
	t.Helper()
	err := a.cmd.Wait()
	if err := <-a.served; err != nil {
		t.Errorf("the link: %v", err)
	}
	_ = a.link.Close()
	return err
}

// machines are homes that share a platform and nothing else.
func machines(t *testing.T, platform string, s served, script string) (both [2]*home) {
	for n := range both {
		both[n] = newHome(t, 0, flightgen.Options{})
		both[n].settings = []string{"TRANSECT_URL=" + platform, "TRANSECT_USER=" + s.User, "TRANSECT_PASSWORD=" + s.Password,
			"TRANSECT_CLIENT_ID=" + s.ClientID, "TRANSECT_CLIENT_SECRET=" + s.ClientSecret, "TRANSECT_SETTLE=500ms"}
		both[n].file("job.lua", plainHead+script)
		both[n].file("census.lua", census)
	}
	return both
}

// A job that is killed, or stopped and taken over, goes on on another machine:
// there is as much as after an undisturbed run.
func TestJobsKilledGoOnElsewhere(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it starts some thirty processes")
	}
	t.Parallel()
	host := newHome(t, 0, flightgen.Options{})
	host.settings = []string{"TRANSECT_LOCAL_DIR=" + filepath.Join(host.dir, "served")}
	platform := serve(t, host)
	jobstest.EachStore(t, func(t *testing.T, s *jobs.Store) {
		for _, name := range []string{"loop", "tasks", "uploads"} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				script := plainScripts[slices.IndexFunc(plainScripts, func(s struct{ name, code string }) bool { return s.name == name })]
				proxy := newAssassin(t, platform.URL)
				both := machines(t, proxy.URL, platform, script.code)
				tag := strings.NewReplacer("/", "-", " ", "").Replace(t.Name()) + "-"
				list := func(tag string) []string {
					return strings.Split(strings.TrimSpace(both[0].must("run", "census.lua", tag)), "\n")
				}
				both[0].must("run", "job.lua", "calm-"+tag, "2")
				calm, writes := list("calm-"+tag), proxy.writes()
				job, err := s.Submit(t.Context(), jobs.Spec{Script: "job.lua"})
				if err != nil {
					t.Fatal(err)
				}
				starts, stopped := 1, (*attempt)(nil)
				for n, phase := range []int{1, 2, 3} { // the third is stopped, not killed
					hit := make(chan struct{})
					var a *attempt
					started := make(chan struct{})
					proxy.begin(1+writes/4/(n+1), phase, func() {
						<-started
						if n == 2 {
							_ = a.cmd.Process.Signal(syscall.SIGSTOP)
						} else {
							_ = a.cmd.Process.Kill()
						}
						close(hit)
					})
					starts++
					a = beginAttempt(t, s, job, both[n%2], "job.lua", tag, "2")
					close(started)
					over := make(chan error, 1)
					if n < 2 {
						go func() { over <- a.end(t) }()
					} else {
						go func() { over <- <-a.served }()
					}
					select {
					case <-hit:
					case err := <-over: // tasks side by side may have written all before
						if err == nil {
							if n == 2 {
								_ = a.cmd.Wait()
							}
							continue
						}
						select {
						case <-hit: // its end was seen first
							over <- err
						case <-time.After(10 * time.Second):
							t.Fatalf("attempt %d: %v\n%s", n+1, err, a.out.String())
						}
					}
					if n == 2 {
						stopped, a.served = a, over
					} else if err := <-over; err == nil {
						t.Error("a killed attempt ended well")
					}
				}
				proxy.begin(0, 0, nil)
				if stopped != nil {
					stopped.lapse() // no job is taken over before
				}
				last := beginAttempt(t, s, job, both[1], "job.lua", tag, "2")
				if err := last.end(t); err != nil {
					t.Fatalf("the last attempt: %v\n%s", err, last.out.String())
				}
				said := last.out.String()
				endedBefore := strings.Contains(said, fmt.Sprintf("the run job-%d ended well before", job))
				if stopped != nil {
					_ = stopped.cmd.Process.Signal(syscall.SIGCONT)
					// Its ledger tells it, or it ends by itself past its lease, unless it noted its
					// end before the signal arrived: the last attempt has read that.
					if err := stopped.end(t); err == nil && !endedBefore {
						t.Errorf("the stopped attempt went on:\n%s", stopped.out.String())
					}
				}
				if more, less := differences(calm, list(tag)); len(more)+len(less) > 0 {
					t.Errorf("too much: %q, missing: %q\n%s", more, less, last.out.String())
				}
				// One that is killed once it has noted its end has ended well.
				if !endedBefore && !strings.Contains(said, fmt.Sprintf("start %d of the run job-%d", starts, job)) {
					t.Errorf("the last attempt does not say that it goes on:\n%s", last.out.String())
				}
			})
		}
	})
}

// A process past its lease sends nothing: neither to the platform nor elsewhere. It
// goes on when the lease is renewed.
func TestNothingIsSentPastTheLease(t *testing.T) {
	t.Parallel()
	var requests atomic.Int64
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		w.WriteHeader(http.StatusTeapot)
	}))
	defer site.Close()
	s := jobstest.Open(t, jobs.Config{StateDir: t.TempDir()})
	job, err := s.Submit(t.Context(), jobs.Spec{Script: "job.lua"})
	if err != nil {
		t.Fatal(err)
	}
	h := newHome(t, 0, flightgen.Options{})
	h.settings = []string{"TRANSECT_URL=" + site.URL, "TRANSECT_USER=u", "TRANSECT_PASSWORD=p", "TRANSECT_CLIENT_ID=c", "TRANSECT_CLIENT_SECRET=s"}
	h.file("job.lua", `
local task, fs, http = require("task"), require("fs"), require("http")
local elsewhere = task.spawn(function() return pcall(http.post, arg[1], { body = "x" }) end)
fs.write("begun", "")
pcall(function() require("sdk").users.describe() end)
elsewhere:await()`)
	a := beginLeased(t, s, job, h, link.Now()-1, "job.lua", site.URL)
	for began := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(h.dir, "begun")); err == nil {
			break
		}
		if time.Since(began) > testTimeout {
			t.Fatal("the script did not begin")
		}
	}
	time.Sleep(50 * time.Millisecond) // what it would send is sent by now
	if n := requests.Load(); n != 0 {
		t.Errorf("%d requests were sent past the lease", n)
	}
	if err := a.link.Lease(link.Now() + time.Hour); err != nil {
		t.Fatal(err)
	}
	if err := a.end(t); err != nil || requests.Load() < 2 {
		t.Errorf("after the renewal: %v, %d requests\n%s", err, requests.Load(), a.out.String())
	}
}
