package worker_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"

	"transect/runtime/jobs"
	"transect/runtime/jobs/link"
	"transect/runtime/jobs/setting"
	"transect/testdata/jobstest"
)

// roundsVariable is KILLS,STOPS: so many on each database, with the times of users.
const roundsVariable = "TRANSECT_WORKER_ROUNDS"

// victim is a worker process that meets with an accident.
type victim struct {
	kind string // kill, stop, suspend: with its job, as a machine does; cut, hang: a line that is there and says nothing
	cmd  *exec.Cmd
	name string
	job  int64
	line *line
	said *transcript
	at   time.Duration // of the accident
}

// transcript keeps what a worker says.
type transcript struct {
	mu   sync.Mutex
	text strings.Builder
}

func (o *transcript) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

func (o *transcript) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// process starts a worker process.
func process(t *testing.T, c jobs.Config, name string, env ...string) (*exec.Cmd, *transcript) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), asVariable+"=worker", urlVariable+"="+c.URL, stateVariable+"="+c.StateDir, nameVariable+"="+name)
	cmd.Env = append(cmd.Env, env...)
	said := &transcript{}
	cmd.Stderr = said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGCONT)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("worker %s:\n%s", name, said)
		}
	})
	return cmd, said
}

// TestWorkersKilled kills, stops and cuts off workers in the middle of jobs: others
// go on with these, and nothing is done by an old process after the first effect of the
// new one.
func TestWorkersKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it kills workers, and waits for others to take over")
	}
	t.Parallel()
	kills, stops, suspends, cuts, env := 2, 2, 1, 1, []string(nil)
	if text := os.Getenv(roundsVariable); text != "" {
		if _, err := fmt.Sscanf(text, "%d,%d", &kills, &stops); err != nil {
			t.Fatal(err)
		}
		suspends, cuts, env = stops, 5, []string{slowVariable + "=1"}
	}
	jobstest.Each(t, func(t *testing.T, c jobs.Config) {
		t.Parallel()
		through := ""
		if c.URL != "" { // a server that is reached by TCP as well
			cluster := jobstest.NewCluster(t)
			c.URL = cluster.Database(t)
			through = cluster.TCP(c.URL, "")
		}
		var kinds []string
		for range kills {
			kinds = append(kinds, "kill")
		}
		for range stops {
			kinds = append(kinds, "stop")
		}
		for range suspends {
			kinds = append(kinds, "suspend")
		}
		for range cuts {
			if through != "" {
				kinds = append(kinds, "cut", "hang")
			}
		}
		took := map[string][]time.Duration{}
		for wave := range slices.Chunk(kinds, 10) {
			accidents(t, c, through, wave, took, env)
		}
		for kind, all := range took {
			slices.Sort(all)
			t.Logf("%d × %s: taken over after %s to %s, median %s", len(all), kind, round(all[0]), round(all[len(all)-1]), round(all[len(all)/2]))
		}
	})
}

func round(d time.Duration) time.Duration { return d.Round(10 * time.Millisecond) }

