package transfer

import "time"

const (
	// A window ends once so many requests per connection were answered, or so many times the bytes
	// allowed in flight were moved, or after maxWindow. While the limit doubles with each window,
	// less evidence is enough.
	windowRequests, startRequests = 4, 1
	minWindow, minStartWindow     = 250 * time.Millisecond, 20 * time.Millisecond
	maxWindow, maxStartWindow     = 1500 * time.Millisecond, 500 * time.Millisecond
	// minRequests is the number of requests of a short window.
	minRequests = 8
	// requestBytes is the weight of a request besides its bytes: small files take time by their number.
	requestBytes = slotBytes / 2
)

// window measures the transfers of a period.
type window struct {
	start           time.Time
	bytes, requests int64
	contended       time.Duration // how long demand exceeded the limit
	held            time.Duration // sum over all connections of the time held

	at    time.Time // time of the last note, with its state
	used  int
	short bool
}

// sample is a finished window.
type sample struct {
	rate        float64 // bytes per second, requests included
	contended   float64 // share of the time that demand exceeded the limit, 0 to 1
	connections float64 // in use, on average
	sparse      bool    // few bytes were transferred: the line is slow
}

// note records the connections in use from now on, and whether more are wanted.
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
	// minShare is the share of its ideal gain that a connection must bring; on a slow line nearly
	// all of it, because otherwise each file takes longer.
	minShare, minSparseShare = 0.25, 0.75
	// maxLoss is the throughput that may be lost with a connection, as a factor of the remainder.
	maxLoss = 0.97
	// windowsPerDecision is the number of windows behind a decision.
	windowsPerDecision = 2
	// Between two trials the tuner waits for this many decisions, more of them while trials bring nothing.
	minStay, maxStay = 3, 24
	// minContended is the minimum contended share of a window: below it, the window shows nothing
	// about a higher limit.
	minContended = 0.5
)

// tuner finds the number of slots with the most throughput. It doubles while that helps, then tries
// a step up or down from time to time. It has no clock: its input is one sample after the other.
type tuner struct {
	limit, most int

	starting bool   // every window so far was better than the one before
	climbing bool   // no maximum was found yet: double
	skip     bool   // the next sample spans a change of limit
	fell     bool   // overload reduced the limit, and no window has ended since
	trial    bool   // limit is tried against best
	down     bool   // the next trial goes down
	best     int    // the best number so far
	base     sample // throughput of best
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

// overloaded reduces the limit after a complaint, once for all complaints about one load: a trial
// is abandoned, any other limit loses a third.
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

// set changes the limit and restarts the measurement.
func (t *tuner) set(n int, trial bool) {
	t.limit, t.trial = n, trial
	t.skip, t.seen, t.sum = true, 0, sample{}
}

// observe takes a sample at the current limit.
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
		t.base = mean // follow changes of the network
		t.stay--
	default:
		t.base = mean
		t.try()
	}
}

// minGain returns the gain required of more connections than the best limit uses.
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

// judge keeps a trial's limit if it was better, otherwise returns to the best.
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
	case t.starting && !tried.sparse: // new connections need time: measure again
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
