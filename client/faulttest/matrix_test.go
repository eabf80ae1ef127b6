package faulttest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	clientfault "transect/client/fault"
)

// abreast is how many worlds there are at a time.
const abreast = 4

// workflow is something that is run until it is done.
type workflow func(ctx context.Context, w *world) (seen []string, err error)

// outcome is how a workflow ended in a world.
type outcome struct {
	state    string // of the platform
	seen     string // by the workflow
	requests int
	struck   bool     // the fault happened
	stopped  error    // what the first run ended with
	again    error    // what the second one did
	doubled  []string // Idempotency-Keys of creations that were done twice
	told     int      // how many of them the run told of
	log      string
}

// suite runs one workflow with many faults.
type suite struct {
	t    *testing.T
	seed func(ctx context.Context, w *world) error
	run  workflow
	want outcome

	record *record
	light  bool // of few bytes
}

// matrix runs a workflow without a fault, and then with each kind at each of
// its requests, or a choice of kinds at each.
func matrix(t *testing.T, least int, seed func(context.Context, *world) error, run workflow) {
	s := &suite{t: t, seed: seed, run: run, record: newRecord(t)}
	s.want = s.play("no fault", nil)
	if s.want.stopped != nil {
		t.Fatalf("without a fault: %v\n%s", s.want.stopped, s.want.log)
	}
	if s.want.requests < least {
		t.Fatalf("only %d requests", s.want.requests)
	}
	began := time.Now()
	var group sync.WaitGroup
	work := make(chan strikeAt)
	for range abreast {
		group.Go(func() {
			for at := range work {
				s.try(at)
			}
		})
	}
	for _, at := range s.selection() {
		if !s.record.done(at.String()) {
			work <- at
		}
	}
	close(work)
	group.Wait()
	t.Logf("%d requests, %d faults: %s; %.1f s", s.want.requests, len(kinds), s.record, time.Since(began).Seconds())
}

// strikeAt is one case.
type strikeAt struct {
	kind kind
	n    int
}

func (at strikeAt) String() string { return fmt.Sprint(at.kind.name, ":", at.n) }

// beyondEnd is how many requests more than without a fault there may be: they
// come in another order each time.
const beyondEnd = 3

// selection lists the cases: every request is in it, with every kind of fault; or,
// when there is little time, some requests, others each time, with a kind in turn.
func (s *suite) selection() (list []strikeAt) {
	all := os.Getenv("TRANSECT_FAULTS")
	if name, at, some := strings.Cut(all, ":"); some {
		for _, k := range kinds {
			if k.name != name {
				continue
			}
			if n, err := strconv.Atoi(at); err == nil {
				return []strikeAt{{k, n}}
			}
			for n := range s.want.requests + beyondEnd {
				list = append(list, strikeAt{k, n})
			}
			return list
		}
		s.t.Fatalf("there is no fault %q", name)
	}
	each, beyond := 1, 0
	if everything() {
		each, beyond = len(kinds), beyondEnd
	}
	step, first, next := 1, 0, 0
	if !everything() {
		step = 2
		if testing.Short() {
			step = 8
		}
		first, next = rand.IntN(step), rand.IntN(len(kinds))
	}
	for n := first; n < s.want.requests+beyond; n += step {
		for range each {
			list = append(list, strikeAt{kinds[next%len(kinds)], n})
			// Not a divisor of the number of kinds: all of them have their turn.
			next += 7
			if each == len(kinds) {
				next -= 6
			}
		}
	}
	return list
}

// try runs one case and compares how it ended.
func (s *suite) try(at strikeAt) {
	got := s.play(at.String(), func(w *world) error {
		w.proxy.strike(at.kind, at.n)
		w.again = at.kind.again
		if at.kind.silent {
			w.timeout, w.stall = silence, silence
		}
		return nil
	})
	if !got.struck { // the workflow was done before
		s.record.note(at.String(), unmet, nil)
		return
	}
	s.compare(at.String(), got)
}

// compare tells what is wrong with the end of a case.
func (s *suite) compare(name string, got outcome) {
	end := well
	wrong := func(format string, args ...any) {
		end = bad
		s.t.Errorf("%s: %s\n%s", name, fmt.Sprintf(format, args...), got.log)
	}
	if got.stopped != nil {
		if why := unnamed(got.stopped); why != "" {
			wrong("it stopped with an error %s: %v", why, got.stopped)
		}
	}
	switch {
	case strings.HasPrefix(name, "504 after the end") && len(got.doubled) > 0 && len(got.doubled) == got.told:
		end = admitted
	case len(got.doubled) > 0:
		wrong("done twice (first run: %v): %q", got.stopped, got.doubled)
	case got.again != nil && asks(got.again):
		end = asked
	case got.again != nil:
		wrong("it stopped with: %v\nand when run again with: %v", got.stopped, got.again)
	case got.state != s.want.state:
		wrong("the platform ended otherwise (first run: %v):\n%s", got.stopped, difference(s.want.state, got.state))
	case got.seen != s.want.seen:
		wrong("it saw other things (first run: %v):\n%s", got.stopped, difference(s.want.seen, got.seen))
	}
	s.record.note(name, end, got.stopped)
}

// unnamed says why an error does not tell what it should.
func unnamed(err error) string {
	if item := (itemError{}); errors.As(err, &item) {
		if item.Hint == "" {
			return "of a file without a hint"
		}
		return ""
	}
	f := clientfault.Find(err)
	if f == nil || f.Name() == "RuntimeError" {
		return "without a name"
	}
	if f.Facts().Hint == "" && !hinted(err) {
		return "without a hint"
	}
	return ""
}

func hinted(err error) bool {
	for ; err != nil; err = errors.Unwrap(err) {
		if f, ok := err.(clientfault.Fault); ok && f.Facts().Hint != "" {
			return true
		}
	}
	return false
}

// play runs the workflow in a new world that is spoilt, and once more when it
// stopped.
func (s *suite) play(name string, spoil func(*world) error) (o outcome) {
	ctx, cancel := context.WithTimeout(context.Background(), 6*time.Minute)
	defer cancel()
	fail := func(err error) outcome {
		s.t.Errorf("%s: %v", name, err)
		return o
	}
	w, err := newWorld()
	if err != nil {
		return fail(err)
	}
	defer w.close()
	if err := s.seed(ctx, w); err != nil {
		return fail(err)
	}
	if spoil != nil {
		if err := spoil(w); err != nil {
			return fail(err)
		}
	}
	seen, err := s.run(ctx, w)
	w.proxy.heal()
	w.repeated()
	w.healed()
	o.requests, o.struck = w.proxy.requests, w.proxy.struck > 0
	if o.stopped = err; err != nil && spoil != nil || w.again {
		seen, o.again = s.run(ctx, w)
	}
	w.proxy.mu.Lock()
	o.log = strings.Join(w.proxy.log, "\n")
	w.proxy.mu.Unlock()
	o.seen, o.doubled = strings.Join(seen, "\n"), w.effects.doubled()
	o.told = w.told
	if o.state, err = w.dump(ctx); err != nil {
		return fail(err)
	}
	return o
}
