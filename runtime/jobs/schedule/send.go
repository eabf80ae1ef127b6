package schedule

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"transect/client/fault"
	"transect/runtime/jobs"
	"transect/runtime/unattended/notice"
)

// message is the body of a row of tr_notice.
type message struct {
	notice.Notice
	Run string `json:"run,omitempty"` // of a ping
}

const (
	hold       = 90 * time.Second // how long a claimed notice is kept from other workers
	giveUp     = 24 * time.Hour   // how long a notice is retried
	longest    = 30 * time.Minute // between two tries
	maxRefused = 10_000           // refused notices to remember as reported
	byWorker   = "env:"           // prefix of the name of a worker's variable that holds the target
)

// enqueue inserts a notice to send: a ping if it has an event.
func (r *runner) enqueue(ctx context.Context, tx *jobs.Tx, about, target, event string, m message) error {
	body, err := json.Marshal(m)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "insert into tr_notice (about, target, event, body, send_at) values ($1, $2, $3, $4, "+
		r.clock+")",
		about, target, event, string(body))
	return err
}

// send sends the notices that are due, a few at a time. A notice that fails is retried for a day, by any
// worker.
func (r *runner) send(ctx, sends context.Context) {
	if r.Sender == nil {
		return
	}
	for {
		select {
		case r.senders <- struct{}{}:
		default:
			return // all senders are busy
		}
		n, err := r.claim(ctx)
		if err != nil || n == nil {
			<-r.senders
			if err != nil && ctx.Err() == nil {
				r.Warn("notices cannot be sent now: " + err.Error())
			}
			return
		}
		r.sending.Go(func() {
			defer func() { <-r.senders }()
			r.deliver(sends, n)
		})
	}
}

// unsent is a row of tr_notice.
type unsent struct {
	id                   int64
	about, target, event string
	message
	age   time.Duration
	tries int
}

// claim claims a notice; nil when there is none that this worker may send.
func (r *runner) claim(ctx context.Context) (*unsent, error) {
	n := &unsent{}
	err := r.store.Tx(ctx, func(tx *jobs.Tx) (err error) {
		var body string
		for permitted := false; !permitted; {
			var age int64
			err = tx.QueryRowContext(ctx,
				"select id, about, target, event, body, "+r.clock+" - at, tries from tr_notice "+
					"where send_at <= "+r.clock+" and id > $1 order by id limit 1"+r.store.Lock("for update skip locked"),
				n.id).Scan(&n.id, &n.about, &n.target, &n.event, &body, &age, &n.tries)
			if err != nil {
				return err
			}
			n.age = time.Duration(age) * time.Millisecond
			permitted = r.permits(n)
		}
		if err := json.Unmarshal([]byte(body), &n.message); err != nil {
			return fmt.Errorf("the notice of %s: %w", n.about, err)
		}
		_, err = tx.ExecContext(ctx, fmt.Sprintf("update tr_notice set tries = tries + 1, send_at = %s + %d where id = $1",
			r.clock, hold.Milliseconds()), n.id)
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return n, err
}

// permits reports whether the policy allows this worker to send a notice: a refused one is left to others,
// and dropped when none has sent it for a day.
func (r *runner) permits(n *unsent) bool {
	target, err := r.target(n)
	if err != nil || n.age >= giveUp {
		return true // deliver reports why it cannot be sent
	}
	if err = r.Sender.Permits(target, n.event != ""); err != nil && !r.refused[n.id] {
		if len(r.refused) == maxRefused {
			clear(r.refused)
		}
		r.refused[n.id] = true
		r.Warn(fmt.Sprintf("the notice about %s is left to other workers: %s", n.about, notice.Explain(err)))
	}
	return err == nil
}

func (r *runner) deliver(ctx context.Context, n *unsent) {
	err := r.post(ctx, n)
	update := "delete from tr_notice where id = $1"
	switch {
	case err != nil && ctx.Err() != nil:
		// this worker stops; another one sends it
		update = "update tr_notice set tries = tries - 1, send_at = " + r.clock + " where id = $1"
	case err != nil && n.age < giveUp:
		again := min(longest, time.Minute<<min(n.tries, 10))
		update = fmt.Sprintf("update tr_notice set send_at = %s + %d where id = $1", r.clock, again.Milliseconds())
		if n.tries == 0 {
			r.Warn(fmt.Sprintf("the notice about %s was not sent and will be retried: %s", n.about, notice.Explain(err)))
		}
	case err != nil:
		r.Warn(fmt.Sprintf("the notice about %s could not be sent for a day and is dropped: %s", n.about,
			notice.Explain(err)))
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if _, err := r.store.DB().ExecContext(ctx, update, n.id); err != nil {
		r.Warn(fmt.Sprintf("the notice about %s may be sent twice: %s", n.about, err))
	}
}

// target returns the target of a notice for this worker.
func (r *runner) target(n *unsent) (string, error) {
	name, ok := strings.CutPrefix(n.target, byWorker)
	if !ok {
		return n.target, nil
	}
	if name == "TRANSECT_JOBS" || strings.HasPrefix(name, "PG") {
		return "", fault.Of(&fault.PermissionError{}, "notices cannot use the worker's variable %s", name)
	}
	target, _ := r.Sender.Env(name)
	if target == "" {
		return "", fault.Hinted(fault.Of(&fault.ConfigError{}, "the variable %s is not set on this worker", name),
			"set it to a command or a URL")
	}
	return target, nil
}

func (r *runner) post(ctx context.Context, n *unsent) error {
	target, err := r.target(n)
	if err != nil {
		return err
	}
	if n.event == "" {
		return r.Sender.Send(ctx, target, n.Notice)
	}
	return r.Sender.Ping(ctx, target, n.Run, n.event, n.Text)
}
