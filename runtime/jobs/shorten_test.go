package jobs_test

import (
	"bytes"
	"testing"
	"time"

	"transect/client/ledger"
	"transect/runtime/jobs"
	"transect/testdata/jobstest"
)

// Answers go a day after the job was done; what was written stays known.
func TestLedgersAreShortened(t *testing.T) {
	t.Parallel()
	jobstest.EachStore(t, func(t *testing.T, s *jobs.Store) {
		long := bytes.Repeat([]byte("the answer of the platform "), 1000)
		job := func(state jobs.State, ago time.Duration) int64 {
			id := submitted(t, s)
			l, err := ledger.OpenRemote(jobs.RunID(id), s.Ledger(t.Context(), id, begin(t, s, id)), ledger.Start{At: time.Now()})
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			for n, op := range []string{"things.create", "secrets.create"} {
				row, err := l.Take(ledger.Write{Op: op, Print: ledger.Fingerprint{byte(n)}, Since: time.Now()})
				if err == nil {
					err = row.Resolve(ledger.Done, []string{"id"}, [][]byte{long})
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if err := l.End(); err != nil {
				t.Fatal(err)
			}
			end(t, s, id, state)
			if _, err := s.DB().Exec("update tr_job set ended_at = "+s.Now+" - $1 where job_id = $2", ago.Milliseconds(), id); err != nil {
				t.Fatal(err)
			}
			return id
		}
		old, young, failed := job(jobs.Done, 25*time.Hour), job(jobs.Done, 23*time.Hour), job(jobs.Failed, 25*time.Hour)
		may := func(op string, _ *ledger.Result) bool { return op == "things.create" }
		for _, want := range []int{1, 0} { // once
			if n, err := s.ShortenLedgers(t.Context(), may); err != nil || n != want {
				t.Fatalf("%d ledgers, want %d, %v", n, want, err)
			}
		}
		for id, want := range map[int64]int{old: 1, young: 2, failed: 2} {
			l, err := ledger.OpenRemoteToEdit(jobs.RunID(id), s.Ledger(t.Context(), id, 0))
			if err != nil {
				t.Fatal(err)
			}
			done, answers := 0, 0
			if err := l.All(func(_ ledger.Intent, r *ledger.Result) error {
				if r != nil && r.State == ledger.Done && r.IDs[0] == "id" {
					done, answers = done+1, answers+len(r.Answers)
				}
				return nil
			}); err != nil || done != 2 || answers != want {
				t.Errorf("job %d: %d done, %d answers, want %d, %v", id, done, answers, want, err)
			}
			if _, ended := l.Ended(); !ended {
				t.Error("it has not ended")
			}
			_ = l.Close()
		}
		edited, err := s.EditLedger(t.Context(), old)
		if err != nil {
			t.Fatal(err)
		}
		if l, err := ledger.OpenRemoteToEdit(jobs.RunID(old), edited); err != nil {
			t.Error(err)
		} else if _, err := l.Keep("x", func() ([]byte, error) { return []byte("y"), nil }); err != nil {
			t.Error("what was shortened cannot grow:", err)
		}
	})
}
