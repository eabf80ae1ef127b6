package transport

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"time"

	"transect/client/fault"
	"transect/client/human"
	"transect/client/transport/httpcore"
	"transect/client/wait"
)

const (
	// defaultOutage is how long requests are repeated while a host is unreachable.
	defaultOutage = 5 * time.Minute
	// outageMemory is how long after its last failure a host counts as unreachable.
	outageMemory = 3 * longestBackoff
	// shortestNotice is the shortest wait before a retry that the user sees:
	// most failures are over within a second.
	shortestNotice = time.Second
	// noticeInterval is the minimum time between two notices of one connection, unless a request has had more
	// retries than all others.
	noticeInterval = 10 * time.Second
	// silentAnswer is how long a host may answer nothing before the user is notified.
	silentAnswer = 10 * time.Second
	// shortestOutage is how long a host must have been away for its return to be shown.
	shortestOutage = time.Second / 2
)

// outages defines how a transport retries while a host is unreachable.
type outages struct {
	counted bool          // by retries, like any other failure
	longest time.Duration // maximum duration; 0 does not wait
	// hosts are waited for that never answered: else an address may be mistyped, and its error comes soon
	first bool
}

func outagesOf(o Options) outages {
	switch {
	case o.MaxOutage != 0:
		return outages{longest: max(o.MaxOutage, 0), first: true}
	case o.MaxRetries != 0:
		return outages{counted: true}
	}
	return outages{longest: defaultOutage}
}

// Retries decides when one request is sent again, and when it has failed. While its host is unreachable (no
// connection, or the answer of a gateway) the duration of the outage is limited; other failures are counted.
type Retries struct {
	Limit          int // of failures with answers in between
	First, Longest time.Duration
	Sleep          func(context.Context, time.Duration) error // the transport's when nil

	contact int // limit while the host has never answered; Limit when 0
	tried   int // attempts that failed
	counted int // of them, the ones that did not continue an outage
	since   time.Time
	waited  time.Duration // in the present outage
}

// Wait waits before a request to an address is sent again after an error, and shows that to the user. It
// returns the error when the request has failed for good.
func (t *Transport) Wait(ctx context.Context, r *Retries, address string, err error) error {
	p := &pacer{}
	if u, _ := t.base.Parse(address); u != nil {
		p = t.pacer(u)
	}
	v := verdict{again: fault.Transient(err), status: fault.Status(err)}
	v.away = v.status == 0 || t.storageAway(v.status)
	return t.wait(ctx, r, p, v, err)
}

func (t *Transport) wait(ctx context.Context, r *Retries, p *pacer, v verdict, err error) error {
	r.tried++
	limit, outage := r.Limit, v.away && !t.outages.counted
	if v.away && v.status == 0 && !t.outages.first && !p.everReached() {
		outage = false
		if r.contact > 0 {
			limit = min(limit, r.contact)
		}
	}
	since, now := time.Time{}, time.Now()
	if v.away {
		since = p.lost(now, 0)
	}
	if !outage || since != r.since { // otherwise it continues
		r.since, r.waited = since, 0
		r.counted++
	}
	lasted := max(now.Sub(since), r.waited) // a test may not wait
	delay := wait.Backoff(r.tried, r.First, r.Longest)
	if v.hasRetry {
		delay = v.retryAfter + wait.Backoff(1, r.First, r.Longest)/2
	}
	switch {
	case !v.again || ctx.Err() != nil:
		return fault.AfterAttempts(err, r.tried)
	case outage && lasted >= t.outages.longest:
		return fault.AfterAttempts(gaveUp(err, t.outages.longest), r.tried)
	case r.counted > limit:
		return fault.AfterAttempts(err, r.tried)
	case outage:
		delay = min(delay, t.outages.longest-lasted)
		r.waited += delay
	default:
		lasted = 0
	}
	if v.retryAfter < reportedWait {
		t.waiting(r.tried, delay, lasted, err)
	}
	sleep := r.Sleep
	if sleep == nil {
		sleep = t.options.Sleep
	}
	if sleep(ctx, delay) != nil {
		return t.interrupted(ctx, "")
	}
	return nil
}

// gaveUp adds the length of the outage to an error.
func gaveUp(err error, outage time.Duration) error {
	if f := fault.Find(err); f != nil && outage > 0 {
		f.Facts().Outage = true
		f.Facts().Hint = fmt.Sprintf("given up after an outage of %s: run again when it is over, finished work is kept; "+
			"--max-outage waits longer", human.Duration(outage))
	}
	return err
}

