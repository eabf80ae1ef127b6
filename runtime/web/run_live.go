package web

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"html/template"
	"maps"
	"net/url"
	"slices"
	"strconv"
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

// version distinguishes states of the parts.
func (p parts) version() string {
	sum := fnv.New64a()
	for _, id := range slices.Sorted(maps.Keys(p)) {
		fmt.Fprintf(sum, "%s %s\n", id, p[id])
	}
	return strconv.FormatUint(sum.Sum64(), 36)
}

// followParts emits what changed of a page: render makes its parts, after is the
// version that the browser shows.
func followParts(ctx context.Context, after string, emit emitter, render func() (shown parts, more bool, err error)) error {
	var last parts
	for {
		shown, more, err := render()
		if err != nil {
			return err
		}
		version := shown.version()
		if version != after {
			changed := parts{}
			for id, html := range shown {
				if before, ok := last[id]; !ok || before != html {
					changed[id] = html
				}
			}
			if err := emit(version, changed); err != nil {
				return err
			}
		}
		last, after = shown, version
		if !more || wait.Sleep(ctx, runsInterval) != nil {
			return nil
		}
	}
}

// followRuns follows the page of all runs; arg are the parameters of its address.
func (s *Server) followRuns(ctx context.Context, arg, after string, emit emitter) error {
	values, err := url.ParseQuery(arg)
	if err != nil {
		return notFound("%q is not an address of the page", arg)
	}
	return followParts(ctx, after, emit, func() (parts, bool, error) {
		p, err := s.runsPage(ctx, values)
		if err != nil {
			return nil, false, err
		}
		shown, err := s.runsParts(p)
		return shown, true, err
	})
}

func (s *Server) runsParts(p *runsPage) (parts, error) {
	return s.pieces("runs.html", "runs-", p, "going", "last", "filters", "history")
}

// pieces renders parts of a page; the ids are the names of the templates behind a
// prefix.
func (s *Server) pieces(page, prefix string, data any, names ...string) (parts, error) {
	shown := parts{}
	for _, name := range names {
		var out bytes.Buffer
		if err := s.templates[page].ExecuteTemplate(&out, name, data); err != nil {
			return nil, err
		}
		shown[prefix+name] = template.HTML(out.String())
	}
	return shown, nil
}

// followRun follows what the page of a run says of it, but for its log.
func (s *Server) followRun(ctx context.Context, id, after string, emit emitter) error {
	return followParts(ctx, after, emit, func() (parts, bool, error) {
		run, err := s.findRun(id)
		if err != nil {
			return nil, false, err
		}
		p, err := s.runView(run, nil)
		if err != nil {
			return nil, false, err
		}
		shown, err := s.runParts(p)
		return shown, run.State == history.Running, err
	})
}

func (s *Server) runParts(p *runView) (parts, error) {
	return s.pieces("run.html", "run-", p, "state", "facts", "about")
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
