package web

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"transect/client"
	"transect/client/declare"
	"transect/client/fault"
	"transect/client/human"
	"transect/client/ingest"
	"transect/client/transport"
	"transect/client/verdict"
	"transect/runtime/jobs"
	"transect/runtime/unattended/history"
)

// runView is the data of a run's page.
type runView struct {
	*runRow
	Meaning, Advice string // of the exit code
	Displays        []history.Display
	Verdicts        []verdictCount
	Files           *runFiles // nil for a run without an ingest
	Findings        string    // about files, lines for people
	Curve           *curve
	Sent, Received  int64
	Writes, Reads   []callCount
	Log             logTail
	Again           string // command for a shell
	Startable       bool   // by a button
	Restarted       bool   // by that button, just now
}

type verdictCount struct {
	Verdict verdict.Verdict
	Count   int64
}

// callCount is the number of calls of an operation.
type callCount struct {
	Name string
	history.Calls
}

func (s *Server) readRun(ctx context.Context, id string, values url.Values) (liveView, error) {
	run, progress, err := s.findRun(ctx, id)
	if err != nil {
		return liveView{}, err
	}
	p, err := s.runView(run, progress, values)
	if err != nil {
		return liveView{}, err
	}
	title := p.Name() + ", " + run.Started.In(s.Now().Location()).Format("2006-01-02 15:04")
	return liveView{title: title, data: p, ended: run.State != history.Running, cursor: p.Log.Cursor}, nil
}

// findRun returns the record of a run and its progress: of a job from the database of jobs, of others from
// the history of this machine.
func (s *Server) findRun(ctx context.Context, name string) (*history.Summary, *history.Progress, error) {
	if job := jobs.JobOfRun(name); job > 0 && s.JobStore != nil {
		r, err := s.JobStore.Record(ctx, job)
		if errors.As(err, new(*fault.KeyError)) {
			return nil, nil, notFound("%s", fault.Find(err).Facts().Message)
		} else if err != nil {
			return nil, nil, err
		}
		return r.Summary, r.Progress, nil
	}
	run, matches, err := s.History.Find(name)
	switch {
	case err != nil:
		return nil, nil, err
	case len(matches) > 1:
		return nil, nil, notFound("%s have an ID that begins with %s", human.Count(len(matches), "run"), name)
	case run == nil:
		return nil, nil, notFound("there is no run %s; the history keeps the latest ones", name)
	}
	progress, err := s.History.Progress(run.ID)
	if err != nil {
		progress = &history.Progress{} // still shows the rest
	}
	return run, progress, nil
}

func (s *Server) runView(run *history.Summary, progress *history.Progress, values url.Values) (*runView, error) {
	p := &runView{runRow: &runRow{Summary: run, Now: s.Now(), Progress: progress}, Curve: newCurve(progress.Samples),
		Findings: progress.Findings, Again: again(run)}
	if n := len(progress.Samples); n > 0 {
		p.Sent, p.Received = progress.Samples[n-1].Sent, progress.Samples[n-1].Received
	}
	files := progress.Files
	if e := run.End; e != nil {
		p.Meaning, p.Advice = history.Meaning(e.ExitCode)
		p.Sent, p.Received, files = e.Sent, e.Received, e.Files
		p.Writes, p.Reads = callCounts(e.Operations)
	} else {
		p.Displays = progress.Displays
	}
	for _, v := range verdict.All {
		if n := files[string(v)]; n > 0 {
			p.Verdicts = append(p.Verdicts, verdictCount{v, n})
		}
	}
	if len(progress.Ingests) > 0 {
		p.Files = s.runFiles(progress.Ingests, verdict.Verdict(values.Get("verdict")))
	}
	p.Startable = s.Actions && s.Again != nil && startable(run)
	p.Restarted = values.Get("started") != ""
	if p.Queued() > 0 {
		return p, nil // a job's output is in the database
	}
	text, cursor, _, err := s.History.LogAfter(run.ID, "")
	p.Log = tailOf([]byte(transport.Redact(string(text))))
	p.Log.Cursor = cursor
	return p, err
}

// effects maps operations to their effects on the platform.
var effects = sync.OnceValue(func() map[string]declare.Effect {
	all := map[string]declare.Effect{}
	for _, m := range client.Declarations() {
		for _, op := range m.Ops() {
			all[op.FullName()] = op.Effect
		}
	}
	return all
})

// callCounts splits calls into those that write to the platform and the others.
func callCounts(operations map[string]history.Calls) (writes, reads []callCount) {
	for name, n := range operations {
		if effect := effects()[name]; effect == declare.Read || effect == "" {
			reads = append(reads, callCount{name, n})
		} else {
			writes = append(writes, callCount{name, n})
		}
	}
	for _, list := range [][]callCount{writes, reads} {
		slices.SortFunc(list, func(a, b callCount) int {
			return cmp.Or(cmp.Compare(b.Count, a.Count),
				cmp.Compare(a.Name, b.Name))
		})
	}
	return writes, reads
}

// runFiles lists the files of a run by verdict and cause.
type runFiles struct {
	Verdict verdict.Verdict // the only one listed; "" lists all that are not simply good
	Causes  []*cause
	Listed  []ingest.Outcome
	More    bool // there are more than listed
	Partial bool // not all files were read
	Missing bool // the run's list of files was deleted
}

// cause is the reason for a verdict on files.
type cause struct {
	Verdict verdict.Verdict
	Text    string
	Hint    string
	Count   int64
	Example string // name of the first file
}

const (
	maxListed   = 200
	maxCauses   = 50
	maxRead     = 300_000 // files
	maxReadTime = 2 * time.Second
)

// runFiles reads the outcomes that ingests recorded for their files.
func (s *Server) runFiles(ids []string, only verdict.Verdict) *runFiles {
	f := &runFiles{Verdict: only}
	byText := map[[2]string]*cause{}
	seen, began := 0, time.Now()
	for _, id := range ids {
		outcomes, err := ingest.Earlier(filepath.Dir(s.History.Dir), id)
		if err != nil {
			f.Missing = true
			continue
		}
		for o, err := range outcomes {
			if seen++; err != nil || seen > maxRead || seen%1000 == 0 && time.Since(began) > maxReadTime {
				f.Partial = true
				break
			}
			o.Cause, o.Hint = transport.Redact(o.Cause), transport.Redact(o.Hint)
			plain := o.Verdict == verdict.Uploaded || o.Verdict == verdict.AlreadyThere
			if !plain || o.Cause != "" {
				key := [2]string{string(o.Verdict), strings.ReplaceAll(o.Cause, filepath.Base(o.Name), "…")}
				c := byText[key]
				if c == nil && len(f.Causes) < maxCauses {
					c = &cause{Verdict: o.Verdict, Text: o.Cause, Hint: o.Hint, Example: o.Name}
					byText[key] = c
					f.Causes = append(f.Causes, c)
				}
				if c != nil {
					c.Count++
				}
			}
			switch {
			case only == "" && plain, only != "" && only != o.Verdict:
			case len(f.Listed) < maxListed:
				f.Listed = append(f.Listed, o)
			default:
				f.More = true
			}
		}
	}
	slices.SortStableFunc(f.Causes, func(a, b *cause) int {
		return cmp.Or(trueFirst(a.Verdict.Bad(), b.Verdict.Bad()), cmp.Compare(b.Count, a.Count))
	})
	return f
}