// accidents happen to workers at the same time, one for each kind.
func accidents(t *testing.T, c jobs.Config, through string, kinds []string, took map[string][]time.Duration, env []string) {
	store := jobstest.Open(t, c)
	work := t.TempDir()
	var victims []*victim
	var queues []string
	for i, kind := range kinds {
		v := &victim{kind: kind, name: fmt.Sprintf("victim-%d-%d", time.Now().UnixNano(), i)}
		reach := c
		if kind == "cut" || kind == "hang" {
			v.line = newLine(t, through)
			reach.URL = strings.Replace(through, v.line.target, v.line.address, 1)
		}
		v.cmd, v.said = process(t, reach, v.name, env...)
		v.job = submit(t, store, jobs.Spec{Script: "effects", Settings: setting.Settings{Queue: v.name}}, work)
		victims, queues = append(victims, v), append(queues, v.name)
	}
	first := map[int64]int{} // the first process of each job
	for _, v := range victims {
		become(t, store, v.job, func(j *jobs.Job) bool { return j.State == jobs.Running })
		waitFor(t, func() bool {
			i := slices.IndexFunc(readEffects(t, work), func(d effect) bool { return d.job == v.job })
			if i >= 0 {
				first[v.job] = readEffects(t, work)[i].pid
			}
			return i >= 0
		})
	}
	for i := range 2 {
		heir, _ := process(t, c, fmt.Sprintf("heir-%d,%s", i, strings.Join(queues, ",")), env...)
		defer func() { _ = heir.Process.Signal(syscall.SIGTERM) }()
	}
	waitFor(t, func() bool {
		list, err := store.Workers(t.Context(), false)
		n := 0
		for _, w := range list {
			if slices.Contains(w.Queues, queues[0]) && strings.HasPrefix(w.Name, "heir") {
				n++
			}
		}
		return err == nil && n == 2
	})
	time.Sleep(timesOf(env).Lease) // until they may declare others dead
	for _, v := range victims {
		v.at = link.Now()
		switch v.kind {
		case "kill":
			_ = v.cmd.Process.Kill()
		case "stop":
			_ = v.cmd.Process.Signal(syscall.SIGSTOP)
		case "suspend":
			_ = v.cmd.Process.Signal(syscall.SIGSTOP)
			_ = syscall.Kill(-first[v.job], syscall.SIGSTOP)
		case "cut":
			v.line.cut()
		case "hang":
			v.line.hang(t)
		}
	}
	for _, v := range victims {
		waitFor(t, func() bool {
			return slices.ContainsFunc(readEffects(t, work), func(d effect) bool { return d.job == v.job && d.pid != first[v.job] })
		})
	}
	all, err := store.Workers(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range all {
		if slices.Contains(queues, w.Name) && !w.Died { // those of earlier waves came back, and left
			t.Errorf("the worker %s is told to have left", w.Name)
		}
	}
	for _, v := range victims {
		switch v.kind {
		case "stop":
			_ = v.cmd.Process.Signal(syscall.SIGCONT)
		case "suspend":
			_ = syscall.Kill(-first[v.job], syscall.SIGCONT)
			time.Sleep(10 * time.Millisecond) // it runs alone for a moment
			_ = v.cmd.Process.Signal(syscall.SIGCONT)
		case "cut", "hang":
			v.line.mend()
		}
	}
	for _, v := range victims { // they come back, as other workers
		if v.kind != "kill" {
			waitFor(t, func() bool { return strings.Contains(v.said.String(), "continues with new jobs") })
			waitFor(t, func() bool { return !alive(first[v.job]) })
		}
	}
	touch(t, work, "finish")
	for _, v := range victims {
		if job := ended(t, store, v.job); job.State != jobs.Done {
			t.Errorf("%s: %+v", v.kind, job)
		}
		if list := attempts(t, store, v.job); list[0] != "lost" || list[len(list)-1] != "done" {
			t.Errorf("%s: attempts %v", v.kind, list)
		}
		took[v.kind] = append(took[v.kind], takenOver(t, readEffects(t, work), v))
		if v.kind != "kill" {
			_ = v.cmd.Process.Signal(syscall.SIGTERM)
			_ = v.cmd.Wait()
		}
	}
}

// takenOver checks that the processes of a job did not overlap, and returns how long
// after the accident the second one began.
func takenOver(t *testing.T, effects []effect, v *victim) (after time.Duration) {
	t.Helper()
	var processes []int
	for _, d := range effects {
		if d.job != v.job {
			continue
		}
		switch n := slices.Index(processes, d.pid); {
		case n < 0:
			if processes = append(processes, d.pid); len(processes) == 2 {
				after = d.at - v.at
			}
		case n != len(processes)-1:
			t.Errorf("%s: process %d of job %d did something after its successor had begun", v.kind, d.pid, d.job)
		}
	}
	return after
}

func waitFor(t *testing.T, ok func() bool) {
	t.Helper()
	for began := time.Now(); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Since(began) > patience {
			t.Fatal("it does not happen")
		}
	}
}

// line is a way to a server that can be cut.
type line struct {
	target, address string
	proxy           *toxiproxy.Proxy
}

func newLine(t *testing.T, through string) *line {
	t.Helper()
	_, rest, _ := strings.Cut(through, "@")
	target, _, _ := strings.Cut(rest, "/")
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	_ = free.Close()
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	l := &line{target: target, address: address, proxy: toxiproxy.NewProxy(server, "line", address, target)}
	l.mend()
	t.Cleanup(l.cut)
	return l
}

func (l *line) cut() { l.proxy.Stop() }

