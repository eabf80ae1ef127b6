package web

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"time"

	"transect/client/transport"
	"transect/client/wait"
	"transect/runtime/unattended/history"
)

// logTail is the end of a log.
type logTail struct {
	Text    string
	Earlier int // number of lines before it
	Cursor  string
}

// tailLines is the number of lines of a log that a page shows first.
const tailLines = 300

func tailOf(text []byte) logTail {
	lines := bytes.Count(text, []byte("\n"))
	t := logTail{Earlier: max(0, lines-tailLines)}
	for range t.Earlier {
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	t.Text = string(text)
	return t
}

// runLog sends the whole log as text.
func (s *Server) runLog(w http.ResponseWriter, r *http.Request) error {
	run, _, err := s.findRun(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	text, err := s.History.Log(run.ID)
	if err != nil {
		return err
	}
	logHeader(w, r, "run-"+run.ID+".log")
	_, err = io.WriteString(w, transport.Redact(string(text)))
	return err
}

// logInterval is how often the log of a run is read.
const logInterval = 250 * time.Millisecond

// followRunLog follows the log of a run to its end.
func (s *Server) followRunLog(ctx context.Context, id, after string, emit emitter) error {
	for {
		run, _, err := s.findRun(ctx, id)
		if err != nil {
			return err
		}
		// The state is read first, so that everything written before the end is seen.
		lines, cursor, all, err := s.History.LogAfter(run.ID, after)
		if err != nil {
			return err
		}
		if len(lines) > 0 {
			news := logLines{transport.Redact(string(lines)), all}
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
