package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"transect/client"
	"transect/client/transport"
	"transect/runtime/jobs"
	"transect/runtime/jobs/schedule"
	"transect/runtime/web/board"
)

// jobRoutes registers the jobs of a database, which may be shared by machines.
func (s *Server) jobRoutes() {
	if s.JobStore == nil {
		return
	}
	s.get("/jobs", s.jobList)
	s.get("/jobs/{id}", s.jobPage)
	s.stream("/jobs/{id}/log", s.jobLog)
	s.topic("jobs", s.followJobs)
	s.topic("job", s.followJob)
	s.topic("joblog", s.followJobLog)
	s.jobAction("cancel-job", "Cancel the job", "Cancel it", "What it has written to the platform stays. It can be tried again later, and goes on then.", true, (*jobs.Store).Cancel)
	s.jobAction("retry-job", "Run the job again", "Run it", "It is a start of the same run: what it wrote before is not written again.", false, (*jobs.Store).Retry)
	s.scheduleAction("run-schedule", "Run the schedule now", "Run it", func(ctx context.Context, name string) error {
		_, _, err := schedule.RunNow(ctx, s.JobStore, name)
		return err
	})
	set := func(paused bool) func(context.Context, string) error {
		return func(ctx context.Context, name string) error {
			_, err := schedule.Set(ctx, s.JobStore, name, paused)
			return err
		}
	}
	s.scheduleAction("pause-schedule", "Pause the schedule", "Pause it", set(true))
	s.scheduleAction("resume-schedule", "Resume the schedule", "Resume it", set(false))
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

// scheduleAction registers an action on a schedule.
func (s *Server) scheduleAction(name, title, verb string, do func(context.Context, string) error) {
	s.action(name, action{title: title, verb: verb, local: true,
		about: func(ctx context.Context, _ *client.Client, values url.Values) ([]string, error) {
			found, err := schedule.Get(ctx, s.JobStore, values.Get("schedule"))
			if err != nil {
				return nil, err
			}
			return []string{fmt.Sprintf("%s: %s, %s, %s", found.Name, found.Expr, found.Zone, found.Spec.Title())}, nil
		},
		do: func(ctx context.Context, _ *client.Client, values url.Values) (string, error) {
			return "/jobs", do(ctx, values.Get("schedule"))
		}})
}

func jobID(text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 {
		return 0, notFound("%q is not the id of a job", text)
	}
	return id, nil
}

// jobTroubles says whether jobs of the last day did not end well.
func (s *Server) jobTroubles(ctx context.Context) ([]trouble, error) {
	if s.JobStore == nil {
		return nil, nil
	}
	n, err := board.Wrong(ctx, s.JobStore)
	if err != nil || n == 0 {
		return nil, err
	}
	return []trouble{{Bad: true, Text: count(int64(n), "job") + " of the last 24 hours did not end well", Link: "/jobs"}}, nil
}

// boardPage is the board with what the page may do.
type boardPage struct {
	*board.Page
	Actions bool
}

func (s *Server) readBoard(ctx context.Context, values url.Values) (*boardPage, error) {
	p, err := board.Read(ctx, s.JobStore, values, s.Now())
	return &boardPage{p, s.Actions}, err
}

func (s *Server) boardParts(p *boardPage) (parts, error) {
	return s.pieces("jobs.html", "jobs-", p, "day", "workers", "schedules", "list")
}

func (s *Server) jobList(w http.ResponseWriter, r *http.Request) error {
	page, err := s.readBoard(r.Context(), r.URL.Query())
	if err != nil {
		return err
	}
	shown, err := s.boardParts(page)
	if err != nil {
		return err
	}
	topic := "jobs:" + page.Values.Encode()
	return s.render(w, r, "jobs.html", view{Title: "Jobs", Section: "/jobs", Data: page, Scripts: []string{"runs.js"},
		Topics: []string{topic}, After: url.Values{topic: {shown.version()}}.Encode()})
}

func (s *Server) followJobs(ctx context.Context, arg, after string, emit emitter) error {
	values, err := url.ParseQuery(arg)
	if err != nil {
		return notFound("%q is no address of the page", arg)
	}
	return followParts(ctx, after, emit, func() (parts, bool, error) {
		p, err := s.readBoard(ctx, values)
		if err != nil {
			return nil, false, err
		}
		shown, err := s.boardParts(p)
		return shown, true, err
	})
}

// jobView is the page of a job with what the page may do.
type jobView struct {
	*board.JobPage
	Actions bool
}

func (s *Server) readJob(ctx context.Context, text string) (*jobView, error) {
	id, err := jobID(text)
	if err != nil {
		return nil, err
	}
	p, err := board.ReadJob(ctx, s.JobStore, id, s.Now())
	return &jobView{p, s.Actions}, err
}

func (s *Server) jobParts(p *jobView) (parts, error) {
	return s.pieces("job.html", "job-", p, "state", "attempts", "result")
}

func (s *Server) jobPage(w http.ResponseWriter, r *http.Request) error {
	p, err := s.readJob(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	if err := p.ReadLog(r.Context(), s.JobStore); err != nil {
		return err
	}
	p.Log = transport.Redact(p.Log)
	v := view{Title: fmt.Sprintf("Job %d, %s", p.ID, p.Title()), Section: "/jobs", Data: p, Scripts: []string{"runs.js"}}
	if !p.State.Final() {
		shown, err := s.jobParts(p)
		if err != nil {
			return err
		}
		id := strconv.FormatInt(p.ID, 10)
		v.Topics = []string{"job:" + id, "joblog:" + id}
		v.After = url.Values{v.Topics[0]: {shown.version()}, v.Topics[1]: {p.Cursor}}.Encode()
	}
	return s.render(w, r, "job.html", v)
}

func (s *Server) followJob(ctx context.Context, id, after string, emit emitter) error {
	return followParts(ctx, after, emit, func() (parts, bool, error) {
		p, err := s.readJob(ctx, id)
		if err != nil {
			return nil, false, err
		}
		shown, err := s.jobParts(p)
		return shown, !p.State.Final(), err
	})
}

// followJobLog follows the log of a job to its end.
func (s *Server) followJobLog(ctx context.Context, arg, after string, emit emitter) error {
	id, err := jobID(arg)
	if err != nil {
		return err
	}
	_, err = s.JobStore.Follow(ctx, id, board.Position(after), func(b jobs.Batch) error {
		return emit(board.Cursor(b), logNews{Lines: transport.Redact(b.Lines)})
	})
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// jobLog is the whole log as text.
func (s *Server) jobLog(w http.ResponseWriter, r *http.Request) error {
	p, err := s.readJob(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if r.URL.Query().Get("download") != "" {
		w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=\"job-%d.log\"", p.ID))
	}
	var at jobs.Position
	for {
		list, err := s.JobStore.Log(r.Context(), p.ID, at)
		if err != nil || len(list) == 0 {
			return err
		}
		for _, b := range list {
			if _, err := fmt.Fprint(w, transport.Redact(b.Lines)); err != nil {
				return err
			}
			at = jobs.Position{Run: b.Run, Seq: b.Seq}
		}
	}
}