func (l *line) hang(t *testing.T) {
	for _, way := range []string{"upstream", "downstream"} {
		toxic := fmt.Sprintf(`{"name": "%s", "type": "timeout", "stream": "%s", "attributes": {"timeout": 0}}`, way, way)
		if _, err := l.proxy.Toxics.AddToxicJson(strings.NewReader(toxic)); err != nil {
			t.Error(err)
		}
	}
}

func (l *line) mend() {
	l.proxy.Toxics.ResetToxics(context.Background())
	_ = l.proxy.Start() // it may be there
}

// Jobs survive a restart of PostgreSQL: what runs goes on, what ended meanwhile is
// noted. With the times of users it is away for a minute.
func TestDatabaseKilledAndRestarted(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it kills workers, and waits for others to take over")
	}
	t.Parallel()
	cluster := jobstest.NewCluster(t)
	c := jobs.Config{URL: cluster.Database(t), StateDir: t.TempDir()}
	store := jobstest.Open(t, c)
	away, env := 2*quick.Lease, []string(nil)
	if os.Getenv(roundsVariable) != "" {
		away, env = time.Minute, []string{slowVariable + "=1"}
	}
	for i := range 2 {
		process(t, c, fmt.Sprintf("worker-%d", i), env...)
	}
	long, short := t.TempDir(), t.TempDir()
	goesOn, ends := submit(t, store, jobs.Spec{Script: "effects"}, long), submit(t, store, jobs.Spec{Script: "effects"}, short)
	waitFor(t, func() bool { return len(readEffects(t, long)) > 0 && len(readEffects(t, short)) > 0 })
	if err := cluster.Stop(); err != nil {
		t.Fatal(err)
	}
	touch(t, short, "finish")
	time.Sleep(away)
	before := readEffects(t, long)
	if now := readEffects(t, long); len(now) != len(before) || link.Now()-now[len(now)-1].at < away/3 {
		t.Error("the job did not wait while nobody could know whether its worker lives")
	}
	if err := cluster.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return len(readEffects(t, long)) > len(before) })
	touch(t, long, "finish")
	for _, id := range []int64{goesOn, ends} {
		job := ended(t, store, id)
		if list := attempts(t, store, id); job.State != jobs.Done || !slices.Equal(list, []string{"done"}) {
			t.Errorf("%s, attempts %v", job.State, list)
		}
	}
}

// systemd tells all processes of a service to end at once, in any order: the jobs of a
// worker are released. A job that somebody else ends is tried again, as often as it may.
func TestToldToEnd(t *testing.T) {
	t.Parallel()
	jobstest.EachStore(t, func(t *testing.T, store *jobs.Store) {
		t.Parallel()
		const n = 10
		o := options(t.TempDir(), "first", slog.DiscardHandler)
		o.Slots = n + 1
		first := run(t, store, o)
		finish := filepath.Join(t.TempDir(), "finish")
		var ids []int64
		for range n {
			ids = append(ids, submit(t, store, jobs.Spec{Script: "told"}, finish))
		}
		process := func(id int64) (pid int) {
			t.Helper()
			become(t, store, id, func(*jobs.Job) bool {
				var err error
				pid, err = strconv.Atoi(strings.TrimSpace(output(t, store, id)))
				return err == nil
			})
			return pid
		}
		var pids []int
		for _, id := range ids {
			pids = append(pids, process(id))
		}
		for i, pid := range pids {
			if i == n/2 {
				go first.stop()
			}
			if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
				t.Error(err)
			}
		}
		for _, id := range ids {
			become(t, store, id, func(j *jobs.Job) bool { return j.State == jobs.Waiting })
			if list := attempts(t, store, id); !slices.Equal(list, []string{"released"}) {
				t.Errorf("job %d: %v", id, list)
			}
		}
		o.Folder = filepath.Join(t.TempDir(), "jobs")
		run(t, store, o)
		failed := submit(t, store, jobs.Spec{Script: "told", Settings: setting.Settings{Retries: 0}}, finish)
		if err := syscall.Kill(process(failed), syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		if job := ended(t, store, failed); job.State != jobs.Failed || *job.ExitCode != 143 {
			t.Errorf("%+v", job)
		}
		touch(t, filepath.Dir(finish), "finish")
		for _, id := range ids {
			if job := ended(t, store, id); job.State != jobs.Done || job.Tries != 0 {
				t.Errorf("%+v", job)
			}
		}
	})
}
