package declare

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"transect/client/fault"
)

// TestPagerIsExact compares the pager's records with the expected ones: every record once, in
// order, whatever the platform does and in whichever order pages arrive.
func TestPagerIsExact(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := &shelf{records: rapid.IntRange(0, 700).Draw(rt, "records"), first: rapid.Int64Range(0, 1).Draw(rt, "first")}
		values := map[string]any{}
		standard := rapid.Int64Range(1, 20).Draw(rt, "standard")
		size := standard
		if rapid.Bool().Draw(rt, "limit given") {
			size = rapid.Int64Range(1, 60).Draw(rt, "limit")
			values["limit"] = size
		}
		keyset, start := rapid.Bool().Draw(rt, "keyset"), 0
		if keyset {
			values["keyset_pagination"] = true
		}
		if !keyset && rapid.Bool().Draw(rt, "page given") {
			page := rapid.Int64Range(s.first, s.first+9).Draw(rt, "page")
			start = int((page - s.first) * size)
			values["page"] = page
		}
		s.uncounted = rapid.Bool().Draw(rt, "uncounted")
		switch rapid.IntRange(0, 4).Draw(rt, "kind") {
		case 1:
			// Without a total, the pager follows a platform that cuts pages only from its start.
			if !s.uncounted || start == 0 {
				s.most = rapid.Int64Range(1, 100).Draw(rt, "most")
				s.skipAsked = !s.uncounted && rapid.Bool().Draw(rt, "skips what was asked")
			}
		case 2:
			if start == 0 && !keyset && size > 1 {
				s.hidden = rapid.IntRange(2, 40).Draw(rt, "hidden")
				if rapid.Bool().Draw(rt, "cuts as well") { // except for the first pages of a search
					s.most = rapid.Int64Range(size, 100).Draw(rt, "most")
				}
			}
		case 3:
			// A size not visible in the first page is one of the caller's, which refusals do not change.
			if start == 0 && !keyset {
				s.own = rapid.Int64Range(size+1, 100).Draw(rt, "own size")
			}
		}
		if s.hidden == 0 && s.most == 0 && s.own == 0 && rapid.IntRange(0, 3).Draw(rt, "counts too many") == 3 {
			s.overcount = rapid.IntRange(1, 300).Draw(rt, "overcount")
		}
		s.turns = &turns{steps: rapid.SliceOfN(steps, 0, 40).Draw(rt, "answers")}
		pauses := rapid.SliceOfN(rapid.IntRange(0, 50), 0, 10).Draw(rt, "pauses of the reader")
		patience := time.Duration(rapid.IntRange(1, 2000).Draw(rt, "patience of the reader")) * time.Millisecond
		var want []int
		for i := start; i < s.records; i++ {
			if s.hidden == 0 || i%s.hidden != s.hidden-1 {
				want = append(want, i)
			}
		}
		if keyset {
			slices.Reverse(want)
		}
		got, err := s.readInTurns(t, standard, values, pauses, patience)
		if err != nil {
			rt.Fatalf("%v\nlimits %v", err, s.limits)
		}
		if !slices.Equal(got, want) {
			rt.Fatalf("got %v\nwant %v\nlimits %v", got, want, s.limits)
		}
	})
}

// TestPagerEndsWhereEmptyPagesBegin: beyond the end of a search without totals, pages are still
// requested at proven sizes: a platform that cuts pages answers a larger one from further ahead.
func TestPagerEndsWhereEmptyPagesBegin(t *testing.T) {
	s := &shelf{records: 22, most: 2, uncounted: true}
	s.turns = &turns{steps: []step{
		{Which: 2, Latency: 6 * time.Millisecond, Status: http.StatusGatewayTimeout, Above: 2}, {Which: 3, Latency: 6 * time.Millisecond}}}
	got, err := s.readInTurns(t, 9, nil, nil, time.Minute)
	if err != nil || len(got) != 22 || !slices.IsSorted(got) {
		t.Errorf("got %v, error %v, limits %v", got, err, s.limits)
	}
}

