package declare

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"transect/client/fault"
	"transect/client/schema"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestPagerHidesLatency: pages of a fixed size are requested all at once when fetching is slower than reading.
func TestPagerHidesLatency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{records: 400, delay: func(int64) time.Duration { return 20 * time.Millisecond }}
		if got := drainShelf(t, s, s.iterate(50, map[string]any{"limit": int64(10)})); len(got) != 400 {
			t.Fatalf("%d records", len(got))
		}
		if peak := s.peak.Load(); peak < 30 {
			t.Errorf("at most %d of 40 requests in flight", peak)
		}
	})
}

// TestPagerTakesNoMemoryForNothing: if pages take longer the more of them are in flight, as on a
// busy processor, only as many are requested as need little memory.
func TestPagerTakesNoMemoryForNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // a busy machine delays pages, and makes more of them worthwhile
		s := &shelf{records: 400, serial: true, pad: 64 << 10, delay: func(int64) time.Duration { return 2 * time.Millisecond }}
		if got := drainShelf(t, s, s.iterate(50, map[string]any{"limit": int64(10)})); len(got) != 400 {
			t.Fatalf("%d records", len(got))
		}
		if peak, most := s.peak.Load(), int64(maxPrefetchBytes/(10*s.pad)); peak > 2*most/3 {
			t.Errorf("up to %d pages of 640 kB in flight, of %d that may wait", peak, most)
		}
	})
}

func TestPagerStopsAtTheTotal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{records: 1010, delay: func(int64) time.Duration { return time.Millisecond }}
		if got := drainShelf(t, s, s.iterate(50, map[string]any{"limit": int64(10)})); len(got) != 1010 {
			t.Fatalf("%d records", len(got))
		}
		if n := s.requests.Load(); n != 101 {
			t.Errorf("%d requests for 101 pages", n)
		}
		if peak := s.peak.Load(); peak < 3 || peak > maxAheadFixed {
			t.Errorf("at most %d requests in flight", peak)
		}
	})
}

func TestPagerReadsNoFurtherThanItsReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{records: 100_000}
		stream := s.iterate(50, map[string]any{"limit": int64(10)})
		defer stream.Close()
		for range 10 {
			if _, ok, err := read(t.Context(), stream); !ok || err != nil {
				t.Fatal(ok, err)
			}
		}
		if n := s.requests.Load(); n > 2 {
			t.Errorf("%d requests for ten records", n)
		}
	})
}

func TestPagesGrowAndShrink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{records: 60_000}
		if got := drainShelf(t, s, s.iterate(50, nil)); len(got) != 60_000 {
			t.Fatalf("%d records", len(got))
		}
		if s.limits[0] != 50 || slices.Max(s.limits) <= 400 || slices.Max(s.limits) > maxPageRecords {
			t.Errorf("sizes of pages: %v", s.limits)
		}
		for name, refusal := range map[string]error{
			"413": &fault.ResponseError{Status: 413}, "502": &fault.ResponseError{Status: 502}, "silence": &fault.TimeoutError{},
		} {
			s := &shelf{records: 20_000}
			s.fail = func(_, limit int64) error {
				if limit == 800 {
					return refusal
				}
				return nil
			}
			stream, n := s.iterate(50, nil), 0
			for {
				id, ok, err := read(t.Context(), stream)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if !ok {
					break
				}
				if id != n {
					t.Fatalf("%s: record %d after %d", name, id, n-1)
				}
				n++
			}
			stream.Close()
			if n != 20_000 {
				t.Errorf("%s: %d records", name, n)
			}
		}
		fixed := &shelf{records: 5000}
		drainShelf(t, fixed, fixed.iterate(50, map[string]any{"limit": int64(70)}))
		if slices.Min(fixed.limits) != 70 || slices.Max(fixed.limits) != 70 {
			t.Errorf("a given limit was changed: %v", fixed.limits)
		}
	})
}