// isAway reports whether a status means a gateway whose platform is unreachable.
func isAway(status int) bool {
	return status == http.StatusBadGateway || status == http.StatusServiceUnavailable ||
		status == http.StatusGatewayTimeout
}

// storageAway reports whether a status of the storage is part of an outage: overloaded storages answer 429
// and 500 for as long, so a limit set for outages applies to them, too.
func (t *Transport) storageAway(status int) bool {
	return isAway(status) || t.outages.first && fault.TransientStatus(status)
}

// silence returns how long an exchange without an answer was silent. The default time limit of a connection
// is longer than an outage's: such a silence counts from its end.
func (o outages) silence(err error) time.Duration {
	if lost, ok := errors.AsType[*httpcore.Lost](err); ok && (o.first || lost.Silent <= o.longest) {
		return lost.Silent
	}
	return 0
}

// shortestTry is the minimum time limit of the last request in an outage.
const shortestTry = 5 * time.Second

// limit sets how long an exchange may be silent: within an outage at most the rest of it, except for a write
// whose outcome would be unknown.
func (t *Transport) limit(x *exchange, p *pacer, repeatable bool) {
	x.Stall = t.options.Stall
	if away := p.awaySince(); !away.IsZero() && !t.outages.counted {
		left := max(t.outages.longest-time.Since(away), shortestTry)
		x.Stall = min(x.Stall, left)
		if repeatable {
			x.Answer = min(x.Answer, left)
		}
	}
}

// lost records that the host has not answered, after a silence, and returns since when.
func (p *pacer) lost(now time.Time, silent time.Duration) (since time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.away.IsZero() || now.Add(-silent).Sub(p.missed) > outageMemory {
		p.away = now.Add(-silent)
	}
	p.missed = now
	return p.away
}

// awaySince returns since when the host has not answered; zero if it does.
func (p *pacer) awaySince() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.missed) > outageMemory {
		return time.Time{}
	}
	return p.away
}

// Waiting shows that a request waits before retry n, after an error.
func (t *Transport) Waiting(n int, delay time.Duration, err error) { t.waiting(n, delay, 0, err) }

// waiting shows it from time to time: the longer an outage has lasted, the more rarely.
func (t *Transport) waiting(n int, delay, lasted time.Duration, err error) {
	what := "network"
	if _, answered := errors.AsType[*fault.ResponseError](err); answered {
		what = "platform"
	}
	t.notice(n, delay >= shortestNotice, lasted,
		fmt.Sprintf("waiting for the %s, retry %d in %.0f s", what, n, math.Ceil(delay.Seconds())), err.Error())
}

// unresponsive shows that a host accepts no connection, or no bytes.
func (t *Transport) unresponsive(u *url.URL, lasted time.Duration) {
	t.notice(0, true, lasted, "waiting for the network", u.Host+" does not respond")
}

// unanswered shows that a host has received a request, and answers neither it nor another.
func (t *Transport) unanswered(u *url.URL, lasted time.Duration) {
	if lasted = t.pacer(u).unanswered(lasted, t.silent); lasted >= t.silent {
		t.notice(0, true, lasted, fmt.Sprintf("waiting for the platform, %.0f s without an answer", lasted.Seconds()),
			u.Host+" has the request and does not answer")
	}
}

func (t *Transport) notice(n int, show bool, lasted time.Duration, text, reason string) {
	now := time.Now()
	t.mu.Lock()
	further := n > t.shown && lasted < 12*noticeInterval
	show = show && (further || now.Sub(t.noticed) >= max(noticeInterval, lasted/10))
	if show {
		t.noticed, t.shown = now, max(t.shown, n, 1)
	}
	t.mu.Unlock()
	if show {
		t.log.Info(text, "reason", t.Redact(reason))
	}
}

// back shows the end of an outage that was shown. An answer right after a failure, such as to a concurrent
// request, does not end an outage.
func (t *Transport) back(lasted time.Duration) {
	if lasted < shortestOutage {
		return
	}
	t.mu.Lock()
	shown := t.shown > 0
	t.shown, t.noticed = 0, time.Time{}
	t.mu.Unlock()
	if shown {
		t.log.Info("the connection is back", "after", human.Duration(lasted))
	}
}
