package web

import (
	"context"
	"fmt"
	"net/url"

	"transect/client"
	"transect/runtime/jobs"
	"transect/runtime/jobs/schedule"
	"transect/runtime/web/board"
)

// jobActions registers what the page does to jobs and schedules.
func (s *Server) jobActions() {
	s.jobAction("cancel-job", "Cancel the job", "Cancel it", "What it has written to the platform stays. It can be run again later, and goes on then.", true, (*jobs.Store).Cancel)
	s.jobAction("retry-job", "Run the job again", "Run it", "It is a start of the same run: what it wrote before is not written again.", false, (*jobs.Store).Retry)
	s.scheduleAction("run-schedule", "Run the schedule now", "Run it", "", func(ctx context.Context, name string) (int64, error) {
		job, _, err := schedule.RunNow(ctx, s.JobStore, name)
		return job, err
	})
	set := func(paused bool) func(context.Context, string) (int64, error) {
		return func(ctx context.Context, name string) (int64, error) {
			_, err := schedule.Set(ctx, s.JobStore, name, paused)
			return 0, err
		}
	}
	s.scheduleAction("pause-schedule", "Pause the schedule", "Pause it", "It submits nothing until it is resumed; a job that runs goes on.", set(true))
	s.scheduleAction("resume-schedule", "Resume the schedule", "Resume it", "", set(false))
}

// jobAction registers an action on a job, with the page that asks.
func (s *Server) jobAction(name, title, verb, hint string, bad bool, do func(*jobs.Store, context.Context, int64) error) {
	s.action(name, action{title: title, verb: verb, hint: hint, bad: bad, local: true,
		about: func(ctx context.Context, _ *client.Client, values url.Values) ([]string, error) {
			id, err := jobID(values.Get("job"))
			if err != nil {
				return nil, err
			}
			job, err := s.JobStore.Get(ctx, id)
			if err != nil {
				return nil, err
			}
			return []string{fmt.Sprintf("job %d: %s (%s)", job.ID, job.Title(), job.State)}, nil
		},
		do: func(ctx context.Context, _ *client.Client, values url.Values) (string, error) {
			id, err := jobID(values.Get("job"))
			if err != nil {
				return "", err
			}
			return back(values), do(s.JobStore, ctx, id)
		}})
}

// scheduleAction registers an action on a schedule. It goes on to the job that do
// returns, or the schedule.
func (s *Server) scheduleAction(name, title, verb, hint string, do func(context.Context, string) (int64, error)) {
	s.action(name, action{title: title, verb: verb, hint: hint, local: true,
		about: func(ctx context.Context, _ *client.Client, values url.Values) ([]string, error) {
			found, err := schedule.Get(ctx, s.JobStore, values.Get("schedule"))
			if err != nil {
				return nil, err
			}
			return []string{fmt.Sprintf("%s: %s, %s, %s", found.Name, found.Expr, found.Zone, found.Spec.Title())}, nil
		},
		do: func(ctx context.Context, _ *client.Client, values url.Values) (string, error) {
			job, err := do(ctx, values.Get("schedule"))
			if job > 0 {
				return fmt.Sprintf("/jobs/%d", job), err
			}
			return board.ScheduleLink(values.Get("schedule")), err
		}})
}
