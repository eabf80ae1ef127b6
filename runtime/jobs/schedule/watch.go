package schedule

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"transect/client/fault"
	"transect/runtime/jobs"
	"transect/runtime/unattended/notice"
	"transect/stdlib/notify"
)

// toNotify finds the jobs and the schedules about which a notice may be due.
func (r *runner) toNotify(ctx context.Context, q jobs.Querier) (ids []int64, blocked []string, err error) {
	ids, err = jobs.Column[int64](ctx, q,
		`select w.job_id from tr_watch w left join river_job j on j.id = w.job_id left join tr_job t on t.job_id = w.job_id
		where j.id is null or j.state in ('completed', 'cancelled', 'discarded') or w.late_at > 0 and w.late_at <= `+r.clock+
			` or w.starts = 1 and t.started_at > 0 limit 200`)
	if err == nil {
		blocked, err = jobs.Column[string](ctx, q, fmt.Sprintf(blocking, r.clock))
	}
	return ids, blocked, err
}

// watch writes notices about jobs, and about schedules blocked by one. It reports whether there is one to send.
func (r *runner) watch(ctx context.Context, ids []int64, schedules []string) (notified bool, err error) {
	blocked, err := r.blocked(ctx, schedules)
	if err != nil {
		return false, err
	}
	for _, id := range ids {
		if err := r.store.Tx(ctx, func(tx *jobs.Tx) error { return r.watchJob(ctx, tx, id) }); err != nil {
			return false, err
		}
	}
	return len(ids) > 0 || blocked, nil
}

// watched is a job with notices.
type watched struct {
	*jobs.Job
	starts, late int64 // of tr_watch
}

// watchJob writes the notices about one job that are due, unless another process is doing so.
func (r *runner) watchJob(ctx context.Context, tx *jobs.Tx, id int64) error {
	var w watched
	err := tx.QueryRowContext(ctx,
		"select starts, late_at from tr_watch where job_id = $1"+r.store.Lock("for update skip locked"), id).Scan(&w.starts,
		&w.late)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	now, err := jobs.ReadTime(ctx, tx, r.clock)
	if err != nil {
		return err
	}
	w.Job, err = r.store.GetFrom(ctx, tx, id)
	if errors.As(err, new(*fault.KeyError)) { // removed
		_, err = tx.ExecContext(ctx, "delete from tr_watch where job_id = $1", id)
		return err
	}
	if err != nil {
		return err
	}
	if w.State.Final() {
		if err := r.enqueueEnd(ctx, tx, &w); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "delete from tr_watch where job_id = $1", id)
		return err
	}
	if w.starts == 1 && !w.Started.IsZero() {
		w.starts = 0
		if err := r.ping(ctx, tx, &w, notify.Start, w.about()); err != nil {
			return err
		}
	}
	if w.late > 0 && (!w.Started.IsZero() || w.late <= now.UnixMilli()) {
		if w.late = 0; w.Started.IsZero() {
			if err := r.lateJob(ctx, tx, &w); err != nil {
				return err
			}
		}
	}
	_, err = tx.ExecContext(ctx, "update tr_watch set starts = $2, late_at = $3 where job_id = $1", id, w.starts, w.late)
	return err
}

// about returns the name of a job in messages.
func (w *watched) about() string {
	text := fmt.Sprintf("job %d", w.ID)
	if w.Schedule != "" {
		text += " of the schedule " + w.Schedule
	}
	return text + " (" + w.Title() + ")"
}

func (w *watched) code() int {
	switch {
	case w.ExitCode != nil:
		return *w.ExitCode
	case w.State == jobs.Done:
		return 0
	}
	return 1
}

