package transfer

import "time"

const (
	// A window ends once this many requests per connection were answered in it, or so
	// often all that may be under way was moved, or after maxWindow. While the limit
	// doubles with each window, less evidence is enough.
	windowRequests, startRequests = 4, 1
	minWindow, minStartWindow     = 250 * time.Millisecond, 20 * time.Millisecond
	maxWindow, maxStartWindow     = 1500 * time.Millisecond, 500 * time.Millisecond
	// minRequests is the number of requests of a short window.
	minRequests = 8
	// requestBytes is what a request counts besides its bytes: the time of small
	// files depends on their number.
	requestBytes = slotBytes / 2
)

// window is what was transferred in a stretch of time.
type window struct {
	start           time.Time
	bytes, requests int64
	contended       time.Duration // how long more was wanted than is allowed
	held            time.Duration // how long connections were held, added up

	at    time.Time // of the last note, with its state
	used  int
	short bool
}

// sample is a finished window.
type sample struct {
	rate        float64 // bytes per second, requests included
	contended   float64 // share of the time more was wanted, 0 to 1
	connections float64 // in use, on average
	sparse      bool    // little was transferred in it: the line is slow
}

// note records how many connections are in use from now on, and whether more is wanted.
func (w *window) note(now time.Time, used int, short bool) {
	if !w.at.IsZero() {
		w.held += time.Duration(w.used) * now.Sub(w.at)
		if w.short {
			w.contended += now.Sub(w.at)
		}
	}
	w.at, w.used, w.short = now, used, short
}

// evident reports whether enough was transferred for a decision.
func (w *window) evident(t *tuner) bool {
	enough := int64(windowRequests)
	if t.starting {
		enough = startRequests
	}
	return w.requests >= max(enough*int64(w.used), minRequests) || w.bytes >= enough*int64(t.limit)*slotBytes
}

func (w *window) full(now time.Time, t *tuner) bool {
	shortest, longest := minWindow, maxWindow
	if t.starting {
		shortest, longest = minStartWindow, maxStartWindow
	}
	took := now.Sub(w.start)
	return took >= longest || took >= shortest && w.evident(t)
}

func (w *window) restart(now time.Time) {
	*w = window{start: now, at: now, used: w.used, short: w.short}
}

func (w *window) end(now time.Time, t *tuner) sample {
	w.note(now, w.used, w.short)
	took := now.Sub(w.start)
	s := sample{rate: float64(w.bytes+requestBytes*w.requests) / took.Seconds(),
		contended: float64(w.contended) / float64(took), connections: float64(w.held) / float64(took),
		sparse: !w.evident(t)}
	w.restart(now)
	return s
}

const (
	// minShare is the share of its ideal gain a connection must bring; on a slow line
	// nearly all of it, as each file takes longer otherwise.
	minShare, minSparseShare = 0.25, 0.75
	// maxLoss is how much may be lost when a connection is given up, as a
	// factor of what remains.
	maxLoss = 0.97
	// windowsPerDecision is how many windows a decision is based on.
	windowsPerDecision = 2
	// Between two trials the tuner stays put for this many decisions, longer
	// while trials bring nothing.
	minStay, maxStay = 3, 24
	// minContended is the share of a window in which more must be wanted than is
	// allowed: otherwise the window says nothing about a higher limit.
	minContended = 0.5
)

// tuner finds the number of slots that transfers most. It doubles while that helps,
// then tries a step up or down now and then. It has no clock: it is fed one sample
// after the other.
type tuner struct {
	limit, most int

	starting bool   // every window so far was better than the one before
	climbing bool   // no maximum was found yet: double
	skip     bool   // the next sample spans a change of limit
	fell     bool   // complaints reduced the limit, and no window has ended since
	trial    bool   // limit is tried against best
	down     bool   // the next trial goes down
	best     int    // the best number so far
	base     sample // what best transfers
	seen     int    // windows in sum
	sum      sample
	stay     int // decisions until the next trial
	stayNext int // stay after a trial that brings nothing
}

func newTuner(most int) *tuner {
	most = max(most, 1)
	start := min(firstSlots, most)
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
	t.skip, t.seen, t.sum = true, 0, sample{}
}

// observe takes a sample of the present limit.
func (t *tuner) observe(s sample) {
	t.fell = false
	switch {
	case t.skip && !t.starting:
		t.skip = false
		return
	case s.contended < minContended:
		t.seen, t.sum = 0, sample{}
		return
	}
	t.seen++
	t.sum.rate += s.rate
	t.sum.connections += s.connections
	t.sum.sparse = t.sum.sparse || s.sparse
	if t.seen < windowsPerDecision && !t.starting {
		return
	}
	mean := t.sum
	mean.rate /= float64(t.seen)
	mean.connections /= float64(t.seen)
	t.seen, t.sum = 0, sample{}
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

// minGain is the gain that must come with more connections than the best limit uses.
func (t *tuner) minGain(tried sample) float64 {
	share := minShare
	if tried.sparse {
		share = minSparseShare
	}
	return 1 + share*max(0, tried.connections/max(t.base.connections, 1)-1)
}

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
func (t *tuner) judge(tried sample) {
	gain := 1.0
	if t.base.rate > 0 {
		gain = tried.rate / t.base.rate
	}
	switch {
	case t.limit > t.best && gain >= t.minGain(tried), t.limit < t.best && gain >= maxLoss:
		t.best, t.base, t.trial, t.stayNext = t.limit, tried, false, minStay
		t.try()
		return
	case t.starting && !tried.sparse: // new connections take their time: measure again
		t.starting = false
		t.set(t.limit, true)
		return
	case !t.climbing:
		t.stayNext = min(t.stayNext*2, maxStay)
	}
	t.starting, t.climbing, t.down = false, false, !t.down
	t.stay = t.stayNext
	t.set(t.best, false)
}
