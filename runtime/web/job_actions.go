package web

import (
	"context"
	"fmt"
	"net/url"

	"transect/client"
	"transect/runtime/jobs"
	"transect/runtime/jobs/schedule"
)

// jobActions registers the actions on jobs and schedules.
func (s *Server) jobActions() {
	s.action("cancel-job", action{Title: "Cancel the job", Verb: "Cancel it", Bad: true, local: true,
		Hint:  "What it has written to the platform stays. If it is run again later, it resumes.",
		about: s.aboutJob, do: s.toJob((*jobs.Store).Cancel)})
	s.action("retry-job", action{Title: "Run the job again", Verb: "Run it", local: true,
		Hint:  "It is a start of the same run: what it wrote before is not written again.",
		about: s.aboutJob, do: s.toJob((*jobs.Store).Retry)})
	s.action("run-schedule", action{Title: "Run the schedule now", Verb: "Run it", local: true,
		about: s.aboutSchedule, do: s.runSchedule})
	s.action("pause-schedule", action{Title: "Pause the schedule", Verb: "Pause it", local: true,
		Hint:  "It submits nothing until it is resumed; a job that is running continues.",
		about: s.aboutSchedule, do: s.setPaused(true)})
	s.action("resume-schedule", action{Title: "Resume the schedule", Verb: "Resume it", local: true,
		about: s.aboutSchedule, do: s.setPaused(false)})
}

func (s *Server) aboutJob(ctx context.Context, _ *client.Client, values url.Values) ([]string, error) {
	id, err := jobID(values.Get("job"))
	if err != nil {
		return nil, err
	}
	job, err := s.JobStore.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	return []string{fmt.Sprintf("job %d: %s (%s)", job.ID, job.Title(), job.State)}, nil
}

// do carries out an action, see action.
type do = func(context.Context, *client.Client, url.Values) (string, error)

func (s *Server) toJob(act func(*jobs.Store, context.Context, int64) error) do {
	return func(ctx context.Context, _ *client.Client, values url.Values) (string, error) {
		id, err := jobID(values.Get("job"))
		if err != nil {
			return "", err
		}
		return back(values), act(s.JobStore, ctx, id)
	}
}

func (s *Server) aboutSchedule(ctx context.Context, _ *client.Client, values url.Values) ([]string, error) {
	found, err := schedule.Get(ctx, s.JobStore, values.Get("schedule"))
	if err != nil {
		return nil, err
	}
	return []string{fmt.Sprintf("%s: %s, %s, %s", found.Name, found.Expr, found.Zone, found.Spec.Title())}, nil
}

func (s *Server) runSchedule(ctx context.Context, _ *client.Client, values url.Values) (string, error) {
	job, _, err := schedule.RunNow(ctx, s.JobStore, values.Get("schedule"))
	if job == 0 {
		return back(values), err
	}
	return fmt.Sprintf("/jobs/%d", job), err
}

func (s *Server) setPaused(paused bool) do {
	return func(ctx context.Context, _ *client.Client, values url.Values) (string, error) {
		_, err := schedule.Set(ctx, s.JobStore, values.Get("schedule"), paused)
		return back(values), err
	}
}
