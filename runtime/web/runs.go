package web

import (
	"cmp"
	"context"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"transect/client/calendar"
	"transect/client/human"
	"transect/runtime/jobs"
	"transect/runtime/unattended/history"
)

// runRoutes registers the runs of this machine.
func (s *Server) runRoutes() {
	s.runs = &history.Cache{Store: s.History}
	s.livePage("/runs", "runs", livePage{
		section: "/runs",
		parts:   []string{"going", "last", "filters", "history"},
		read: func(ctx context.Context, arg string, _ url.Values) (liveView, error) {
			values, err := url.ParseQuery(arg)
			if err != nil {
				return liveView{}, notFound("%q is not an address of the page", arg)
			}
			p, err := s.runsPage(ctx, values)
			return liveView{title: "Runs", data: p}, err
		},
	})
	s.livePage("/runs/{id}", "run", livePage{
		section: "/runs",
		parts:   []string{"state", "facts", "about"},
		read:    s.readRun,
		log:     s.followRunLog,
	})
	s.get("/runs/{id}/log", s.runLog)
	if s.Actions && s.Again != nil {
		s.post("/runs/{id}/again", s.runAgain)
	}
}

func (s *Server) getenv(name string) string {
	if s.Env == nil {
		return ""
	}
	value, _ := s.Env(name)
	return value
}

const runsPerPage = 50

// runsPage is the data of the page of all runs.
type runsPage struct {
	Values  url.Values // parameters of the address
	Job     string
	Failed  bool
	Since   string
	Problem string // with the parameters, or the crontab

	Going    []*runRow // in progress
	Last     []*subject
	Jobs     []string
	Runs     []*runRow // of the page
	Chart    *durations
	Total    int // matching runs
	All      int // in the history
	From, To int // of the page, from 1
	Prev     int // page number, 0 for none
	Next     int
}

// runRow is a run in a list.
type runRow struct {
	*history.Summary
	Now      time.Time
	Progress *history.Progress // of one in progress, else nil
}

// Name returns the job, the script or the command of the run.
func (r *runRow) Name() string { return cmp.Or(r.Job, scriptName(r.Script)) }

// Queued returns the job that the run belongs to; 0 for none.
func (r *runRow) Queued() int64 { return jobs.JobOfRun(r.ID) }

// scriptName returns the last part of a script's path; @put becomes put.
func scriptName(script string) string {
	switch {
	case script == "" || script == "-":
		return "standard input"
	case strings.HasPrefix(script, "@"):
		return strings.TrimPrefix(script, "@")
	}
	return filepath.Base(script)
}

// Took returns the run's duration; "" if it died.
func (r *runRow) Took() string {
	if r.State == history.Lost {
		return ""
	}
	return human.Duration(r.Duration(r.Now))
}

// Title returns a short description of the run.
func (r *runRow) Title() string {
	title := r.Started.In(r.Now.Location()).Format("2006-01-02 15:04") + ", " + r.Word()
	if took := r.Took(); took != "" {
		title += ", " + took
	}
	return title
}

// Word returns how the run ended.
func (r *runRow) Word() string { return strings.Replace(r.Outcome(), history.Lost, "died", 1) }

// Class returns the colour of the outcome.
func (r *runRow) Class() string {
	switch {
	case r.State == history.Running:
		return "busy"
	case r.Failed() && r.End != nil && r.End.ExitCode == 3:
		return "warn"
	case r.Failed():
		return "bad"
	case r.End != nil && r.End.ExitCode == 0:
		return "good"
	}
	return "" // skipped, terminated
}

// Items returns the number of items that the run processed.
func (r *runRow) Items() string {
	done, failed := int64(0), int64(0)
	switch {
	case r.End != nil:
		done, failed = r.End.ItemsDone, r.End.ItemsFailed
	case r.Progress != nil:
		done, failed = r.Progress.ItemsDone, r.Progress.ItemsFailed
	}
	switch {
	case failed > 0:
		return human.Number(done+failed) + ", " + human.Number(failed) + " failed"
	case done > 0:
		return human.Number(done)
	}
	return ""
}

// row prepares a run for a list.
func (s *Server) row(run *history.Summary) *runRow {
	r := &runRow{Summary: run, Now: s.Now()}
	if run.End == nil {
		var err error
		if r.Progress, err = s.History.Progress(run.ID); err != nil {
			r.Progress = &history.Progress{} // still shows the rest
		}
	}
	return r
}

// runsPage collects the data for the parameters of an address.
func (s *Server) runsPage(ctx context.Context, values url.Values) (*runsPage, error) {
	runs, err := s.runs.List()
	if err != nil {
		return nil, err
	}
	p := &runsPage{Values: values, Job: values.Get("job"), Failed: values.Get("failed") != "",
		Since: values.Get("since"), All: len(runs)}
	var since time.Time
	if p.Since != "" {
		if since, err = calendar.Moment(p.Since, s.Now(), calendar.Past); err != nil {
			p.Problem = "“" + p.Since + "” is not a time: " + err.Error()
		}
	}
	table, err := s.crontab(ctx)
	if err != nil {
		p.Problem = "The jobs of cron are not shown: " + err.Error()
	}
	p.Last = s.subjects(runs, table)
	p.Jobs = jobNames(runs, table)
	var wanted []*history.Summary
	for _, run := range runs {
		if run.State == history.Running {
			p.Going = append(p.Going, s.row(run))
		}
		if (p.Job == "" || run.OfJob(p.Job)) && (!p.Failed || run.Failed()) && !run.Started.Before(since) {
			wanted = append(wanted, run)
		}
	}
	p.Total, p.Chart = len(wanted), newDurations(wanted, s.Now())
	number, _ := strconv.Atoi(values.Get("page"))
	number = min(max(number, 1), max(1, (p.Total+runsPerPage-1)/runsPerPage))
	from, to := (number-1)*runsPerPage, min(number*runsPerPage, p.Total)
	for _, run := range wanted[from:to] {
		p.Runs = append(p.Runs, s.row(run))
	}
	p.From, p.To, p.Prev = from+1, to, number-1
	if to < p.Total {
		p.Next = number + 1
	}
	return p, nil
}
