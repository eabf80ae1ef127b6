package worker

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"transect/client/transport"
	"transect/runtime/jobs"
)

// How long a job waits before it tries again to take its key: jobs that wait for the same key share ten tries
// a second.
const (
	keyDelay     = time.Second
	keyShare     = 100 * time.Millisecond
	longKeyDelay = 30 * time.Second
)

// lateRequests is how long after an attempt was lost its requests may arrive, with a large margin.
const lateRequests = 5 * time.Minute

// attempt is one execution of a job.
type attempt struct {
	s   *session
	job jobs.Taken

	id       int64 // of tr_run; 0 before it started
	epoch    int64
	number   int
	tries    int           // earlier temporary failures
	takeOver bool          // an attempt was lost recently
	again    time.Duration // when the job may start again
	slowNow  atomic.Int64  // operations of the database that take long now
	unpacked string        // folder of the unpacked script, with a separator; "" for a script of the binary
	log      *logBuffer
	last     lastLine // of standard error

	mu        sync.Mutex
	process   *process // nil before its start and after its end
	cancelled bool
	killed    bool
	waited    time.Time // when it last polled for the end of other jobs
	progress  time.Time // when it last showed progress
	quiet     bool      // that was long ago, which is said
}

// waitsFor is how long after polling other jobs an attempt counts as waiting: it polls every second.
const waitsFor = 3 * time.Second

// waits records that the script waits for other jobs.
func (a *attempt) waits() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.waited = time.Now()
}

// patience returns the time limit for the process's database operations, and says of slow ones.
func (a *attempt) patience() jobs.Patience {
	return jobs.Patience{Try: a.s.w.o.Times.Hold, Moved: a.moved, Slow: func(since time.Time, why error) {
		a.log.say("%s", a.slow(since, why))
	}}
}

// slow says where people look that the attempt waits for the database, and when it answers again, but not in its
// log, which may be what waits.
func (a *attempt) slow(since time.Time, why error) (text string) {
	waits := "the database since " + since.Format(clockTime)
	text = "waiting for " + waits
	if why == nil {
		text, waits = "the database has answered a request of "+since.Format(clockTime), ""
	}
	a.countWait(why)
	a.s.log.Warn(fmt.Sprintf("job %d: %s", a.job.ID, text), "error", why)
	go a.setWaiting(waits)
	return text
}

// clockTime is the layout of times in messages that others may read elsewhere.
const clockTime = "15:04:05 MST"

// setWaiting records what the running attempt waits for, "" for nothing. Another connection may work.
func (a *attempt) setWaiting(what string) {
	ctx, cancel := a.s.asking(a.s.over)
	defer cancel()
	_ = a.s.store.Tx(ctx, func(tx *jobs.Tx) error { // it is only shown
		_, err := tx.ExecContext(ctx, "update tr_job set waiting = $1 where job_id = $2 and exists "+
			"(select 1 from tr_run where id = $3 and ended_at is null)", what, a.job.ID, a.id)
		return errors.Join(err, a.s.store.NotifyTx(ctx, tx, a.job.ID))
	})
}

// moved records a sign of progress: output, a write, or a change of the record.
func (a *attempt) moved() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.quiet {
		go a.setWaiting("")
	}
	a.progress, a.quiet = time.Now(), false
}

// checkQuiet says once when there was no sign of progress for long.
func (a *attempt) checkQuiet() {
	a.mu.Lock()
	defer a.mu.Unlock()
	since := a.progress
	if a.quiet || time.Since(since) < quietAfter*a.s.w.o.Times.Hold || time.Since(a.waited) < waitsFor {
		return
	}
	a.quiet = true
	a.s.log.Warn(fmt.Sprintf("job %d has shown no progress since %s: no output, no write, no request", a.job.ID,
		since.Format(clockTime)))
	go a.setWaiting("a sign of progress since " + since.Format(clockTime))
}

// quietAfter is how long an attempt may show no progress before the worker says so, in Times.Hold: 10 minutes.
const quietAfter = 50

// idle reports whether the script waits for other jobs: then it needs no slot.
func (a *attempt) idle() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return time.Since(a.waited) < waitsFor
}

// perform runs the script.
func (a *attempt) perform() (e end) {
	ctx := a.s.over
	a.s.w.o.Counters.started.Add(1)
	if a.number == 1 {
		a.s.log.Info(fmt.Sprintf("job %d starts: %s", a.job.ID, a.job.Spec.Title()))
	} else {
		a.s.log.Info(fmt.Sprintf("job %d starts, attempt %d: %s", a.job.ID, a.number, a.job.Spec.Title()))
	}
	a.moved()
	a.log = newLogBuffer(ctx, &logBuffer{keep: a.keepBatch, drop: a.dropBatches, redact: a.redact})
	defer a.log.close()
	defer func() {
		if p := recover(); p != nil {
			e = end{code: codeFailed, message: fmt.Sprint("internal error: ", p)}
			a.log.say("%s", e.message)
		}
	}()
	work, err := a.prepare(ctx)
	if err != nil {
		a.log.say("%v", err)
		return endOf(exitCode(err), err.Error())
	}
	defer work.remove()
	return a.execute(work)
}

