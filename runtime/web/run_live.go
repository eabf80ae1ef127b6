package web

import (
	"bytes"
	"context"
	"html/template"
	"net/url"
	"time"

	"transect/client/transport"
	"transect/client/wait"
	"transect/runtime/unattended/history"
)

// How often what is live is looked at.
const (
	runsInterval = time.Second
	logInterval  = 250 * time.Millisecond
)

// parts are pieces of a page that replace what is in the elements with these ids.
type parts map[string]template.HTML

// piece renders a template by its name.
func (s *Server) piece(page, name string, data any) (template.HTML, error) {
	var out bytes.Buffer
	err := s.templates[page].ExecuteTemplate(&out, name, data)
	return template.HTML(out.String()), err
}

// followParts emits what changed of a page: render makes its parts.
func followParts(ctx context.Context, emit emitter, render func() (shown parts, more bool, err error)) error {
	last := parts{}
	for {
		shown, more, err := render()
		if err != nil {
			return err
		}
		changed := parts{}
		for id, html := range shown {
			if last[id] != html {
				changed[id] = html
			}
		}
		if last = shown; len(changed) > 0 {
			if err := emit("", changed); err != nil {
				return err
			}
		}
		if !more || wait.Sleep(ctx, runsInterval) != nil {
			return nil
		}
	}
}

// followRuns follows the page of all runs; arg are the parameters of its address.
func (s *Server) followRuns(ctx context.Context, arg, _ string, emit emitter) error {
	values, err := url.ParseQuery(arg)
	if err != nil {
		return notFound("%q is no address of the page", arg)
	}
	return followParts(ctx, emit, func() (parts, bool, error) {
		p, err := s.runsPage(ctx, values)
		if err != nil {
			return nil, false, err
		}
		shown := parts{}
		for _, name := range []string{"going", "last", "history"} {
			if shown["runs-"+name], err = s.piece("runs.html", name, p); err != nil {
				return nil, false, err
			}
		}
		return shown, true, nil
	})
}

// followRun follows what the page of a run says of it, but for its log.
func (s *Server) followRun(ctx context.Context, id, _ string, emit emitter) error {
	return followParts(ctx, emit, func() (parts, bool, error) {
		run, err := s.findRun(id)
		if err != nil {
			return nil, false, err
		}
		p, err := s.runView(run, nil)
		if err != nil {
			return nil, false, err
		}
		shown := parts{}
		for _, name := range []string{"state", "facts", "about"} {
			if shown["run-"+name], err = s.piece("run.html", name, p); err != nil {
				return nil, false, err
			}
		}
		return shown, run.State == history.Running, nil
	})
}

// logNews are lines of a log.
type logNews struct {
	Lines string `json:"lines"`
	Fresh bool   `json:"fresh,omitempty"` // they replace what is shown
}

// followRunLog follows the log of a run to its end.
func (s *Server) followRunLog(ctx context.Context, id, after string, emit emitter) error {
	for {
		run, err := s.findRun(id)
		if err != nil {
			return err
		}
		// The state is read first: what is written until the end is seen.
		lines, cursor, all, err := s.History.LogAfter(run.ID, after)
		if err != nil {
			return err
		}
		if len(lines) > 0 {
			news := logNews{transport.Redact(string(lines)), all}
			if all {
				news.Lines = tailOf([]byte(news.Lines)).Text
			}
			if err := emit(cursor, news); err != nil {
				return err
			}
		}
		after = cursor
		if run.State != history.Running || wait.Sleep(ctx, logInterval) != nil {
			return nil
		}
	}
}
