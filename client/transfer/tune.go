package transfer

import "time"

const (
	// A window ends once this many requests per connection were answered in it,
	// or after maxWindow. While the number of connections doubles with each
	// window, less evidence is enough.
	windowRequests, startRequests = 4, 1
	minWindow, minStartWindow     = 250 * time.Millisecond, 20 * time.Millisecond
	maxWindow, maxStartWindow     = 1500 * time.Millisecond, 500 * time.Millisecond
	// minRequests is the number of requests of a short window.
	minRequests = 8
	// requestBytes is what a request counts besides its bytes: the time of small
	// files depends on their number.
	requestBytes = 256 << 10
)

// window is what was transferred in a stretch of time.
type window struct {
	start           time.Time
	bytes, requests int64
	contended       time.Duration // how long somebody waited for a connection
	since           time.Time     // when the present wait began, or zero
}

// sample is a finished window.
type sample struct {
	rate      float64 // bytes per second, requests included
	contended float64 // share of the time somebody waited, 0 to 1
}

func (w *window) contend(now time.Time, waiting bool) {
	if !w.since.IsZero() {
		w.contended += now.Sub(w.since)
	}
	w.since = time.Time{}
	if waiting {
		w.since = now
	}
}

func (w *window) full(now time.Time, connections int, starting bool) bool {
	enough, shortest, longest := windowRequests, minWindow, maxWindow
	if starting {
		enough, shortest, longest = startRequests, minStartWindow, maxStartWindow
	}
	took := now.Sub(w.start)
	return took >= longest || took >= shortest && w.requests >= int64(max(enough*connections, minRequests))
}

func (w *window) restart(now time.Time, waiting bool) {
	*w = window{start: now}
	w.contend(now, waiting)
}

func (w *window) end(now time.Time) sample {
	waiting := !w.since.IsZero()
	w.contend(now, waiting)
	took := now.Sub(w.start)
	s := sample{rate: float64(w.bytes+requestBytes*w.requests) / took.Seconds(),
		contended: float64(w.contended) / float64(took)}
	w.restart(now, waiting)
	return s
}

const (
	// minShare is the share of its ideal gain a connection must bring.
	minShare = 0.25
	// maxLoss is how much may be lost when a connection is given up, as a
	// factor of what remains.
	maxLoss = 0.97
	// windowsPerDecision is how many windows a decision is based on.
	windowsPerDecision = 2
	// Between two trials the tuner stays put for this many decisions, longer
	// while trials bring nothing.
	minStay, maxStay = 3, 24
	// minContended is the share of a window in which somebody must wait for a
	// connection: otherwise the window says nothing about more connections.
	minContended = 0.5
)

// tuner finds the number of connections that transfers most. It doubles while
// that helps, then tries a step up or down now and then. It has no clock: it is
// fed one sample after the other.
type tuner struct {
	limit, most int

	starting bool    // every window so far was better than the one before
	climbing bool    // no maximum was found yet: double
	skip     bool    // the next sample spans a change of limit
	fell     bool    // complaints reduced the limit, and no window has ended since
	trial    bool    // limit is tried against best
	down     bool    // the next trial goes down
	best     int     // the best number so far
	base     float64 // what best transfers
	seen     int     // windows in sum
	sum      float64
	stay     int // decisions until the next trial
	stayNext int // stay after a trial that brings nothing
}

func newTuner(most int) *tuner {
	most = max(most, 1)
	start := min(firstConnections, most)
	return &tuner{limit: start, best: start, most: most, starting: true, climbing: true, skip: true, stayNext: minStay}
}

// overloaded reduces the limit after a complaint, once for all complaints about
// one load: a number being tried is given up, any other loses a third.
func (t *tuner) overloaded() {
	if t.fell {
		return
	}
	if !t.trial || t.limit < t.best {
		t.best = max(1, min(t.best, t.limit)*2/3)
	}
	t.fell, t.starting, t.climbing, t.down = true, false, false, false
	t.stay = maxStay
	t.set(t.best, false)
}

// set changes the limit and begins to measure it.
func (t *tuner) set(n int, trial bool) {
	t.limit, t.trial = n, trial
	t.skip, t.seen, t.sum = true, 0, 0
}

// observe takes a sample of the present limit.
func (t *tuner) observe(s sample) {
	t.fell = false
	switch {
	case t.skip && !t.starting:
		t.skip = false
		return
	case s.contended < minContended:
		t.seen, t.sum = 0, 0
		return
	}
	t.seen++
	t.sum += s.rate
	if t.seen < windowsPerDecision && !t.starting {
		return
	}
	mean := t.sum / float64(t.seen)
	t.seen, t.sum = 0, 0
	switch {
	case t.trial:
		t.judge(mean)
	case t.stay > 0:
		t.base = mean // the network changes
		t.stay--
	default:
		t.base = mean
		t.try()
	}
}

// minGain is the gain n connections must bring over the best.
func (t *tuner) minGain(n int) float64 { return 1 + minShare*(float64(n)/float64(t.best)-1) }

// try begins a trial one step up or down from the best.
func (t *tuner) try() {
	step := max(1, t.best/4)
	n := t.best + step
	switch {
	case t.climbing:
		n = t.best * 2
	case t.down:
		n = t.best - step
	}
	n = max(1, min(n, t.most))
	if n == t.best { // at a bound: the next trial goes the other way
		t.starting, t.climbing, t.down = false, false, !t.down
		t.stay = t.stayNext
		return
	}
	t.set(n, true)
}

// judge keeps the number that was tried and goes on, or returns to the best.
func (t *tuner) judge(tried float64) {
	gain := 1.0
	if t.base > 0 {
		gain = tried / t.base
	}
	switch {
	case t.limit > t.best && gain >= t.minGain(t.limit), t.limit < t.best && gain >= maxLoss:
		t.best, t.base, t.trial, t.stayNext = t.limit, tried, false, minStay
		t.try()
		return
	case t.starting: // new connections take their time: measure again
		t.starting = false
		t.set(t.limit, true)
		return
	case !t.climbing:
		t.stayNext = min(t.stayNext*2, maxStay)
	}
	t.climbing, t.down = false, !t.down
	t.stay = t.stayNext
	t.set(t.best, false)
}
