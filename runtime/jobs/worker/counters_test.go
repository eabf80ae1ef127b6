package worker

import (
	"errors"
	"testing"
	"time"

	"transect/runtime/jobs"
	"transect/runtime/jobs/link"
)

// A worker is stuck when it no longer tries to renew its lease, whether the database answers or not.
func TestStuck(t *testing.T) {
	c := &Counters{}
	for _, ago := range []time.Duration{0, time.Second, stuckAfter - time.Second} {
		if c.tried.Store(int64(link.Now() - ago)); c.Status().Stuck != nil {
			t.Errorf("%s after a try: %v", ago, c.Status().Stuck)
		}
	}
	if c.tried.Store(int64(link.Now() - stuckAfter - time.Second)); c.Status().Stuck == nil {
		t.Error("it is stuck and says that it is not")
	}
	if DefaultTimes.Hold+DefaultTimes.Beat+20*time.Second > stuckAfter {
		t.Error("a worker that lost its lease may take longer than this")
	}
}

// Operations that wait for the database are counted while the attempt that waits goes on.
func TestWaitsForTheDatabase(t *testing.T) {
	w := &Worker{o: Options{Counters: &Counters{}, Slots: 1}}
	s := newSession(w)
	a := &attempt{s: s, job: jobs.Taken{ID: 1}}
	s.attempts[1] = a
	a.countWait(errors.New("it does not answer"))
	a.countWait(errors.New("it does not answer"))
	a.countWait(nil)
	if st := w.o.Counters.Status(); st.Waiting != 1 || st.Waits != 2 {
		t.Errorf("%d wait, %d waited", st.Waiting, st.Waits)
	}
	delete(s.attempts, 1) // it was killed while it waited
	if st := w.o.Counters.Status(); st.Waiting != 0 || st.Waits != 2 {
		t.Errorf("after its end %d wait, %d waited", st.Waiting, st.Waits)
	}
}
