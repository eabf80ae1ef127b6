package web

import (
	"context"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strconv"

	"transect/client/human"
	"transect/client/transport"
	"transect/runtime/jobs"
	"transect/runtime/web/internal/board"
)

// jobRoutes registers the jobs of a database, which may be shared by machines.
func (s *Server) jobRoutes() {
	s.livePage("/jobs", "jobs", livePage{
		section: "/jobs",
		parts:   []string{"day", "workers", "schedules", "list"},
		read: func(ctx context.Context, arg string, _ url.Values) (liveView, error) {
			values, err := url.ParseQuery(arg)
			if err != nil {
				return liveView{}, notFound("%q is not an address of the page", arg)
			}
			p, err := board.Read(ctx, s.JobStore, values, s.Now())
			return liveView{title: "Jobs", data: p}, err
		},
	})
	s.livePage("/jobs/{id}", "job", livePage{
		section: "/jobs",
		parts:   []string{"state", "attempts", "result"},
		read:    s.readJob,
		log:     s.followJobLog,
	})
	s.livePage("/schedules/{id}", "schedule", livePage{
		section: "/jobs",
		parts:   []string{"state", "slots"},
		read: func(ctx context.Context, name string, _ url.Values) (liveView, error) {
			p, err := board.ReadSchedule(ctx, s.JobStore, name)
			return liveView{title: "Schedule " + name, data: p}, err
		},
	})
	s.get("/jobs/{id}/result", s.jobResult)
	s.stream("/jobs/{id}/log", s.jobLog)
	s.jobActions()
}

func jobID(text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 {
		return 0, notFound("%q is not the id of a job", text)
	}
	return id, nil
}

// maxJobProblems limits the problems of jobs on the start page.
const maxJobProblems = 5

// jobProblems returns the first problems of jobs that need attention.
func (s *Server) jobProblems(ctx context.Context) ([]board.Problem, error) {
	if s.JobStore == nil {
		return nil, nil
	}
	overnight, err := board.ReadOvernight(ctx, s.JobStore, s.Now())
	if err != nil {
		return nil, err
	}
	list := overnight.Problems
	if more := len(list) - maxJobProblems; more > 1 {
		list = append(list[:maxJobProblems:maxJobProblems], board.Problem{Bad: list[maxJobProblems].Bad, Link: "/jobs",
			Text: human.Count(more, "more line") + " about jobs, workers and schedules"})
	}
	return list, nil
}

func (s *Server) readJob(ctx context.Context, text string, values url.Values) (liveView, error) {
	id, err := jobID(text)
	if err != nil {
		return liveView{}, err
	}
	p, err := board.ReadJob(ctx, s.JobStore, id)
	if err != nil {
		return liveView{}, err
	}
	if values != nil {
		err = p.ReadLog(ctx, s.JobStore)
		p.Log = transport.Redact(p.Log)
	}
	title := fmt.Sprintf("Job %d, %s", p.ID, p.Title())
	return liveView{title: title, data: p, ended: p.State.Final(), cursor: p.Cursor}, err
}

// followJobLog follows the log of a job to its end.
func (s *Server) followJobLog(ctx context.Context, arg, after string, emit emitter) error {
	id, err := jobID(arg)
	if err != nil {
		return err
	}
	_, err = s.JobStore.Follow(ctx, id, board.Position(after), func(b jobs.Batch) error {
		return emit(board.Cursor(b), logLines{Lines: transport.Redact(b.Lines)})
	})
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// jobResult sends the whole result, as JSON.
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
	attach(w, fmt.Sprintf("job-%d.json", id))
	_, err = w.Write(result)
	return err
}

// jobLog sends the whole log as text.
func (s *Server) jobLog(w http.ResponseWriter, r *http.Request) error {
	id, err := jobID(r.PathValue("id"))
	if err != nil {
		return err
	}
	if _, err := s.JobStore.Get(r.Context(), id); err != nil {
		return err
	}
	logHeader(w, r, fmt.Sprintf("job-%d.log", id))
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

// logHeader sets the headers of a log as text, or as a file if the address requests a download.
func logHeader(w http.ResponseWriter, r *http.Request, name string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if r.URL.Query().Get("download") != "" {
		attach(w, name)
	}
}

// attach makes the browser save the response under a name.
func attach(w http.ResponseWriter, name string) {
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
}
