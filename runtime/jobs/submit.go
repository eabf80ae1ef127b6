package jobs

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/riverqueue/river"

	"transect/client/fault"
)

// Submit inserts a job and returns its id.
func (s *Store) Submit(ctx context.Context, spec Spec) (id int64, err error) {
	err = s.Tx(ctx, func(tx *sql.Tx) error {
		id, err = s.SubmitTx(ctx, tx, spec)
		return err
	})
	return id, err
}

// SubmitTx inserts a job in a transaction.
func (s *Store) SubmitTx(ctx context.Context, tx *sql.Tx, spec Spec) (int64, error) {
	if err := spec.Complete(); err != nil {
		return 0, err
	}
	options := &river.InsertOpts{Queue: spec.Queue, Priority: spec.Priority, MaxAttempts: maxAttempts, ScheduledAt: spec.At}
	if spec.In > 0 {
		var now int64
		if err := tx.QueryRowContext(ctx, "select "+s.now).Scan(&now); err != nil {
			return 0, err
		}
		options.ScheduledAt = FromMillis(now).Add(spec.In)
	}
	inserted, err := s.client.InsertTx(ctx, tx, spec, options)
	if err != nil {
		return 0, err
	}
	_, err = tx.ExecContext(ctx, "insert into tr_job (job_id, title, key, schedule, bundle) values ($1, $2, $3, $4, $5)",
		inserted.Job.ID, spec.Title(), spec.Key, spec.Schedule, spec.Bundle)
	if err == nil {
		err = s.WatchTx(ctx, tx, inserted.Job.ID, spec)
	}
	return inserted.Job.ID, err
}

// WatchTx lets workers look after a job whose submitter wants to be told how it
// ends, or when it does not start. A job that is tried again is watched again.
func (s *Store) WatchTx(ctx context.Context, tx *sql.Tx, id int64, spec Spec) error {
	if spec.OnFailure == "" && spec.Ping == "" {
		return nil
	}
	late := int64(0)
	if spec.OnFailure != "" {
		late = spec.Late.Milliseconds()
	}
	due := fmt.Sprintf(s.millis, "scheduled_at")
	_, err := tx.ExecContext(ctx, "insert into tr_watch (job_id, starts, late_at) select id, cast($2 as bigint), case when cast($3 as bigint) > 0 then "+due+" + cast($3 as bigint) else 0 end from river_job where id = $1"+
		" on conflict (job_id) do nothing", id, Bit(spec.Ping != ""), late)
	return err
}

// maxAttempts bounds River's count, which takeovers raise as well; retries are
// counted in tr_job.
const maxAttempts = 30_000

// Complete sets defaults and checks what is given.
func (s *Spec) Complete() error {
	if s.Queue == "" {
		s.Queue = DefaultQueue
	}
	if s.Priority == 0 {
		s.Priority = DefaultPriority
	}
	switch {
	case s.Script == "":
		return fault.Of(&fault.UsageError{}, "no script was named")
	case s.Priority < 1 || s.Priority > 4:
		return fault.Of(&fault.UsageError{}, "priority %d: it must be 1 (first) to 4 (last)", s.Priority)
	case s.Retries < 0 || s.Timeout < 0 || s.In < 0 || s.Late < 0:
		return fault.Of(&fault.UsageError{}, "retries and durations must not be negative")
	case !s.At.IsZero() && s.In > 0:
		return fault.Of(&fault.UsageError{}, "a time and a delay exclude each other")
	}
	return CheckQueue(s.Queue)
}

// DefaultRetries is how often a job is tried again unless it says otherwise.
const DefaultRetries = 5

// DefaultPriority leaves room above and below.
const DefaultPriority = 2

// CheckQueue accepts letters, digits and -_.: as the name of a queue.
func CheckQueue(name string) error {
	for _, c := range name {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-_.:", c)) {
			return fault.Hinted(fault.Of(&fault.UsageError{}, "the queue %q: names have letters, digits and -_.: only", name), "such as default or %s", "field-office")
		}
	}
	if name == "" || len(name) > 100 {
		return fault.Of(&fault.UsageError{}, "the name of a queue has 1 to 100 characters")
	}
	return nil
}

// SlotEnv are the variables that tell a job of a schedule its slot, in UTC.
func (s Spec) SlotEnv() []string {
	if s.Schedule == "" {
		return nil
	}
	return []string{"TRANSECT_SCHEDULE=" + s.Schedule, "TRANSECT_SLOT=" + FromMillis(s.Slot).UTC().Format(time.RFC3339)}
}

// Title is the script with its arguments, for lists.
func (s Spec) Title() string {
	title := strings.Join(append([]string{s.Script}, s.Args...), " ")
	if len(title) > 200 {
		title = strings.ToValidUTF8(title[:197], "") + "…"
	}
	return title
}

// facts is the JSON form of a job.
func (j Job) facts() any {
	stamp := func(t time.Time) *time.Time {
		if t.IsZero() {
			return nil
		}
		t = t.UTC()
		return &t
	}
	return struct {
		ID        int64      `json:"id"`
		State     State      `json:"state"`
		Waiting   string     `json:"waiting_for,omitempty"`
		Run       string     `json:"run"`
		Spec      Spec       `json:"job"`
		Attempts  int64      `json:"epoch"`
		Tries     int        `json:"tries"`
		ExitCode  *int       `json:"exit_code"`
		Message   string     `json:"message,omitempty"`
		Submitted *time.Time `json:"submitted"`
		Due       *time.Time `json:"due"`
		Started   *time.Time `json:"started"`
		Ended     *time.Time `json:"ended"`
		Worker    string     `json:"worker,omitempty"`
		Cancelled bool       `json:"cancel_requested,omitempty"`
	}{j.ID, j.State, j.Waiting, RunID(j.ID), j.Spec, j.Epoch, j.Tries, j.ExitCode, j.Message,
		stamp(j.Submitted), stamp(j.Due), stamp(j.Started), stamp(j.Ended), j.Worker, j.Cancelled}
}
