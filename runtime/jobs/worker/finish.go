package worker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"transect/client/human"
	"transect/runtime/jobs"
)

// Exit codes of transect run with a meaning for jobs, see docs/surviving.md.
const (
	codeDone      = 0
	codeFailed    = 1
	codeUsage     = 2
	codePartial   = 3
	codeTemporary = 5
	codeLocked    = 6
	codeTimeLimit = 10

	codeInterrupted, codeKilled, codeTerminated = 130, 137, 143
)

// lockDelay is how long a job waits for a lock held by another run.
const lockDelay = 30 * time.Second

// end is the outcome of an attempt.
type end struct {
	code    int
	exited  bool       // code is the exit code of the process
	outcome jobs.State // final, or one of Retrying, Waiting, Released
	message string
	delay   time.Duration // before the next attempt
	lost    error         // nothing can be recorded: the job was taken over
}

// endOf returns the outcome of an attempt by its exit code.
func endOf(code int, message string) end {
	e := end{code: code, exited: true, message: message, outcome: jobs.ByExitCode(code)}
	switch code {
	case codeDone:
		e.message = ""
	case codeTemporary:
		e.outcome = jobs.Retrying
	case codeLocked:
		e.outcome, e.delay = jobs.Waiting, lockDelay
		if e.message == "" {
			e.message = "a lock"
		}
	}
	return e
}

// signalled returns the outcome of an attempt whose process was signalled, but not by its worker. If the worker
// was too, as when systemd stops a service, the attempt does not count.
func (a *attempt) signalled(code int, by string) end {
	select {
	case <-a.s.stopping:
		return end{outcome: jobs.Released}
	case <-time.After(signalWindow):
	}
	e := endOf(code, by)
	e.outcome = jobs.Retrying
	return e
}

// signalWindow is the time within which a worker and its jobs receive a common signal.
const signalWindow = time.Second

// finish records the end of an attempt, unless the job was taken over. It retries while the database does not
// answer.
func (a *attempt) finish(e end) (err error) {
	defer func() { a.countEnd(e, err) }()
	if e.lost != nil {
		return e.lost
	}
	if e.outcome == jobs.Retrying {
		if a.tries++; a.tries > a.job.Spec.Retries {
			e.outcome = jobs.Failed
		}
		e.delay = a.s.w.o.Backoff(a.tries)
	}
	err = a.s.retry(a.s.over, a.slow, func(ctx context.Context) error {
		return a.s.store.Tx(ctx, func(tx *jobs.Tx) error { return a.note(ctx, tx, e) })
	})
	if err == nil {
		a.report(e)
		a.again = e.delay
	}
	return err
}

// report writes the outcome of the job to the worker's own log.
func (a *attempt) report(e end) {
	text := fmt.Sprintf("job %d: %s", a.job.ID, e.outcome)
	if e.exited && e.code != codeDone {
		text += fmt.Sprintf(", exit code %d", e.code)
	}
	if e.outcome == jobs.Retrying {
		text += fmt.Sprintf(", again in %s", human.Duration(e.delay.Round(time.Second)))
	}
	if e.message != "" {
		text += ": " + a.redact(e.message)
	}
	a.s.log.Info(text)
}

// note writes the end of an attempt, for River and for users.
func (a *attempt) note(ctx context.Context, tx *jobs.Tx, e end) error {
	cancelled, err := a.lockOwn(ctx, tx)
	if err != nil {
		return err
	}
	if cancelled && !e.outcome.Final() {
		e.outcome, e.delay = jobs.Cancelled, 0
	}
	now := a.s.store.Now
	var code any
	if e.exited {
		code = e.code
	}
	final, ended := "", "0"
	if e.outcome.Final() {
		final, ended = string(e.outcome), now
	}
	waiting, message := "", bounded(human.Line(a.redact(e.message)), 1000)
	if e.outcome == jobs.Waiting {
		waiting, message = message, ""
	}
	if a.id == 0 { // it did not start
		_, err = tx.ExecContext(ctx, "update tr_job set waiting = $1, outcome = $2, ended_at = "+ended+
			", message = case when $3 <> '' then $3 else message end where job_id = $4", waiting, final, message, a.job.ID)
	} else {
		err = a.noteRun(ctx, tx, e, code, final, ended, waiting, message)
	}
	if err != nil {
		return err
	}
	return errors.Join(a.s.store.SetStateTx(ctx, tx, a.job.ID, e.outcome, e.delay), a.s.store.NotifyTx(ctx, tx, a.job.ID))
}

func (a *attempt) noteRun(ctx context.Context, tx *jobs.Tx, e end, code any, final, ended, waiting,
	message string) error {
	changed, err := tx.ExecContext(ctx, `update tr_job set waiting = $1, outcome = $2, ended_at = `+ended+
		`, exit_code = $3, message = $4, tries = $5
		where job_id = $6 and epoch = $7`, waiting, final, code, message, a.tries, a.job.ID, a.epoch)
	if err != nil {
		return err
	}
	if n, err := changed.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, errTaken)
	}
	_, err = tx.ExecContext(ctx, "update tr_run set ended_at = "+a.s.store.Now+", exit_code = $1, outcome = $2 where "+
		"id = $3 and ended_at is null", code, string(e.outcome), a.id)
	return err
}

// bounded cuts a text between two characters.
func bounded(text string, most int) string {
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