// readInTurns reads the shelf to its end. The reader pauses between records, retries after an
// error, and stops and retries when a page takes too long.
func (s *shelf) readInTurns(t *testing.T, standard int64, values map[string]any, pauses []int, patience time.Duration) (ids []int, err error) {
	synctest.Test(t, func(*testing.T) {
		s.turns.some = make(chan struct{}, 1)
		reading := make(chan struct{})
		go func() {
			defer close(reading)
			stream := s.iterate(standard, values)
			defer stream.Close()
			for s.requests.Load() < 100_000 {
				ctx, cancel := context.WithTimeout(context.Background(), patience)
				id, ok, failure := read(ctx, stream)
				cancel()
				switch {
				case errors.Is(failure, context.DeadlineExceeded):
					patience *= 2
				case failure != nil:
				case !ok:
					return
				default:
					if ids = append(ids, id); len(pauses) > 0 {
						time.Sleep(time.Duration(pauses[len(ids)%len(pauses)]) * time.Millisecond)
					}
				}
			}
			err = errors.New("no end of requests")
		}()
		s.turns.take(reading)
	})
	return ids, err
}

// turns answers one request at a time, so that only its steps determine the order of answers, their
// time and their failures.
type turns struct {
	steps []step // again from the beginning after the last; then one answer at once

	mu      sync.Mutex
	waiting []*turn
	some    chan struct{} // holds a token when requests may wait
}

type step struct {
	Which   int // of the waiting requests
	Latency time.Duration
	Status  int   // of the refusal; 0 for an answer
	Above   int64 // larger pages are refused
}

var steps = rapid.Custom(func(t *rapid.T) step {
	return step{
		Which:   rapid.IntRange(0, 7).Draw(t, "which"),
		Latency: time.Duration(rapid.IntRange(0, 1500).Draw(t, "latency")) * time.Millisecond,
		Status: rapid.SampledFrom([]int{0, 0, 0, 0, 0, http.StatusInternalServerError, http.StatusGatewayTimeout,
			http.StatusRequestEntityTooLarge}).Draw(t, "status"),
		Above: rapid.Int64Range(0, 30).Draw(t, "above"),
	}
})

// turn is one request waiting to be answered.
type turn struct {
	page, limit int64
	begin       chan error
}

// wait returns when the request may be answered, or with its refusal.
func (ts *turns) wait(ctx context.Context, page, limit int64) error {
	own := &turn{page: page, limit: limit, begin: make(chan error, 1)}
	ts.mu.Lock()
	ts.waiting = append(ts.waiting, own)
	ts.signal()
	ts.mu.Unlock()
	select {
	case err := <-own.begin:
		return err
	case <-ctx.Done():
		ts.mu.Lock()
		defer ts.mu.Unlock()
		ts.waiting = slices.DeleteFunc(ts.waiting, func(other *turn) bool { return other == own })
		return ctx.Err()
	}
}

// take answers requests until the reader is done. It acts when all other goroutines of the bubble
// wait, so that it chooses from the same requests each time.
func (ts *turns) take(reading <-chan struct{}) {
	for i := 0; ; i++ {
		select {
		case <-ts.some:
		case <-reading:
			return
		}
		var now step
		if i %= len(ts.steps) + 1; i < len(ts.steps) {
			now = ts.steps[i]
		}
		time.Sleep(now.Latency + time.Microsecond)
		synctest.Wait()
		if t := ts.choose(now.Which); t != nil {
			var err error
			if now.Status != 0 && t.limit > now.Above {
				err = &fault.ResponseError{Status: now.Status}
			}
			t.begin <- err
		}
	}
}

// choose removes one of the waiting requests, whatever order they arrived in; nil if there is none.
func (ts *turns) choose(which int) *turn {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if len(ts.waiting) == 0 {
		return nil
	}
	slices.SortFunc(ts.waiting, func(a, b *turn) int {
		return cmp.Or(cmp.Compare(a.page, b.page), cmp.Compare(a.limit, b.limit))
	})
	which %= len(ts.waiting)
	chosen := ts.waiting[which]
	if ts.waiting = slices.Delete(ts.waiting, which, which+1); len(ts.waiting) > 0 {
		ts.signal()
	}
	return chosen
}

func (ts *turns) signal() {
	select {
	case ts.some <- struct{}{}:
	default:
	}
}
