package jobs_test

import (
	"bytes"
	"errors"
	"testing"

	"transect/client/fault"
	"transect/runtime/jobs"
	"transect/testdata/jobstest"
)

// begin makes an attempt of a job, as a worker does.
func begin(t *testing.T, s *jobs.Store, job int64) (epoch int64) {
	t.Helper()
	if err := s.DB().QueryRow("update tr_job set epoch = epoch + 1 where job_id = $1 returning epoch", job).Scan(&epoch); err != nil {
		t.Fatal(err)
	}
	return epoch
}

func submitted(t *testing.T, s *jobs.Store) int64 {
	t.Helper()
	id, err := s.Submit(t.Context(), jobs.Spec{Script: "survey.lua"})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func contents(t *testing.T, l *jobs.Ledger) (all []byte) {
	t.Helper()
	for {
		b, err := l.Read(int64(len(all)))
		if err != nil {
			t.Fatal(err)
		}
		if len(b) == 0 {
			return all
		}
		all = append(all, b...)
	}
}

func TestALedgerIsTheAttemptsThatHoldsTheJob(t *testing.T) {
	t.Parallel()
	jobstest.EachStore(t, func(t *testing.T, s *jobs.Store) {
		job := submitted(t, s)
		first := s.Ledger(t.Context(), job, begin(t, s, job))
		for _, at := range []int64{0, 3, 3} { // the last one is sent again
			if err := first.Append(at, []byte("abc")); err != nil {
				t.Fatal(err)
			}
		}
		if err := first.Append(3, []byte("xyz")); err == nil {
			t.Error("other bytes were accepted where some are kept")
		}
		second := s.Ledger(t.Context(), job, begin(t, s, job))
		taken, _ := errors.AsType[*fault.CancelledError](first.Append(6, []byte("old")))
		if taken == nil {
			t.Error("the attempt before could append after the takeover")
		}
		if err := second.Append(6, bytes.Repeat([]byte("d"), 5<<20)); err != nil {
			t.Fatal(err)
		}
		if err := second.Append(6+5<<20, []byte("end")); err != nil {
			t.Fatal(err)
		}
		if got := contents(t, second); len(got) != 9+5<<20 || string(got[:6]) != "abcabc" || string(got[len(got)-3:]) != "end" {
			t.Errorf("the ledger holds %d bytes", len(got))
		}
		if other := submitted(t, s); len(contents(t, s.Ledger(t.Context(), other, 0))) != 0 {
			t.Error("another job has the same ledger")
		}
	})
}

// A transaction that has read the epoch keeps a takeover waiting; one that comes
// after the takeover appends nothing.
func TestATakeoverAndAnAppendAtOnce(t *testing.T) {
	t.Parallel()
	jobstest.EachStore(t, func(t *testing.T, s *jobs.Store) {
		job := submitted(t, s)
		for range 20 {
			old := s.Ledger(t.Context(), job, begin(t, s, job))
			size := int64(len(contents(t, old)))
			appended := make(chan error)
			go func() { appended <- old.Append(size, []byte("x")) }()
			begin(t, s, job)
			now := int64(len(contents(t, old)))
			if err := <-appended; (err == nil) != (now == size+1) {
				t.Fatalf("after the takeover the ledger has %d bytes more, and the append says %v", now-size, err)
			}
			if later := int64(len(contents(t, old))); later != now {
				t.Fatal("the ledger grew after the takeover")
			}
		}
	})
}

func TestEditingTheLedgerOfAJob(t *testing.T) {
	t.Parallel()
	jobstest.EachStore(t, func(t *testing.T, s *jobs.Store) {
		job := submitted(t, s)
		attempt := s.Ledger(t.Context(), job, begin(t, s, job))
		edit, err := s.EditLedger(t.Context(), job)
		if err != nil {
			t.Fatal(err)
		}
		if err := edit.Append(0, []byte("abc")); err != nil {
			t.Error(err)
		}
		if err := attempt.Append(3, []byte("abc")); err == nil {
			t.Error("an attempt appends while somebody edits")
		}
		if _, err := s.DB().Exec("update river_job set state = 'running', attempted_by = null where id = $1", job); err != nil {
			t.Fatal(err)
		}
		_, err = s.EditLedger(t.Context(), job)
		if locked, _ := errors.AsType[*fault.LockedError](err); locked == nil {
			t.Errorf("the ledger of a running job: %v", err)
		}
		_, err = s.EditLedger(t.Context(), 999)
		if unknown, _ := errors.AsType[*fault.KeyError](err); unknown == nil {
			t.Errorf("the ledger of no job: %v", err)
		}
	})
}

func TestJobOfRun(t *testing.T) {
	for run, want := range map[string]int64{"job-7": 7, "job-07": 0, "job-": 0, "job--7": 0, "nightly": 0, "job-7.files": 0} {
		if job := jobs.JobOfRun(run); job != want {
			t.Errorf("%s is of job %d", run, job)
		}
	}
}
