package jobs_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"transect/runtime/jobs"
	"transect/runtime/jobs/setting"
	"transect/testdata/jobstest"
)

// What ended is summed up by what it belongs to, and parts are found by their parent.
func TestOutcomes(t *testing.T) {
	jobstest.EachStore(t, func(t *testing.T, s *jobs.Store) {
		parent := submit(t, s, jobs.Spec{Script: "season.lua"})
		var parts []int64
		for range 3 {
			parts = append(parts, submit(t, s, jobs.Spec{Parent: parent}))
		}
		slot := submit(t, s, jobs.Spec{Schedule: "nightly", Settings: setting.Settings{Queue: "office"}})
		ends := func(state jobs.State, ids ...int64) {
			t.Helper()
			for _, id := range ids {
				exec(t, s, fmt.Sprintf("update tr_job set outcome = '%s', ended_at = %s where job_id = %d", state, s.Now, id),
					fmt.Sprintf("update river_job set state = 'completed', finalized_at = scheduled_at where id = %d", id))
			}
		}
		ends(jobs.Failed, parts[0], parts[1])
		ends(jobs.NeedsDecision, slot)
		outcomes, err := s.Outcomes(t.Context(), time.Hour)
		want := []jobs.Outcome{{Schedule: "nightly", State: jobs.NeedsDecision, Jobs: 1, Newest: slot}, {Parent: parent, State: jobs.Failed, Jobs: 2, Newest: parts[1]}}
		if err != nil || !slices.Equal(outcomes, want) {
			t.Error(outcomes, err)
		}
		counted, err := s.Submitted(t.Context(), parent, slot)
		if err != nil || len(counted) != 1 || counted[parent][jobs.Failed] != 2 || counted[parent][jobs.Waiting] != 1 {
			t.Error(counted, err)
		}
		open, err := s.Open(t.Context())
		if err != nil || open[jobs.DefaultQueue][jobs.Waiting] != 2 || len(open["office"]) != 0 {
			t.Error(open, err)
		}
		for want, filter := range map[int]jobs.Filter{3: {Parent: parent}, 2: {Top: true}, 1: {Single: true}, 0: {IDs: []int64{parent}, Parent: parent}} {
			if list, err := s.List(t.Context(), filter); err != nil || len(list) != want {
				t.Error(filter, len(list), err)
			}
		}
		exec(t, s, "update tr_job set ended_at = 1")
		if undecided, err := s.Undecided(t.Context()); err != nil || len(undecided) != 1 || undecided[0].Newest != slot {
			t.Error(undecided, err)
		}
	})
}

// A list without values finds nothing, on either database.
func TestEmptyLists(t *testing.T) {
	jobstest.EachStore(t, func(t *testing.T, s *jobs.Store) {
		submit(t, s, jobs.Spec{Script: "a.lua"})
		if list, err := s.List(t.Context(), jobs.Filter{IDs: []int64{}}); err != nil || len(list) != 0 {
			t.Error(list, err)
		}
		if counted, err := s.Submitted(t.Context()); err != nil || len(counted) != 0 {
			t.Error(counted, err)
		}
		if ended, err := s.EndedParts(t.Context(), nil); err != nil || len(ended) != 0 {
			t.Error(ended, err)
		}
		var args []any
		for want, condition := range map[int]string{0: jobs.In("queue", []string{}, &args), 1: jobs.In("queue", []string{"it's", jobs.DefaultQueue}, &args)} {
			var n int
			used := args[:len(args)*want]
			if err := s.DB().QueryRowContext(t.Context(), "select count(*) from river_job where "+condition, used...).Scan(&n); err != nil || n != want {
				t.Error(condition, n, err)
			}
		}
	})
}
