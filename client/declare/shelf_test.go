package declare

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing/synctest"
	"time"

	"github.com/tidwall/gjson"

	"transect/client/schema"
)

// shelf answers searches over numbered records, like platforms of several kinds.
type shelf struct {
	records   int
	first     int64 // number of the first page
	most      int64 // per page, 0 for any
	skipAsked bool  // pages start where the requested size puts them, also when cut
	uncounted bool  // no total
	overcount int   // the total is higher by this
	own       int64 // fixed number of records per page; 0 for the requested one
	hidden    int   // one in so many records is counted but omitted
	fail      func(request, limit int64) error
	delay     func(request int64) time.Duration
	serial    bool // pages are made one after the other
	pad       int  // bytes of each record besides its identifier

	requests, inFlight, peak atomic.Int64
	writes                   atomic.Int64 // of this client
	mu                       sync.Mutex
	making                   chan struct{} // holds the request being answered, if serial
	turns                    *turns        // decides the order of answers, unless nil
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

// grow creates records once all requests in flight are answered.
func (s *shelf) grow(n int) {
	s.writes.Add(1)
	s.growElsewhere(n)
}

// growElsewhere adds records that another client creates.
func (s *shelf) growElsewhere(n int) {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records += n
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
	page, numbered := args.Values["page"].(int64)
	if s.turns != nil {
		if err := s.turns.wait(ctx, page, limit); err != nil {
			return nil, err
		}
	}
	if s.delay != nil {
		select {
		case <-time.After(s.delay(request)):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if s.fail != nil {
		if err := s.fail(request, limit); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	records, given := s.records, limit
	s.mu.Unlock()
	if s.most > 0 {
		given = min(given, s.most)
	}
	if s.own > 0 {
		given = s.own
	}
	var ids []int
	if numbered {
		start := (page - s.first) * given
		if s.skipAsked {
			start = (page - s.first) * limit
		}
		for i := start; i < min(start+given, int64(records)); i++ {
			if s.hidden == 0 || int(i)%s.hidden != s.hidden-1 {
				ids = append(ids, int(i))
			}
		}
		return s.page(ids, records+s.overcount), nil
	}
	end := records
	filter, _ := args.Values["filter"].(map[string]any)
	if at, ok := filter["_id"].(map[string]any); ok && at["$gt"] != nil {
		newest, _ := strconv.Atoi(at["$gt"].(string))
		for i := newest + 1; i < min(newest+1+int(given), records); i++ {
			ids = append(ids, i)
		}
		return s.page(ids, records-newest-1), nil
	} else if ok {
		end, _ = strconv.Atoi(at["$lt"].(string))
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
	return newPager(&Call{Spec: spec, Args: Args{Values: values}}, slog.New(slog.DiscardHandler), &s.writes, s.send)
}

// read returns the next record in either way, as a number.
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

// drainShelf reads to the end, retrying after each error.
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