// enqueueEnd writes the notices about the end of a job.
func (r *runner) enqueueEnd(ctx context.Context, tx *jobs.Tx, w *watched) error {
	lines, err := lastLines(ctx, tx, w.ID)
	if err != nil {
		return err
	}
	seconds := 0.0
	if !w.Ended.IsZero() && !w.Started.IsZero() {
		seconds = w.Ended.Sub(w.Started).Seconds()
	}
	if w.Ping != "" {
		event := notify.Success
		if w.State == jobs.Cancelled {
			event = notify.Log // neither success nor failure
		} else if w.State != jobs.Done {
			event = strconv.Itoa(cmp.Or(w.code(), 1))
		}
		if err := r.ping(ctx, tx, w, event, fmt.Sprintf("%s: %s after %.1f s\n%s", w.about(), w.State, seconds,
			lines)); err != nil {
			return err
		}
	}
	if w.OnFailure == "" || w.State == jobs.Done || w.State == jobs.Cancelled {
		return nil
	}
	where := ""
	if w.Worker != "" {
		where = " on " + w.Worker
	}
	headline := fmt.Sprintf("%s failed%s: exit code %d (%s)", w.about(), where, w.code(), w.State)
	if w.ExitCode == nil {
		headline = fmt.Sprintf("%s failed%s: %s", w.about(), where, cmp.Or(w.Message, string(w.State)))
	}
	return r.enqueue(ctx, tx, w.about(), w.OnFailure, "",
		message{Notice: w.notice(headline, string(w.State), lines, seconds)})
}

// notice returns a notice about a job, in the form that transect run uses for a run.
func (w *watched) notice(headline, outcome, lines string, seconds float64) notice.Notice {
	o := notice.Outcome{Script: w.Title(), Run: jobs.RunID(w.ID), Host: w.Worker, Outcome: outcome, Seconds: seconds,
		Message: w.Message, Job: w.ID,
		Schedule: w.Schedule, Slot: jobs.FromMillis(w.Slot)}
	if w.State.Final() {
		code := w.code()
		o.ExitCode = &code
	}
	if w.Message != "" {
		o.Error = map[string]string{"message": w.Message}
	}
	return notice.Of(headline, lines, o)
}

// lateJob writes the notice about a job that should have started.
func (r *runner) lateJob(ctx context.Context, tx *jobs.Tx, w *watched) error {
	var workers int
	if err := tx.QueryRowContext(ctx, "select count(*) from tr_worker where dead_at is null and lease_until > "+r.clock+
		" and ',' || queues || ',' like '%,' || cast($1 as text) || ',%'", w.Queue).Scan(&workers); err != nil {
		return err
	}
	why := fmt.Sprintf("all workers of the queue %s are busy", w.Queue)
	switch {
	case w.Waiting != "":
		why = "it waits for " + w.Waiting
	case workers == 0:
		why = "no worker serves the queue " + w.Queue
	case w.State == jobs.Retrying:
		why = "it is being retried"
	}
	headline := fmt.Sprintf("%s is late: it has not started within %s of its time: %s", w.about(), w.Late, why)
	return r.enqueue(ctx, tx, w.about(), w.OnFailure, "", message{Notice: w.notice(headline, "late", "", 0)})
}

func (r *runner) ping(ctx context.Context, tx *jobs.Tx, w *watched, event, body string) error {
	return r.enqueue(ctx, tx, w.about(), w.Ping, event, message{Notice: notice.Notice{Text: body},
		Run: jobs.RunID(w.ID)})
}

const (
	tailLines = 50
	tailBytes = 10_000
)

// lastLines returns the last lines of the newest attempt of a job.
func lastLines(ctx context.Context, tx *jobs.Tx, job int64) (string, error) {
	rows, err := tx.QueryContext(ctx,
		"select lines from tr_log where run_id = (select max(id) from tr_run where job_id = $1) order by seq desc limit $2",
		job, tailLines)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	text := ""
	for rows.Next() && len(text) < tailBytes && strings.Count(text, "\n") < tailLines {
		var lines string
		if err := rows.Scan(&lines); err != nil {
			return "", err
		}
		text = lines + text
	}
	text = strings.ToValidUTF8(text[max(0, len(text)-tailBytes):], "")
	all := strings.SplitAfter(text, "\n")
	return strings.Join(all[max(0, len(all)-tailLines-1):], ""), rows.Err()
}
