package worker_test

import (
	"log/slog"
	"maps"
	"testing"
	"time"

	"transect/runtime/jobs"
	"transect/runtime/jobs/setting"
	"transect/runtime/jobs/worker"
	"transect/testdata/jobstest"
)

// What a worker did is counted once, over all its sessions, and it says when it takes no jobs.
func TestCounters(t *testing.T) {
	t.Parallel()
	jobstest.Each(t, func(t *testing.T, c jobs.Config) {
		store, dir := jobstest.Open(t, c), t.TempDir()
		other, _ := process(t, c, "mortal")
		stuck := submit(t, store, jobs.Spec{Script: "sleep", Settings: setting.Settings{Queue: "mortal"}})
		become(t, store, stuck, func(j *jobs.Job) bool { return j.State == jobs.Running })

		counters := &worker.Counters{}
		if st := counters.Status(); st.Unready == nil || st.Stuck != nil || st.Slots != 0 {
			t.Errorf("before it begins: %+v", st)
		}
		o := options(dir, "here", slog.DiscardHandler)
		o.Counters, o.Queues = counters, append(o.Queues, "mortal")
		w := run(t, store, o)
		for _, code := range []string{"0", "0", "3", "1", "5"} {
			ended(t, store, submit(t, store, jobs.Spec{Script: "exit", Settings: setting.Settings{Retries: 1, Queue: "here"}}, code))
		}
		ended(t, store, submit(t, store, jobs.Spec{Script: "transfer", Settings: setting.Settings{Queue: "here"}}))
		if st := counters.Status(); st.Sent != 900 || st.Received != 50 || st.Unready != nil || st.Slots != 4 {
			t.Errorf("after it worked: %+v", st)
		}
		if err := other.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		until(t, func() bool { st := counters.Status(); return st.Taken == 1 && st.Used == 1 })
		if err := store.Cancel(t.Context(), stuck); err != nil {
			t.Fatal(err)
		}
		ended(t, store, stuck)
		until(t, func() bool { return counters.Status().Used == 0 })
		st := counters.Status()
		if want := map[jobs.State]int64{jobs.Done: 3, jobs.DoneFailures: 1, jobs.Failed: 2, jobs.Retrying: 1, jobs.Cancelled: 1}; !maps.Equal(st.Ended, want) || st.Started != 8 {
			t.Errorf("%d started, they ended as %v, want %v", st.Started, st.Ended, want)
		}
		if w.stop(); counters.Status().Unready == nil {
			t.Error("it is stopped and ready")
		}
	})
}

func until(t *testing.T, ok func() bool) {
	t.Helper()
	for began := time.Now(); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Since(began) > patience {
			t.Fatal("it never came")
		}
	}
}
