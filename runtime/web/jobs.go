package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"transect/client/human"
	"transect/client/transport"
	"transect/runtime/jobs"
	"transect/runtime/web/board"
)

// jobRoutes registers the jobs of a database, which may be shared by machines.
func (s *Server) jobRoutes() {
	if s.JobStore == nil {
		return
	}
	s.get("/jobs", s.jobList)
	s.get("/jobs/{id}", s.jobPage)
	s.get("/jobs/{id}/result", s.jobResult)
	s.stream("/jobs/{id}/log", s.jobLog)
	s.get("/schedules/{name}", s.schedulePage)
	s.topic("jobs", s.followJobs)
	s.topic("job", s.followJob)
	s.topic("joblog", s.followJobLog)
	s.topic("schedule", s.followSchedule)
	s.jobActions()
}

func jobID(text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 {
		return 0, notFound("%q is not the id of a job", text)
	}
	return id, nil
}

// maxJobTroubles is how many lines the start page has of jobs.
const maxJobTroubles = 5

// jobTroubles are the first lines of what somebody should look at among the jobs.
func (s *Server) jobTroubles(ctx context.Context) ([]trouble, error) {
	if s.JobStore == nil {
		return nil, nil
	}
	overnight, err := board.ReadOvernight(ctx, s.JobStore, s.Now())
	if err != nil {
		return nil, err
	}
	list := overnight.Problems
	if more := len(list) - maxJobTroubles; more > 1 {
		list = append(list[:maxJobTroubles:maxJobTroubles], trouble{Bad: list[maxJobTroubles].Bad, Text: human.Count(more, "more line") + " about jobs, workers and schedules", Link: "/jobs"})
	}
	return list, nil
}

// live renders a page whose parts are followed: the topic has to know the address
// that was asked for.
func (s *Server) live(w http.ResponseWriter, r *http.Request, name, topic string, shown parts, v view) error {
	v.Section, v.Scripts = "/jobs", []string{"runs.js"}
	v.Topics, v.After = []string{topic}, url.Values{topic: {shown.version()}}.Encode()
	return s.render(w, r, name, v)
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
	return s.live(w, r, "jobs.html", "jobs:"+page.Values.Encode(), shown, view{Title: "Jobs", Data: page})
}

func (s *Server) followJobs(ctx context.Context, arg, after string, emit emitter) error {
	values, err := url.ParseQuery(arg)
	if err != nil {
		return notFound("%q is not an address of the page", arg)
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

// schedulePage is one schedule with its slots.
func (s *Server) schedulePage(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("name")
	shown, p, err := s.scheduleParts(r.Context(), name)
	if err != nil {
		return err
	}
	return s.live(w, r, "schedule.html", "schedule:"+url.QueryEscape(name), shown, view{Title: "Schedule " + name, Data: p})
}

// scheduleView is the page of a schedule with what the page may do.
type scheduleView struct {
	*board.SchedulePage
	Actions bool
}

func (s *Server) scheduleParts(ctx context.Context, name string) (parts, *scheduleView, error) {
	p, err := board.ReadSchedule(ctx, s.JobStore, name)
	if err != nil {
		return nil, nil, err
	}
	v := &scheduleView{p, s.Actions}
	shown, err := s.pieces("schedule.html", "schedule-", v, "state", "slots")
	return shown, v, err
}

func (s *Server) followSchedule(ctx context.Context, arg, after string, emit emitter) error {
	name, err := url.QueryUnescape(arg)
	if err != nil {
		return notFound("%q is not the name of a schedule", arg)
	}
	return followParts(ctx, after, emit, func() (parts, bool, error) {
		shown, _, err := s.scheduleParts(ctx, name)
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

// jobResult is the whole result, as JSON.
func (s *Server) jobResult(w http.ResponseWriter, r *http.Request) error {
	id, err := jobID(r.PathValue("id"))
	if err != nil {
		return err
	}
	result, err := s.JobStore.Result(r.Context(), id)
	if err != nil {
		return err
	}
	if result == nil {
		return notFound("job %d has no result", id)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=\"job-%d.json\"", id))
	_, err = w.Write(result)
	return err
}

// jobLog is the whole log as text.
func (s *Server) jobLog(w http.ResponseWriter, r *http.Request) error {
	id, err := jobID(r.PathValue("id"))
	if err != nil {
		return err
	}
	if _, err := s.JobStore.Get(r.Context(), id); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if r.URL.Query().Get("download") != "" {
		w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=\"job-%d.log\"", id))
	}
	var at jobs.Position
	for {
		list, err := s.JobStore.Log(r.Context(), id, at)
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
