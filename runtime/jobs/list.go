package jobs

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	json "github.com/go-json-experiment/json/v1"

	"transect/client/fault"
)

// Filter selects jobs.
type Filter struct {
	States      []State // any of them; empty for all
	Queue       string
	Key         string
	Schedule    string
	Parent      int64   // the job that submitted it; 0 for any
	Top         bool    // only jobs not submitted by a job
	Single      bool    // only jobs submitted neither by a job nor by a schedule
	IDs         []int64 // only these; nil for all
	Script      string  // part of its title
	Planned     bool    // those that carry out a plan
	Worker      string  // name of the worker of the newest attempt
	Since       time.Time
	EndedWithin time.Duration // only jobs that ended within, by the clock of the database
	Before      int64         // ids below; 0 for all
	Limit       int           // 0 for all
}

// urgent lists the states of jobs that need attention.
var urgent = []State{Stopped, NeedsDecision}

func (j *Job) urgent() bool { return slices.Contains(urgent, j.State) }

// Overview is like List, but lists urgent jobs first; they take at most half of the limit.
func (s *Store) Overview(ctx context.Context, f Filter) ([]*Job, error) {
	if len(f.States) > 0 || f.Limit == 1 {
		return s.List(ctx, f)
	}
	if f.Limit == 0 {
		list, err := s.List(ctx, f)
		slices.SortStableFunc(list, func(a, b *Job) int { return Bit(b.urgent()) - Bit(a.urgent()) })
		return list, err
	}
	first := f
	first.States, first.Limit = urgent, f.Limit/2
	list, err := s.List(ctx, first)
	if err != nil || len(list) == 0 {
		return s.List(ctx, f)
	}
	shown := map[int64]bool{}
	for _, job := range list {
		shown[job.ID] = true
	}
	others, err := s.List(ctx, f)
	for _, job := range others {
		if len(list) == f.Limit {
			break
		}
		if !shown[job.ID] {
			list = append(list, job)
		}
	}
	return list, err
}

// List returns jobs, newest first.
func (s *Store) List(ctx context.Context, f Filter) ([]*Job, error) {
	for _, text := range []string{f.Queue, f.Key, f.Schedule, f.Script, f.Worker} {
		if !Storable(text) {
			return nil, nil // no job has it; PostgreSQL would refuse it
		}
	}
	var where []string
	var args []any
	add := func(condition string, value any) {
		args = append(args, value)
		where = append(where, fmt.Sprintf(condition, fmt.Sprintf("$%d", len(args))))
	}
	if len(f.States) > 0 {
		where = append(where, In(StateSQL, f.States, &args))
	}
	if f.Queue != "" {
		add("j.queue = %s", f.Queue)
	}
	if f.Key != "" {
		add("t.key = %s", f.Key)
	}
	if f.Schedule != "" {
		add("t.schedule = %s", f.Schedule)
	}
	if f.Parent > 0 {
		add("t.parent > 0 and t.parent = %s", f.Parent) // matches the partial index
	}
	if f.Top || f.Single {
		where = append(where, "t.parent = 0")
	}
	if f.Single {
		where = append(where, "t.schedule = ''")
	}
	if f.IDs != nil {
		where = append(where, In("j.id", f.IDs, &args))
	}
	if f.Script != "" {
		add(`t.title like %s escape '\'`, "%"+strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(f.Script)+"%")
	}
	if f.Planned {
		add("cast("+s.args+" as text) like %s", `%"--`+optionPlan+`=%`)
	}
	if f.Worker != "" {
		add("r.worker = %s", f.Worker)
	}
	if !f.Since.IsZero() {
		add("t.submitted_at >= %s", Millis(f.Since))
	}
	if f.EndedWithin > 0 {
		add("t.ended_at >= "+s.Now+" - %s", f.EndedWithin.Milliseconds())
	}
	if f.Before > 0 {
		add("j.id < %s", f.Before)
	}
	tail := " order by j.id desc"
	if f.Limit > 0 {
		tail += fmt.Sprintf(" limit %d", f.Limit)
	}
	if len(where) > 0 {
		tail = " where " + strings.Join(where, " and ") + tail
	}
	return s.jobs(ctx, s.db, tail, args...)
}

// Get returns a job. For an unknown id it returns a *fault.KeyError.
func (s *Store) Get(ctx context.Context, id int64) (*Job, error) { return s.GetFrom(ctx, s.db, id) }

// GetFrom is like Get, also in a transaction.
func (s *Store) GetFrom(ctx context.Context, q Querier, id int64) (*Job, error) {
	list, err := s.jobs(ctx, q, " where j.id = $1", id)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, unknown(id)
	}
	return list[0], nil
}

func unknown(id int64) error {
	return fault.Hinted(fault.Of(&fault.KeyError{}, "there is no job %d", id), "see: transect jobs")
}

// jobs reads jobs; the newest attempt has the current epoch or is the last one.
func (s *Store) jobs(ctx context.Context, q Querier, tail string, args ...any) ([]*Job, error) {
	due := fmt.Sprintf(s.millis, "j.scheduled_at")
	list, err := Collect(ctx, q, func(rows *sql.Rows) (*Job, error) {
		job := &Job{}
		var spec []byte
		var queue, submitter string
		var priority int
		var onFailure, ping sql.NullString
		var submitted, due, started, ended int64
		if err := rows.Scan(&job.ID, &spec, &queue, &priority, &job.State, &job.Waiting, &job.Epoch, &job.Tries,
			&job.ExitCode, &job.Message, &submitted, &due, &started, &ended, &job.Worker, &job.Cancelled,
			&submitter, &onFailure, &ping); err != nil {
			return nil, err
		}
		if json.Unmarshal(spec, &job.Spec) != nil { // one that anybody wrote hides no other
			job.Spec = Spec{Script: "(cannot be read)"}
		}
		job.SetTargets(onFailure, ping)
		job.Queue, job.Priority, job.Submitter = queue, priority, submitter
		job.Submitted, job.Due, job.Started, job.Ended = FromMillis(submitted), FromMillis(due), FromMillis(started),
			FromMillis(ended)
		return job, nil
	}, `select j.id, `+s.args+`, j.queue, j.priority, `+StateSQL+`, t.waiting, t.epoch, t.tries, t.exit_code, t.message,
		t.submitted_at, `+due+`, t.started_at, t.ended_at, coalesce(r.worker, ''), `+CancelAskedSQL+`,
		t.submitter, n.on_failure, n.ping
		from river_job j join tr_job t on t.job_id = j.id left join tr_target n on n.job_id = j.id
		left join tr_run r on r.id = (select max(id) from tr_run where job_id = j.id)`+tail, args...)
	return list, s.Explain(err)
}
