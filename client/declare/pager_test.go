package declare

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidwall/gjson"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"transect/client/fault"
	"transect/client/schema"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// shelf answers searches over numbered records, as platforms of several kinds do.
type shelf struct {
	records   int
	first     int64 // number of the first page
	most      int64 // per page, 0 for any
	skipAsked bool  // pages start where the size asked for puts them, also when cut
	uncounted bool  // no total
	overcount int   // the total is higher by this
	hidden    int   // one in so many records is counted and left out
	fail      func(request int64) error
	delay     func(request int64) time.Duration
	serial    bool // pages are made one after the other
	pad       int  // bytes of each record besides its identifier

	requests, inFlight, peak atomic.Int64
	mu                       sync.Mutex
	making                   chan struct{} // holds the request that is answered, of a serial one
	limits                   []int64
}

func (s *shelf) send(ctx context.Context, args Args, _ bool) (Value, error) {
	body, err := s.answer(ctx, args)
	if err != nil {
		return Value{}, err
	}
	items, total, err := splitPage(body)
	return Value{Items: items, Total: total}, err
}

func (s *shelf) answer(ctx context.Context, args Args) ([]byte, error) {
	request := s.requests.Add(1)
	if now := s.inFlight.Add(1); now > s.peak.Load() {
		s.peak.Store(now)
	}
	defer s.inFlight.Add(-1)
	limit, _ := args.Values["limit"].(int64)
	s.mu.Lock()
	s.limits = append(s.limits, limit)
	if s.making == nil {
		s.making = make(chan struct{}, 1)
	}
	s.mu.Unlock()
	if s.serial {
		s.making <- struct{}{}
		defer func() { <-s.making }()
	}
	if s.delay != nil {
		select {
		case <-time.After(s.delay(request)):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if s.fail != nil {
		if err := s.fail(request); err != nil {
			return nil, err
		}
	}
	given := limit
	if s.most > 0 {
		given = min(given, s.most)
	}
	var ids []int
	if page, numbered := args.Values["page"].(int64); numbered {
		start := (page - s.first) * given
		if s.skipAsked {
			start = (page - s.first) * limit
		}
		for i := start; i < min(start+given, int64(s.records)); i++ {
			if s.hidden == 0 || int(i)%s.hidden != s.hidden-1 {
				ids = append(ids, int(i))
			}
		}
		return s.page(ids, s.records+s.overcount), nil
	}
	end := s.records
	filter, _ := args.Values["filter"].(map[string]any)
	if after, ok := filter["_id"].(map[string]any); ok {
		end, _ = strconv.Atoi(after["$lt"].(string))
	}
	for i := end - 1; i >= max(0, end-int(given)); i-- {
		ids = append(ids, i)
	}
	return s.page(ids, end), nil
}

func (s *shelf) page(ids []int, total int) []byte {
	var b strings.Builder
	b.WriteString(`{"results":[`)
	for i, id := range ids {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"_id":"%08d","pad":"%s"}`, id, strings.Repeat("x", s.pad))
	}
	b.WriteString(`]`)
	if !s.uncounted {
		fmt.Fprintf(&b, `,"total":%d`, total)
	}
	b.WriteString(`}`)
	return []byte(b.String())
}

func (s *shelf) iterate(standard int64, values map[string]any) *Stream {
	spec := &Spec{Shape: ShapeIterator, FirstPage: int(s.first), generatorLimit: standard, Params: []schema.Param{{Name: "sort"}}}
	if values == nil {
		values = map[string]any{}
	}
	return newPager(&Call{Spec: spec, Args: Args{Values: values}}, slog.New(slog.DiscardHandler), s.send)
}

// read takes the next record in either way, as a number.
func read(ctx context.Context, stream *Stream) (int, bool, error) {
	raw, ok := stream.TryNext()
	if !ok {
		var err error
		if raw, ok, err = stream.Next(ctx); err != nil || !ok {
			return 0, false, err
		}
	}
	id, err := strconv.Atoi(gjson.GetBytes(raw, "_id").String())
	return id, true, err
}

// drainShelf reads to the end, asking again after each error.
func drainShelf(t interface{ Fatalf(string, ...any) }, s *shelf, stream *Stream) (ids []int) {
	defer stream.Close()
	for failures := 0; ; {
		id, ok, err := read(context.Background(), stream)
		switch {
		case err != nil && failures > 10_000:
			t.Fatalf("no end of errors: %v", err)
		case err != nil:
			failures++
		case !ok:
			return ids
		default:
			ids = append(ids, id)
		}
		if s.requests.Load() > 100_000 {
			t.Fatalf("no end of requests")
		}
	}
}

// TestPagerIsExact holds the pager against what it has to deliver: every
// record once, in order, whatever the platform does.
func TestPagerIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &shelf{records: rapid.IntRange(0, 700).Draw(t, "records"), first: rapid.Int64Range(0, 1).Draw(t, "first")}
		values := map[string]any{}
		standard := rapid.Int64Range(1, 20).Draw(t, "standard")
		size := standard
		if rapid.Bool().Draw(t, "limit given") {
			size = rapid.Int64Range(1, 60).Draw(t, "limit")
			values["limit"] = size
		}
		keyset, start := rapid.Bool().Draw(t, "keyset"), 0
		if keyset {
			values["keyset_pagination"] = true
		}
		if !keyset && rapid.Bool().Draw(t, "page given") {
			page := rapid.Int64Range(s.first, s.first+9).Draw(t, "page")
			start = int((page - s.first) * size)
			values["page"] = page
		}
		s.uncounted = rapid.Bool().Draw(t, "uncounted")
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 1:
			// Without a total, a platform that cuts pages is only followed from its start.
			if !s.uncounted || start == 0 {
				s.most = rapid.Int64Range(1, 100).Draw(t, "most")
				s.skipAsked = !s.uncounted && rapid.Bool().Draw(t, "skips what was asked")
			}
		case 2:
			if start == 0 && !keyset && size > 1 {
				s.hidden = rapid.IntRange(2, 40).Draw(t, "hidden")
			}
		}
		if s.hidden == 0 && s.most == 0 && rapid.IntRange(0, 3).Draw(t, "counts too many") == 3 {
			s.overcount = rapid.IntRange(1, 300).Draw(t, "overcount")
		}
		if often := rapid.IntRange(0, 5).Draw(t, "failures"); often > 0 {
			dice := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
			var mu sync.Mutex
			s.fail = func(int64) error {
				mu.Lock()
				defer mu.Unlock()
				if dice.IntN(12) >= often {
					return nil
				}
				status := []int{http.StatusInternalServerError, http.StatusGatewayTimeout, http.StatusRequestEntityTooLarge}[dice.IntN(3)]
				return &fault.ResponseError{Status: status}
			}
		}
		var want []int
		for i := start; i < s.records; i++ {
			if s.hidden == 0 || i%s.hidden != s.hidden-1 {
				want = append(want, i)
			}
		}
		if keyset {
			slices.Reverse(want)
		}
		if got := drainShelf(t, s, s.iterate(standard, values)); !slices.Equal(got, want) {
			t.Fatalf("got %v\nwant %v\nlimits %v", got, want, s.limits)
		}
	})
}

// Pages of the caller's size are requested all at once when they take longer to
// come than to read.
func TestPagerHidesLatency(t *testing.T) {
	s := &shelf{records: 400, delay: func(int64) time.Duration { return 20 * time.Millisecond }}
	if got := drainShelf(t, s, s.iterate(50, map[string]any{"limit": int64(10)})); len(got) != 400 {
		t.Fatalf("%d records", len(got))
	}
	if peak := s.peak.Load(); peak < 30 {
		t.Errorf("at most %d of 40 requests in flight", peak)
	}
}

// Where pages take longer the more of them are in flight, as on a busy processor, no
// more are requested than take little memory.
func TestPagerTakesNoMemoryForNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // a busy machine makes pages late, and more of them worth it
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
}

func TestPagerReadsNoFurtherThanItsReader(t *testing.T) {
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
}

func TestPagesGrowAndShrink(t *testing.T) {
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
		s.fail = func(request int64) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			if slices.Contains(s.limits[max(0, len(s.limits)-1):], 800) {
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
}

// An error leaves the pager at the page that failed; what was fetched behind
// it is not fetched again.
func TestPagerGoesOnAfterAnError(t *testing.T) {
	broken := atomic.Bool{}
	broken.Store(true)
	s := &shelf{records: 400}
	s.delay = func(int64) time.Duration { return time.Millisecond }
	lost := errors.New("the line is cut")
	s.fail = func(request int64) error {
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
}

// The task that asked for pages may end while others go on reading.
func TestPagerOutlivesAReader(t *testing.T) {
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
}

// Closing, or the end of the reader, ends requests that would never end.
func TestPagerLetsGo(t *testing.T) {
	forever := func(request int64) time.Duration {
		if request > 1 {
			return time.Hour
		}
		return 0
	}
	s := &shelf{records: 1000, delay: forever}
	stream := s.iterate(50, nil)
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
	deadline := time.Now().Add(10 * time.Second)
	for s.inFlight.Load()+s2.inFlight.Load() > 0 && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond)
	}
	if n := s.inFlight.Load() + s2.inFlight.Load(); n > 0 {
		t.Errorf("%d requests still run", n)
	}
}

// Following identifiers needs them.
func TestKeysetWithoutIdentifiers(t *testing.T) {
	spec := &Spec{Shape: ShapeIterator, generatorLimit: 50, Params: []schema.Param{{Name: "sort"}}}
	call := &Call{Spec: spec, Args: Args{Values: map[string]any{"keyset_pagination": true}}}
	stream := newPager(call, slog.New(slog.DiscardHandler), func(context.Context, Args, bool) (Value, error) {
		return Value{Items: [][]byte{[]byte(`{"name":"a"}`)}, Total: -1}, nil
	})
	defer stream.Close()
	if _, _, err := stream.Next(t.Context()); err == nil || !strings.Contains(err.Error(), "no identifier") {
		t.Errorf("the error is %v", err)
	}
}

// A platform that is down for a moment must not leave tiny pages behind.
func TestPagesGrowAgainAfterAnOutage(t *testing.T) {
	s := &shelf{records: 20_000}
	s.fail = func(request int64) error {
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
}

// What is in flight covers the time of a page at the rate of the fastest reader, and
// never less than what bridges a refusal.
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
