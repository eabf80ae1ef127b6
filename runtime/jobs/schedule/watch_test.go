package schedule

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"transect/runtime/jobs"
	"transect/runtime/jobs/setting"
	"transect/runtime/sandbox"
	"transect/runtime/timetable"
	"transect/runtime/unattended/notice"
	"transect/testdata/jobstest"
)

// receiver keeps what it is sent: path and body.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	got    []string
	broken bool
}

func newReceiver(t testing.TB) *receiver {
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.broken {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		r.got = append(r.got, q.URL.Path+" "+string(body))
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

func (r *receiver) fail(broken bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.broken = broken
}

// sender is a worker that sends notices.
func sender(t testing.TB, store *jobs.Store, o Options) *runner {
	if o.Sender == nil {
		o.Sender = &notice.Sender{Env: func(name string) (string, bool) {
			value, ok := os.LookupEnv(name)
			return value, ok && !strings.Contains(strings.ToLower(name), "proxy")
		}, Environ: []string{"PATH=" + os.Getenv("PATH")}, Dir: t.TempDir(), Host: "alpha"}
	}
	if o.Warn == nil {
		o.Warn = func(text string) { t.Error(text) }
	}
	return newRunner(store, o, 0)
}

// pass lets workers look, together, and waits until what they send was sent.
func pass(t testing.TB, workers ...*runner) {
	t.Helper()
	var all sync.WaitGroup
	for _, r := range workers {
		all.Go(func() {
			r.watchFrom = time.Time{}
			if _, err := r.pass(t.Context(), t.Context()); err != nil {
				t.Error(err)
			}
			r.sending.Wait()
		})
	}
	all.Wait()
}

func submit(t testing.TB, store *jobs.Store, spec jobs.Spec) int64 {
	t.Helper()
	spec.Script = "survey.lua"
	id, err := store.Submit(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func start(t testing.TB, store *jobs.Store, id int64) {
	t.Helper()
	for _, statement := range []string{"update river_job set state = 'running' where id = $1", "update tr_job set started_at = " + store.Now + " where job_id = $1",
		"insert into tr_run (job_id, attempt, epoch, worker_id, worker, started_at) values ($1, 1, 1, 'w', 'alpha', " + store.Now + ")",
		"insert into tr_log (run_id, seq, at, stream, lines) select max(id), 1, 0, 'out', 'first' || chr || 'last' || chr from tr_run, (select cast('\n' as text) as chr) c where job_id = $1 group by chr"} {
		if _, err := store.DB().Exec(statement, id); err != nil {
			t.Fatal(statement, err)
		}
	}
}

// Four workers tell once of each job, in the way that its submitter asked for.
func TestTold(t *testing.T) {
	t.Parallel()
	jobstest.Each(t, func(t *testing.T, c jobs.Config) {
		store, web, file := jobstest.Open(t, c), newReceiver(t), filepath.Join(t.TempDir(), "told")
		careful := sender(t, jobstest.Open(t, c), Options{Warn: func(text string) {
			if !strings.Contains(text, "is left to other workers: the script may not notify { echo") {
				t.Error(text)
			}
		}})
		policy := sandbox.NewPolicy(sandbox.Rules{Allow: sandbox.List{sandbox.Notify: {web.URL}}}, "", false)
		careful.Sender.Permit = func(what string) error { return policy.Permit(sandbox.Notify, what) }
		workers := []*runner{sender(t, store, Options{}), sender(t, store, Options{}), sender(t, jobstest.Open(t, c), Options{}), careful}
		failed := submit(t, store, jobs.Spec{Args: []string{"7"}, Settings: setting.Settings{OnFailure: web.URL + "/hook", Ping: web.URL + "/monitor"}})
		command := submit(t, store, jobs.Spec{Settings: setting.Settings{OnFailure: `{ echo "$TRANSECT_JOBS$TRANSECT_JOB $TRANSECT_EXIT_CODE $TRANSECT_OUTCOME $TRANSECT_ERROR"; cat; } >>` + file}})
		fine := submit(t, store, jobs.Spec{Settings: setting.Settings{OnFailure: web.URL + "/hook", Ping: web.URL + "/fine"}})
		stopped := submit(t, store, jobs.Spec{Settings: setting.Settings{OnFailure: web.URL + "/hook", Ping: web.URL + "/cancelled"}})
		removed := submit(t, store, jobs.Spec{Settings: setting.Settings{OnFailure: web.URL + "/hook"}})
		submit(t, store, jobs.Spec{})
		for _, id := range []int64{failed, command, fine} {
			start(t, store, id)
		}
		if err := store.Cancel(t.Context(), stopped); err != nil {
			t.Fatal(err)
		}
		if err := store.Remove(t.Context(), removed); err != nil {
			t.Fatal(err)
		}
		pass(t, workers...)
		finish(t, store, failed, jobs.Failed, 1)
		finish(t, store, command, jobs.NeedsDecision, 7)
		finish(t, store, fine, jobs.Done, 0)
		for range 3 {
			pass(t, workers...)
		}
		got := web.all()
		count := func(part string) (n int) {
			for _, text := range got {
				if strings.HasPrefix(text, part) {
					n++
				}
			}
			return n
		}
		if len(got) != 6 || count("/hook ") != 1 || count("/monitor/start ") != 1 || count("/monitor/1 ") != 1 || count("/fine/start ") != 1 || count("/fine ") != 1 || count("/cancelled/log ") != 1 {
			t.Errorf("%q", got)
		}
		for _, text := range got {
			body, isHook := strings.CutPrefix(text, "/hook ")
			if !isHook {
				continue
			}
			var fields struct {
				Text, Script, Run, Host, Outcome string
				Exit                             int `json:"exit_code"`
				Job                              int64
			}
			if err := json.Unmarshal([]byte(body), &fields); err != nil || fields.Job != failed || fields.Exit != 1 || fields.Outcome != "failed" || fields.Run != jobs.RunID(failed) || fields.Host != "alpha" ||
				fields.Text != fmt.Sprintf("job %d (survey.lua 7) failed on alpha: exit code 1 (failed)\nfirst\nlast\n", failed) {
				t.Errorf("%s %v", body, err)
			}
		}
		if text, err := os.ReadFile(file); err != nil || string(text) != fmt.Sprintf("%d 7 needs a decision boom\nfirst\nlast\n", command) {
			t.Errorf("%q %v", text, err)
		}
		var left int
		if err := store.DB().QueryRow("select (select count(*) from tr_watch) + (select count(*) from tr_notice)").Scan(&left); err != nil || left != 0 {
			t.Errorf("%d rows are left, %v", left, err)
		}
	})
}

// A job that does not start is told of, with the reason.
func TestLateJob(t *testing.T) {
	t.Parallel()
	jobstest.EachStore(t, func(t *testing.T, store *jobs.Store) {
		web := newReceiver(t)
		r := sender(t, store, Options{})
		late := submit(t, store, jobs.Spec{Settings: setting.Settings{OnFailure: web.URL, Late: time.Minute, Queue: "gpu"}})
		busy := submit(t, store, jobs.Spec{Settings: setting.Settings{OnFailure: web.URL, Late: time.Minute}})
		later := submit(t, store, jobs.Spec{In: time.Hour, Settings: setting.Settings{OnFailure: web.URL, Late: time.Minute}})
		started := submit(t, store, jobs.Spec{Settings: setting.Settings{OnFailure: web.URL, Late: time.Minute}})
		start(t, store, started)
		if _, err := store.DB().Exec("insert into tr_worker (id, name, host, pid, queues, slots, started_at, lease_until) values ('w', 'alpha', 'alpha', 1, 'default,alpha', 1, 0, " + store.Now + " + 10000000)"); err != nil {
			t.Fatal(err)
		}
		pass(t, r)
		r.clock = fmt.Sprintf("(%s + 61000)", store.Now)
		for range 2 {
			pass(t, r)
		}
		got := strings.Join(web.all(), "\n")
		for _, want := range []string{fmt.Sprintf("job %d (survey.lua) is late: it has not started within 1m0s of its time: no worker serves the queue gpu", late),
			fmt.Sprintf("job %d (survey.lua) is late: it has not started within 1m0s of its time: all workers of the queue default are busy", busy)} {
			if !strings.Contains(got, want) {
				t.Errorf("%s\nwant %s", got, want)
			}
		}
		if n := strings.Count(got, "is late"); n != 2 || strings.Contains(got, fmt.Sprintf("job %d ", later)) || strings.Contains(got, fmt.Sprintf("job %d ", started)) {
			t.Error(got)
		}
	})
}

// A schedule that did not fire is told of, as is one whose job does not end.
func TestLateSchedule(t *testing.T) {
	t.Parallel()
	jobstest.EachStore(t, func(t *testing.T, store *jobs.Store) {
		web := newReceiver(t)
		b := newBench(t, store, func(s *Schedule) {
			s.Spec.OnFailure, s.Spec.Late = web.URL, 15*time.Minute
		})
		b.r.Sender = sender(t, store, Options{}).Sender
		first := b.get().Next
		hours := func(n float64) time.Time { return first.Add(time.Duration(n * float64(time.Hour))) }
		for _, c := range []struct {
			at   time.Time
			want string
		}{
			{hours(0.1), ""},
			{hours(2.5), "2 slots since " + hours(1).UTC().Format(showSlot) + " were not fired in time: no worker was running for 1h30m; the newer one is due now, the other is left out"},
			{hours(3), ""}, // skipped: the job runs
			{hours(3.2), ""},
			{hours(3.3), "later slots do not start: job 2 of the slot of " + hours(2).UTC().Format(showSlot) + " has not ended"},
			{hours(4), ""},
			{hours(5), ""},
		} {
			if c.at.Equal(hours(2.5)) {
				b.end(jobs.Done, 0)
			}
			before := len(web.all())
			b.at(c.at)
			b.at(c.at.Add(time.Second))
			b.r.sending.Wait()
			got := slices.DeleteFunc(web.all()[before:], func(text string) bool { return !strings.Contains(text, "schedule hourly: ") }) // of the job: its own clock is that of the database
			if c.want == "" && len(got) != 0 || c.want != "" && (len(got) != 1 || !strings.Contains(got[0], "schedule hourly: "+c.want) || !strings.Contains(got[0], `"outcome":"late"`)) {
				t.Errorf("after %s: %q, want %q", c.at.Sub(first), got, c.want)
			}
		}
	})
}

// Slots that are left out are told of once, however short the time without workers was.
func TestMissedShortly(t *testing.T) {
	t.Parallel()
	jobstest.EachStore(t, func(t *testing.T, store *jobs.Store) {
		for _, c := range []struct {
			expr, catchUp string
			at            time.Duration
			want          string
		}{
			{"* * * * *", timetable.Last, 210 * time.Second, "3 slots since %s were not fired in time: no worker was running for 2m30s; the newest is due now, the others are left out"},
			{"*/10 * * * *", timetable.None, 16 * time.Minute, "the slot of %s was not fired in time: no worker was running for 6m; it is left out"},
			{"*/10 * * * *", timetable.None, 14 * time.Minute, ""}, // in time
			{"*/10 * * * *", timetable.Last, 16 * time.Minute, ""}, // it is due now
		} {
			web := newReceiver(t)
			b := newBench(t, store, func(s *Schedule) {
				s.Expr, s.CatchUp, s.Spec.OnFailure, s.Spec.Late = c.expr, c.catchUp, web.URL, 15*time.Minute
			})
			b.r.Sender = sender(t, store, Options{}).Sender
			first := b.get().Next
			b.at(first)
			b.end(jobs.Done, 0)
			second := b.get().Next
			for range 2 {
				b.at(first.Add(c.at))
				b.r.sending.Wait()
			}
			got := slices.DeleteFunc(web.all(), func(text string) bool { return !strings.Contains(text, "schedule hourly: ") })
			want := strings.ReplaceAll(c.want, "%s", second.UTC().Format(showSlot))
			if want == "" && len(got) != 0 || want != "" && (len(got) != 1 || !strings.Contains(got[0], want)) {
				t.Errorf("%s, %s: %q, want %q", c.expr, c.catchUp, got, want)
			}
			if err := Remove(t.Context(), store, "hourly"); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// A schedule that cannot be told of is reported, and does not keep others from being told of.
func TestNoticeNotWritten(t *testing.T) {
	t.Parallel()
	jobstest.EachStore(t, func(t *testing.T, store *jobs.Store) {
		b := newBench(t, store, func(s *Schedule) { s.Spec.OnFailure, s.Spec.Late = "true", time.Minute })
		first := b.get().Next
		b.at(first)
		b.at(first.Add(time.Hour)) // skipped
		if _, err := store.DB().Exec("update tr_schedule set zone = 'Mars/Olympus', paused = 1"); err != nil {
			t.Fatal(err)
		}
		if _, err := store.DB().Exec("update tr_fired set state = 'waiting' where how = 'skipped'"); err != nil {
			t.Fatal(err)
		}
		var warned []string
		b.r.Warn = func(text string) { warned = append(warned, text) }
		for range 2 {
			b.at(first.Add(2 * time.Hour))
		}
		if len(warned) != 1 || !strings.Contains(warned[0], "the notice about the schedule hourly was not written") || !strings.Contains(warned[0], "Mars/Olympus") {
			t.Errorf("%q", warned)
		}
	})
}

// A notice that cannot be sent is tried again, also when its sender was killed.
func TestToldAgain(t *testing.T) {
	t.Parallel()
	jobstest.EachStore(t, func(t *testing.T, store *jobs.Store) {
		web := newReceiver(t)
		web.fail(true)
		var warned []string
		first := sender(t, store, Options{Warn: func(text string) { warned = append(warned, text) }})
		id := submit(t, store, jobs.Spec{Settings: setting.Settings{OnFailure: web.URL + "/secret"}})
		finish(t, store, id, jobs.Failed, 1)
		pass(t, first)
		if len(warned) != 1 || !strings.Contains(warned[0], fmt.Sprintf("the notice about job %d (survey.lua) was not sent and will be retried", id)) || strings.Contains(warned[0], "secret") {
			t.Errorf("%q", warned)
		}
		web.fail(false)
		second, third := sender(t, store, Options{}), sender(t, store, Options{})
		ahead := func(d time.Duration) {
			second.clock = fmt.Sprintf("(%s + %d)", store.Now, d.Milliseconds())
			third.clock = second.clock
		}
		pass(t, second)
		if got := web.all(); len(got) != 0 {
			t.Errorf("it was sent again at once: %q", got)
		}
		ahead(2 * time.Minute)
		if n, err := second.claim(t.Context()); err != nil || n == nil { // and is killed
			t.Fatal(n, err)
		}
		pass(t, second)
		if got := web.all(); len(got) != 0 {
			t.Errorf("two sent it: %q", got)
		}
		ahead(4 * time.Minute)
		pass(t, second, third)
		if got := web.all(); len(got) != 1 {
			t.Errorf("%q", got)
		}
	})
}

// The address may be a variable of the worker, so that it is not in the database.
func TestTargetOfTheWorker(t *testing.T) {
	t.Parallel()
	store, web := jobstest.Open(t, jobs.Config{StateDir: t.TempDir()}), newReceiver(t)
	env := func(name string) (string, bool) { return web.URL + "/hook", name == "OPS_HOOK" }
	var warned []string
	without := sender(t, store, Options{Sender: &notice.Sender{Env: func(string) (string, bool) { return "", false }}, Warn: func(text string) { warned = append(warned, text) }})
	finish(t, store, submit(t, store, jobs.Spec{Settings: setting.Settings{OnFailure: "env:OPS_HOOK"}}), jobs.Failed, 1)
	pass(t, without)
	if len(warned) != 1 || !strings.Contains(warned[0], "the variable OPS_HOOK is not set on this worker; set it to a command or a URL") {
		t.Errorf("%q", warned)
	}
	with := sender(t, store, Options{Sender: &notice.Sender{Env: env}})
	with.clock = fmt.Sprintf("(%s + 120000)", store.Now)
	pass(t, with)
	if got := web.all(); len(got) != 1 || !strings.HasPrefix(got[0], "/hook ") {
		t.Errorf("%q", got)
	}
}

// A worker that stops gives a notice in hand back.
func TestStopWhileSending(t *testing.T) {
	t.Parallel()
	store := jobstest.Open(t, jobs.Config{StateDir: t.TempDir()})
	asked, answer := make(chan struct{}), make(chan struct{})
	web := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { close(asked); <-answer }))
	defer web.Close()
	defer close(answer)
	r := sender(t, store, Options{Sender: &notice.Sender{Env: func(string) (string, bool) { return "", false }}})
	finish(t, store, submit(t, store, jobs.Spec{Settings: setting.Settings{OnFailure: web.URL}}), jobs.Failed, 1)
	sends, stop := context.WithCancel(t.Context())
	if _, err := r.pass(t.Context(), sends); err != nil {
		t.Fatal(err)
	}
	<-asked
	stop()
	r.sending.Wait()
	if n, err := r.claim(t.Context()); err != nil || n == nil || n.tries != 0 {
		t.Error(n, err)
	}
}

// A worker sends what its policy permits, wherever the address stands and redirects
// lead, and leaves the rest to others.
func TestPolicyOfNotices(t *testing.T) {
	t.Parallel()
	store, web, file := jobstest.Open(t, jobs.Config{StateDir: t.TempDir()}), newReceiver(t), filepath.Join(t.TempDir(), "told")
	away := httptest.NewServer(http.RedirectHandler(web.URL+"/away", http.StatusTemporaryRedirect))
	defer away.Close()
	var mu sync.Mutex
	var warned []string
	careful := sender(t, store, Options{
		Sender: &notice.Sender{Env: func(name string) (string, bool) {
			if name != "COMMAND" {
				return "", false
			}
			return "echo >>" + file, true
		}, Dir: t.TempDir()},
		Warn: func(text string) { mu.Lock(); defer mu.Unlock(); warned = append(warned, text) },
	})
	policy := sandbox.NewPolicy(sandbox.Rules{Sandbox: true, Allow: sandbox.List{sandbox.Notify: {away.URL, "mailto:*@example.com", "echo told >>" + file}}}, "", false)
	careful.Sender.Permit = func(what string) error { return policy.Permit(sandbox.Notify, what) }
	for _, settings := range []setting.Settings{
		{OnFailure: web.URL + "/hook"}, {Ping: web.URL + "/ping"}, {OnFailure: away.URL}, {Ping: away.URL}, {OnFailure: "env:COMMAND"},
		{OnFailure: "echo told >>" + file + "; true"}, {OnFailure: "mailto:me@elsewhere.org"},
		{OnFailure: "mailto:me@example.com%2Cyou@elsewhere.org"}, {OnFailure: "echo told >>" + file}, {OnFailure: "mailto:me@example.com"},
	} {
		finish(t, store, submit(t, store, jobs.Spec{Settings: settings}), jobs.Failed, 1)
	}
	for range 3 {
		pass(t, careful)
	}
	if got := web.all(); len(got) != 0 {
		t.Errorf("the policy does not permit %q", got)
	}
	if told, _ := os.ReadFile(file); string(told) != "told\n" {
		t.Errorf("commands wrote %q", told)
	}
	if len(warned) != 9 {
		t.Errorf("%d warnings, one a notice is enough", len(warned))
	}
	all := strings.Join(warned, "\n")
	for _, want := range []string{"job 1 (survey.lua) is left to other workers", "job 2 (survey.lua) is left", "job 3 (survey.lua) was not sent", "job 4 (survey.lua) was not sent",
		"job 5 (survey.lua) is left", "job 6 (survey.lua) is left", "may not notify mailto:me@elsewhere.org", "may not notify mailto:you@elsewhere.org", "job 10 (survey.lua) was not sent", "no mail server is configured"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not told of:\n%s", want, all)
		}
	}
	pass(t, sender(t, store, Options{Warn: func(string) {}}))
	if got := strings.Join(web.all(), "\n"); !strings.Contains(got, "/hook ") || !strings.Contains(got, "/ping") {
		t.Errorf("another worker sent %q", got)
	}
}
