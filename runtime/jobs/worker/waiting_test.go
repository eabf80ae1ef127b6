package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"transect/runtime/jobs"
	"transect/testdata/jobstest"
)

// What a running job waits for is with the job while it waits, and in the worker's log:
// a database that does not answer, or any sign of progress.
func TestWaitsAreSaid(t *testing.T) {
	t.Parallel()
	jobstest.EachStore(t, func(t *testing.T, store *jobs.Store) {
		t.Parallel()
		var said bytes.Buffer
		times := Times{Beat: time.Hour, Lease: time.Hour, Hold: time.Hour, Poll: time.Hour}
		s := newSession(&Worker{store: store, queues: []string{"default"},
			o: Options{Name: "here", Slots: 1, Times: times, Log: slog.New(slog.NewTextHandler(&said, nil))}})
		if err := s.register(t.Context()); err != nil {
			t.Fatal(err)
		}
		id, err := store.Submit(t.Context(), jobs.Spec{Script: "a.lua"})
		if err != nil {
			t.Fatal(err)
		}
		var a *attempt
		if err := store.Tx(t.Context(), func(tx *jobs.Tx) error {
			list, err := store.TakeTx(t.Context(), tx, s.id, "default", 1)
			if err != nil {
				return err
			}
			a = &attempt{s: s, job: list[0]}
			return a.begin(t.Context(), tx)
		}); err != nil {
			t.Fatal(err)
		}
		state := func(want string) {
			t.Helper()
			for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
				job, err := store.Get(t.Context(), id)
				if err != nil {
					t.Fatal(err)
				}
				if strings.HasPrefix(job.StateText(), want) && (want != "running" || job.StateText() == want) {
					return
				}
				if time.Now().After(deadline) {
					t.Fatalf("%q, want %q", job.StateText(), want)
				}
			}
		}
		a.moved()
		a.checkQuiet()
		state("running")
		a.progress = time.Now().Add(-quietAfter * times.Hold)
		a.checkQuiet()
		state("running, waits for a sign of progress since ")
		a.checkQuiet() // says it once
		a.moved()
		state("running")

		began := time.Now()
		a.slow(began, errors.New("it does not answer"))
		state("running, waits for the database since ")
		a.slow(began, nil)
		state("running")
		for _, text := range []string{"has shown no progress since", "waiting for the database since", "the database has answered"} {
			if n := strings.Count(said.String(), text); n != 1 {
				t.Errorf("%q was said %d times:\n%s", text, n, &said)
			}
		}
	})
}

// An operation that gets no answer in time is said once, and repeated; so is its answer.
func TestSlowOperations(t *testing.T) {
	t.Parallel()
	s := newSession(&Worker{o: Options{Times: Times{Hold: 10 * time.Millisecond}}})
	var said []string
	tries := 0
	err := s.retry(t.Context(), func(_ time.Time, why error) string { said = append(said, fmt.Sprint(why)); return "" },
		func(ctx context.Context) error {
			if tries++; tries > 3 {
				return nil
			}
			<-ctx.Done() // a connection that gets no answer
			return ctx.Err()
		})
	if want := []string{context.DeadlineExceeded.Error(), "<nil>"}; err != nil || !slices.Equal(said, want) {
		t.Errorf("%v, said %q", err, said)
	}
}

// A job that cannot be read, or that nobody knows, fails, and keeps no other from starting.
func TestJobThatCannotBeRead(t *testing.T) {
	t.Parallel()
	jobstest.EachStore(t, func(t *testing.T, store *jobs.Store) {
		t.Parallel()
		var ids []int64
		for range 3 {
			id, err := store.Submit(t.Context(), jobs.Spec{Script: "a.lua"})
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
		}
		for i, statement := range []string{"update river_job set args = '{\"script\": 7}' where id = $1", "delete from tr_job where job_id = $1"} {
			if _, err := store.DB().Exec(statement, ids[i]); err != nil {
				t.Fatal(err)
			}
		}
		s := newSession(&Worker{store: store, queues: []string{"default"}, o: Options{Name: "here", Slots: 5, Times: DefaultTimes, Log: slog.New(slog.DiscardHandler)}})
		if err := errors.Join(s.register(t.Context()), s.lease.renewOnce(t.Context())); err != nil {
			t.Fatal(err)
		}
		var began []int64
		for _, a := range s.take() {
			if a.id != 0 {
				began = append(began, a.job.ID)
			}
		}
		if len(began) != 1 || began[0] != ids[2] {
			t.Errorf("began %v of %v", began, ids)
		}
		job, err := store.Get(t.Context(), ids[0])
		if err != nil || job.State != jobs.Failed || !strings.Contains(job.Message, "it cannot be read") {
			t.Errorf("%+v, %v", job, err)
		}
	})
}
