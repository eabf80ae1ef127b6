package board

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"transect/client/fault"
	"transect/client/human"
	"transect/runtime/jobs"
	"transect/runtime/unattended/history"
)

// JobPage is the data of a job's page.
type JobPage struct {
	Row
	Meaning    string    // of its exit code
	Next       string    // what to do
	ParentJob  *jobs.Job // the job that submitted it; nil for none
	Attempts   []jobs.Attempt
	Result     string // "" for none
	ResultSize int    // bytes; Result may be only the beginning
	Log        string // the end of the log
	Cursor     string // of the log
	Whole      bool   // Log is complete
}

const (
	tailLines = 300
	maxResult = 10_000 // bytes of a result to show
)

// ReadJob reads the data of a job's page, except its log.
func ReadJob(ctx context.Context, store *jobs.Store, id int64) (*JobPage, error) {
	job, err := store.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	p := &JobPage{Row: Row{Job: job}, Next: job.Next()}
	if job.ExitCode != nil {
		p.Meaning, _ = history.Meaning(*job.ExitCode)
	}
	if job.Parent > 0 {
		p.ParentJob, err = store.Get(ctx, job.Parent)
		if err != nil && !errors.As(err, new(*fault.KeyError)) { // it may have been removed
			return nil, err
		}
	}
	submitted, err := store.Submitted(ctx, id)
	if err != nil {
		return nil, err
	}
	p.Children = submitted[id]
	if p.Attempts, err = store.Attempts(ctx, id); err != nil {
		return nil, err
	}
	if job.State == jobs.Waiting && job.Waiting == "" {
		if err := p.unserved(ctx, store); err != nil {
			return nil, err
		}
	}
	result, err := store.Result(ctx, id)
	p.Result, p.ResultSize = shownResult(result), len(result)
	return p, err
}

// unserved suggests what to do when no worker serves the queue.
func (p *JobPage) unserved(ctx context.Context, store *jobs.Store) error {
	workers, err := store.Workers(ctx, false)
	serves := func(w *jobs.Worker) bool { return !w.Stopping && slices.Contains(w.Queues, p.Queue) }
	if err != nil || slices.ContainsFunc(workers, serves) {
		return err
	}
	p.Next = "no worker serves the queue " + p.Queue + " now; start one with: " + StartWorker(p.Queue)
	return nil
}

// shownResult formats a result, or its beginning, for people.
func shownResult(result []byte) string {
	var text bytes.Buffer
	if json.Indent(&text, result, "", "  ") != nil {
		text.Reset()
		text.Write(result)
	}
	return human.Shorten(text.String(), maxResult)
}

// ReadLog adds the end of the log.
func (p *JobPage) ReadLog(ctx context.Context, store *jobs.Store) error {
	list, err := store.LogEnd(ctx, p.ID, tailLines)
	var text strings.Builder
	for _, b := range list {
		text.WriteString(b.Lines)
		p.Cursor = Cursor(b)
	}
	p.Log = text.String()
	p.Whole = len(list) == 0 || len(p.Attempts) > 0 && list[0].Seq == 1 && list[0].Run == p.Attempts[0].Run
	return err
}

// Cursor formats the position of a batch for addresses.
func Cursor(b jobs.Batch) string {
	return strconv.FormatInt(b.Run, 10) + "." + strconv.FormatInt(b.Seq, 10)
}

// Position parses a cursor; an invalid one is the beginning.
func Position(cursor string) (p jobs.Position) {
	run, seq, _ := strings.Cut(cursor, ".")
	p.Run, _ = strconv.ParseInt(run, 10, 64)
	p.Seq, _ = strconv.ParseInt(seq, 10, 64)
	return p
}