// TestPagerGoesOnAfterAnError: an error leaves the pager at the failed page; pages already fetched
// after it are not fetched again.
func TestPagerGoesOnAfterAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := atomic.Bool{}
		broken.Store(true)
		s := &shelf{records: 400}
		s.delay = func(int64) time.Duration { return time.Millisecond }
		lost := errors.New("the line is cut")
		s.fail = func(request, _ int64) error {
			if request == 12 && broken.Load() {
				return lost
			}
			return nil
		}
		stream := s.iterate(50, map[string]any{"limit": int64(10)})
		defer stream.Close()
		var ids []int
		failed := 0
		for {
			id, ok, err := read(t.Context(), stream)
			if err != nil {
				if !errors.Is(err, lost) || len(ids)%10 != 0 {
					t.Fatalf("after %d records: %v", len(ids), err)
				}
				failed++
				continue
			}
			if !ok {
				break
			}
			ids = append(ids, id)
		}
		if failed != 1 || len(ids) != 400 || !slices.IsSorted(ids) || s.requests.Load() != 41 {
			t.Errorf("%d errors, %d records, %d requests", failed, len(ids), s.requests.Load())
		}
	})
}

// TestPagerOutlivesAReader: the task that requested pages may end while others continue reading.
func TestPagerOutlivesAReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{records: 3000, delay: func(int64) time.Duration { return time.Millisecond }}
		stream := s.iterate(50, map[string]any{"limit": int64(10)})
		defer stream.Close()
		var ids []int
		for {
			ctx, cancel := context.WithCancel(t.Context())
			done := false
			for range 37 {
				id, ok, err := read(ctx, stream)
				if err != nil {
					t.Fatal(err)
				}
				if done = !ok; done {
					break
				}
				ids = append(ids, id)
			}
			cancel()
			if done {
				break
			}
		}
		if len(ids) != 3000 || !slices.IsSorted(ids) {
			t.Errorf("%d records", len(ids))
		}
	})
}

// TestPagerLetsGo: closing, or the end of the reader, ends requests that would never end.
func TestPagerLetsGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		forever := func(request int64) time.Duration {
			if request > 1 {
				return time.Hour
			}
			return 0
		}
		s := &shelf{records: 1000, delay: forever}
		stream := s.iterate(50, nil)
		defer stream.Close()
		ctx, cancel := context.WithTimeoutCause(t.Context(), 20*time.Millisecond, errors.New("enough"))
		defer cancel()
		for n := 0; ; n++ {
			if _, _, err := read(ctx, stream); err != nil {
				if n != 50 || err.Error() != "enough" {
					t.Errorf("after %d records: %v", n, err)
				}
				break
			}
		}
		s2 := &shelf{records: 1000, delay: forever}
		left := s2.iterate(50, nil)
		if _, _, err := read(t.Context(), left); err != nil {
			t.Fatal(err)
		}
		left.Close()
		if _, ok, err := left.Next(t.Context()); ok || err != nil {
			t.Errorf("after Close: %v, %v", ok, err)
		}
		synctest.Wait()
		if n := s.inFlight.Load() + s2.inFlight.Load(); n > 0 {
			t.Errorf("%d requests still run", n)
		}
	})
}

// TestPagerFindsWhatIsCreatedMeanwhile: what a loop creates is found at its end, in one further request, by number and
// by identifier. A loop that creates one record for each ends.
func TestPagerFindsWhatIsCreatedMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, values := range []map[string]any{{}, {"limit": int64(5)}, {"limit": int64(1)}, {"keyset_pagination": true},
			{"keyset_pagination": true, "limit": int64(5)}, {"sort": schema.Sort{{Attribute: "_id", Direction: 1}}}} {
			for _, records := range []int{1, 2, 3, 4, 5, 9, 10, 11, 40, 700} {
				for _, uncounted := range []bool{false, true} {
					s := &shelf{records: records, first: 1, uncounted: uncounted}
					stream, seen := s.iterate(10, values), map[int]bool{}
					for n := 0; n < 5*records; n++ {
						id, ok, err := read(t.Context(), stream)
						if err != nil || ok && seen[id] {
							t.Fatalf("%d records, %v: record %d again, or %v", records, values, id, err)
						}
						if !ok {
							break
						}
						if seen[id] = true; n < records && !uncounted {
							s.grow(1) // a copy of each, as it is read
						} else if n == records-1 { // without a total, a short page before others looks like a cut one
							s.grow(records)
						}
					}
					stream.Close()
					if len(seen) != 2*records {
						t.Errorf("%d records, %v, uncounted %v: %d were found of %d", records, values, uncounted, len(seen), 2*records)
					}
				}
			}
		}
		endless, n := &shelf{records: 10, first: 1}, 0
		stream := endless.iterate(10, nil)
		defer stream.Close()
		for ; n < 1000; n++ {
			if _, ok, err := read(t.Context(), stream); !ok || err != nil {
				break
			}
			endless.grow(1)
		}
		if n > 100 {
			t.Error("a loop that creates a record for each does not end")
		}
	})
}

