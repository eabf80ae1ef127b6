package transfer

import (
	"math"
	"time"
)

const (
	// A window ends early when so many requests for each connection were
	// answered in it: with small files a quarter of a second tells enough.
	enoughRequests = 4
	shortestWindow = 250 * time.Millisecond
	longestWindow  = 1500 * time.Millisecond
	// At the start, when each window decides on twice as many connections, it
	// needs to tell less.
	enoughAtStart   = 2
	shortestAtStart = 60 * time.Millisecond
	longestAtStart  = 500 * time.Millisecond
	// countable is how many requests tell more than chance.
	countable = 16
)

// window is what moved in a stretch of time.
type window struct {
	start     time.Time
	bytes     int64
	requests  int64
	contended time.Duration // how long somebody waited for a connection
	since     time.Time     // somebody waits since then; zero when nobody does
}

// sample is a window that is over, in amounts a second.
type sample struct {
	bytes, requests float64
	counted         int64   // requests
	contended       float64 // share of the time that somebody waited, 0 to 1
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
	enough, shortest, longest := enoughRequests, shortestWindow, longestWindow
	if starting {
		enough, shortest, longest = enoughAtStart, shortestAtStart, longestAtStart
	}
	took := now.Sub(w.start)
	return took >= longest || took >= shortest && w.requests >= int64(max(enough*connections, countable))
}

func (w *window) restart(now time.Time, waiting bool) {
	*w = window{start: now}
	w.contend(now, waiting)
}

func (w *window) end(now time.Time) sample {
	waiting := !w.since.IsZero()
	w.contend(now, waiting)
	took := now.Sub(w.start)
	s := sample{
		bytes: float64(w.bytes) / took.Seconds(), requests: float64(w.requests) / took.Seconds(),
		counted: w.requests, contended: float64(w.contended) / float64(took),
	}
	w.restart(now, waiting)
	return s
}

// over is how much more s moved than before, as a factor: in bytes, and in
// requests where there were enough to count, as small files take their time by
// number and not by size.
func (s sample) over(before sample) float64 {
	ratio := func(a, b float64) float64 {
		if b <= 0 {
			return 1
		}
		return a / b
	}
	if s.counted < countable || before.counted < countable {
		return ratio(s.bytes, before.bytes)
	}
	if s.bytes <= 0 || before.bytes <= 0 {
		return ratio(s.requests, before.requests)
	}
	return math.Sqrt(ratio(s.bytes, before.bytes) * ratio(s.requests, before.requests))
}

const (
	// Connections that bring less than this share of what they would at best
	// are not worth having.
	worth = 0.25
	// Going down is worth it when no more than this is lost.
	lossless = 0.97
	// looks is how many windows one number of connections is judged by.
	looks = 2
	// The time between two trials, in judgements, grows while they bring nothing.
	shortestRest, longestRest = 3, 24
	// wanted is the share of time somebody must wait for a connection in a window.
	wanted = 0.5
)

// tuner climbs to the number of connections that moves most. It doubles while
// that helps, then tries one step up or down now and then. It knows no clock:
// it is fed with one sample after the other.
type tuner struct {
	limit, most int

	starting bool   // every window so far was better than the one before
	climbing bool   // no end was found yet: double
	settling bool   // the next sample is of before and after a change
	fell     bool   // it gave way to complaints, and nothing was seen since
	trial    bool   // limit is being tried against home
	down     bool   // the next trial goes down
	home     int    // the best number so far
	base     sample // what home moves
	seen     int    // samples in sum
	sum      sample
	rest     int // judgements until the next trial
	pause    int // how long to rest after a trial that brought nothing
	ceiling  int // the other side complained above it
	lift     int // judgements until that is forgotten
}

func newTuner(most int) *tuner {
	most = max(most, 1)
	start := min(firstConnections, most)
	return &tuner{limit: start, home: start, most: most, ceiling: most, starting: true, climbing: true, settling: true, pause: shortestRest}
}

// overloaded gives way to complaints, once for all that one load brings: a
// number that was being tried is given up, any other loses a third.
func (t *tuner) overloaded() {
	if t.fell {
		return
	}
	t.ceiling, t.lift = max(1, t.limit-1), longestRest
	if !t.trial || t.limit < t.home {
		t.home = max(1, min(t.home, t.limit)*2/3)
	}
	t.fell, t.starting, t.climbing, t.down = true, false, false, false
	t.rest = shortestRest
	t.look(t.home, false)
}

// look begins to judge a number of connections.
func (t *tuner) look(n int, trial bool) {
	t.limit, t.trial = n, trial
	t.settling, t.seen, t.sum = true, 0, sample{}
}

// observe takes in what the present number of connections moved.
func (t *tuner) observe(s sample) {
	t.fell = false
	if t.starting && s.contended >= wanted {
		t.start(s)
		return
	}
	if t.settling {
		t.settling = false
		return
	}
	if s.contended < wanted {
		// Nobody wanted more connections: nothing can be learned.
		t.seen, t.sum = 0, sample{}
		return
	}
	t.seen++
	t.sum.bytes += s.bytes
	t.sum.requests += s.requests
	t.sum.counted += s.counted
	if t.seen < looks {
		return
	}
	mean := sample{bytes: t.sum.bytes / looks, requests: t.sum.requests / looks, counted: t.sum.counted}
	t.seen, t.sum = 0, sample{}
	if t.lift--; t.lift <= 0 {
		t.ceiling = t.most
	}
	if t.trial {
		t.judge(mean)
		return
	}
	t.base = mean // the network changes: compare with what it is now
	if t.rest > 0 {
		t.rest--
		return
	}
	t.try()
}

// start doubles with every window, as long as the last doubling helped. When it
// did not, it may be for the time that new connections take to be made: they
// are looked at once more, with care.
func (t *tuner) start(s sample) {
	if !t.trial || s.over(t.base) >= t.gainFor(t.limit) {
		t.home, t.base, t.trial = t.limit, s, false
		t.try()
		t.starting = t.trial
		return
	}
	t.starting = false
	t.look(t.limit, true)
}

// gainFor is how much more so many connections must move than those at home.
func (t *tuner) gainFor(n int) float64 { return 1 + worth*(float64(n)/float64(t.home)-1) }

// try goes one step from home, up or down.
func (t *tuner) try() {
	step := max(1, t.home/4)
	n := t.home + step
	switch {
	case t.climbing:
		n = t.home * 2
	case t.down:
		n = t.home - step
	}
	n = max(1, min(n, t.ceiling))
	if n == t.home { // at an end: look the other way some time
		t.climbing, t.down = false, !t.down
		t.rest = t.pause
		return
	}
	t.look(n, true)
}

// judge keeps the number that was tried and goes on, or goes back to rest.
func (t *tuner) judge(tried sample) {
	gain := tried.over(t.base)
	if t.limit > t.home && gain >= t.gainFor(t.limit) || t.limit < t.home && gain >= lossless {
		t.home, t.base, t.trial, t.pause = t.limit, tried, false, shortestRest
		t.try()
		return
	}
	if !t.climbing {
		t.pause = min(t.pause*2, longestRest)
	}
	t.climbing, t.down = false, !t.down
	t.rest = t.pause
	t.look(t.home, false)
}