// begin records the start of the attempt and increments the epoch, unless the job cannot start now.
func (a *attempt) begin(ctx context.Context, tx *jobs.Tx) error {
	s, now := a.s, a.s.store.Now
	if a.job.Err != nil {
		return a.note(ctx, tx, end{outcome: jobs.Failed, message: "it cannot be read: " + a.job.Err.Error()})
	}
	waits, err := a.takeKey(ctx, tx)
	if err != nil {
		return err
	}
	if waits != "" {
		return a.note(ctx, tx, end{outcome: jobs.Waiting, message: waits, delay: a.again})
	}
	err = tx.QueryRowContext(ctx, `update tr_job set epoch = epoch + 1, waiting = '', started_at = `+now+
		` where job_id = $1 returning epoch, tries`, a.job.ID).Scan(&a.epoch, &a.tries)
	if errors.Is(err, sql.ErrNoRows) {
		return a.note(ctx, tx, end{outcome: jobs.Failed})
	}
	if err != nil {
		return err
	}
	// a start whose response was lost
	if _, err := tx.ExecContext(ctx, "delete from tr_run where job_id = $1 and ended_at is null", a.job.ID); err != nil {
		return err
	}
	var lost int
	if err := tx.QueryRowContext(ctx, `select count(*), coalesce(sum(case when outcome = $2 and ended_at > `+now+
		` - $3 then 1 else 0 end), 0) from tr_run where job_id = $1`,
		a.job.ID, string(jobs.Lost), lateRequests.Milliseconds()).Scan(&a.number, &lost); err != nil {
		return err
	}
	a.number, a.takeOver = a.number+1, lost > 0
	if a.number > 1 {
		if _, err := tx.ExecContext(ctx, "delete from tr_result where job_id = $1", a.job.ID); err != nil {
			return err
		}
	}
	if err := tx.QueryRowContext(ctx,
		`insert into tr_run (job_id, attempt, epoch, worker_id, worker, started_at) values ($1, $2, $3, $4, $5, `+now+
			`) returning id`,
		a.job.ID, a.number, a.epoch, s.id, s.w.o.Name).Scan(&a.id); err != nil {
		return err
	}
	return s.store.NotifyTx(ctx, tx, a.job.ID)
}

// lockOwn locks the job and checks that this worker still owns it. It reports whether cancellation was
// requested.
func (a *attempt) lockOwn(ctx context.Context, tx *jobs.Tx) (cancelled bool, err error) {
	err = tx.QueryRowContext(ctx, "select "+jobs.CancelAskedSQL+" from river_job j where j.id = $1 and j.state = "+
		"'running' and "+a.s.store.Owner+" = $2"+a.s.store.Lock("for update of j"), a.job.ID, a.s.id).Scan(&cancelled)
	if errors.Is(err, sql.ErrNoRows) {
		err = errTaken
	}
	return cancelled, err
}

// errTaken ends an attempt whose job was taken over by another worker, or removed.
var errTaken = fmt.Errorf("the job belongs to another worker: %w", errFenced)

// takeKey takes the key of a job; waits describes its holder.
func (a *attempt) takeKey(ctx context.Context, tx *jobs.Tx) (waits string, err error) {
	key := a.job.Spec.Key
	if key == "" {
		return "", nil
	}
	if a.s.store.Postgres { // so that the following sees what others have just committed
		if _, err := tx.ExecContext(ctx, "select pg_advisory_xact_lock(hashtextextended($1, 7))", key); err != nil {
			return "", err
		}
	}
	var taken int64
	err = tx.QueryRowContext(ctx,
		`insert into tr_key (key, job_id) values ($1, $2) on conflict (key) do update set job_id = excluded.job_id
		where tr_key.job_id = excluded.job_id or not exists (select 1 from river_job j join tr_run r on r.job_id = j.id
			where j.id = tr_key.job_id and j.state = 'running' and r.ended_at is null) returning job_id`, key,
		a.job.ID).Scan(&taken)
	if !errors.Is(err, sql.ErrNoRows) {
		return "", err
	}
	others := 0
	err = tx.QueryRowContext(ctx, "select count(*) from tr_job where key = $1 and waiting <> ''", key).Scan(&others)
	a.again = min(max(keyDelay, time.Duration(others)*keyShare), longKeyDelay)
	return "the key " + key, err
}

// redact removes possible secrets, the worker's secrets, and the folder of the unpacked script.
func (a *attempt) redact(line string) string {
	if a.unpacked != "" {
		line = strings.ReplaceAll(line, a.unpacked, "")
	}
	for _, secret := range a.s.w.o.Secrets {
		line = strings.ReplaceAll(line, secret, "[redacted]")
	}
	return transport.Redact(line)
}

func (a *attempt) isCancelled() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.cancelled
}

func (a *attempt) setCancelled(yes bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.cancelled = a.cancelled || yes
}

// lastLine keeps the most informative line of standard error: the last headline of an error, else the last
// line that is not a detail of another.
type lastLine struct {
	mu       sync.Mutex
	text     string
	headline bool
}

var errorHeadline = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Z]\w*Error: `) })

func (l *lastLine) see(line string) {
	headline := errorHeadline().MatchString(line)
	if line == "" || strings.HasPrefix(line, " ") || strings.HasPrefix(line, "time=") {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if headline || !l.headline {
		l.text, l.headline = line, headline
	}
}

func (l *lastLine) get() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text
}