// TestPagerFindsWhatOthersCreateMeanwhile: a second after the last page what others created is looked for as well; a
// loop that ends earlier does not pay a round trip for it.
func TestPagerFindsWhatOthersCreateMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, values := range []map[string]any{{}, {"keyset_pagination": true}} {
			for _, test := range []struct {
				pause time.Duration
				want  int
			}{{0, 10}, {soon, 13}} {
				s := &shelf{records: 10, first: 1}
				stream, n := s.iterate(20, values), 0
				for ; n < 100; n++ {
					if _, ok, err := read(t.Context(), stream); err != nil {
						t.Fatal(err)
					} else if !ok {
						break
					}
					if n == 0 {
						s.growElsewhere(3)
						time.Sleep(test.pause)
					}
				}
				stream.Close()
				if n != test.want {
					t.Errorf("%v, a pause of %v: %d records, want %d", values, test.pause, n, test.want)
				}
			}
		}
	})
}

// TestKeysetWithoutIdentifiers: keyset pagination needs identifiers.
func TestKeysetWithoutIdentifiers(t *testing.T) {
	spec := &Spec{Shape: ShapeIterator, generatorLimit: 50, Params: []schema.Param{{Name: "sort"}}}
	call := &Call{Spec: spec, Args: Args{Values: map[string]any{"keyset_pagination": true}}}
	stream := newPager(call, slog.New(slog.DiscardHandler), new(atomic.Int64), func(context.Context, Args, bool) (Value, error) {
		return Value{Items: [][]byte{[]byte(`{"name":"a"}`)}, Total: -1}, nil
	})
	defer stream.Close()
	if _, _, err := stream.Next(t.Context()); err == nil || !strings.Contains(err.Error(), "no identifier") {
		t.Errorf("the error is %v", err)
	}
}

// TestPagesGrowAgainAfterAnOutage: a brief outage must not leave tiny pages.
func TestPagesGrowAgainAfterAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{records: 20_000}
		s.fail = func(request, _ int64) error {
			if request <= 3 {
				return &fault.ResponseError{Status: http.StatusBadGateway}
			}
			return nil
		}
		if got := drainShelf(t, s, s.iterate(48, nil)); len(got) != 20_000 {
			t.Fatalf("%d records", len(got))
		}
		if slices.Max(s.limits) < 400 || len(s.limits) > 400 {
			t.Errorf("%d requests, sizes %v", len(s.limits), s.limits)
		}
	})
}

// TestMaxWindow: the bytes in flight cover the time of a page at the rate of the fastest reader,
// and at least bridge a refusal.
func TestMaxWindow(t *testing.T) {
	for _, c := range []struct {
		latency     time.Duration
		recordBytes float64
		records     int64
		want        int
	}{
		{200 * time.Microsecond, 1000, 50, 62},
		{200 * time.Microsecond, 1000, 500, 6},
		{3 * time.Millisecond, 1000, 500, 12},
		{20 * time.Millisecond, 1000, 500, 33},
		{20 * time.Millisecond, 1000, 50, maxAheadFixed},
		{time.Hour, 1000, 500, maxAhead},
	} {
		p := &pager{latency: c.latency, size: pageSize{fixed: true, recordBytes: c.recordBytes, now: c.records}}
		if got := p.maxWindow(); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// BenchmarkPager reads 20,000 records from a platform that answers at once.
func BenchmarkPager(b *testing.B) {
	for name, values := range map[string]map[string]any{"growing": nil, "@50": {"limit": int64(50)}, "@500": {"limit": int64(500)}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				s := &shelf{records: 20_000, pad: 100}
				if got := drainShelf(b, s, s.iterate(50, values)); len(got) != 20_000 {
					b.Fatalf("%d records", len(got))
				}
			}
		})
	}
}
