package declare

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/tidwall/gjson"

	"transect/client/fault"
	"transect/client/schema"
)

// pager iterates over the pages of a search: it keeps several of them in flight, as many as its
// reader can use, and yields their records in order.
//
// It counts in offsets, not in pages, so that the page size may change: page p of size s starts at
// offset p*s, and a new size always divides the offset. After a page that is shorter than requested
// it restarts behind the last record, with a size known to be delivered completely.
type pager struct {
	send   func(ctx context.Context, args Args, shrinkable bool) (Value, error)
	log    *slog.Logger
	writes *atomic.Int64 // calls of this client that write
	args   Args
	keyset bool
	first  int64 // number of the first page
	ahead  bool  // pages may be prefetched: numbered, in a stable order

	size     pageSize
	requests []*pageRequest // by offset; the first is delivered next
	fetchers fetchers
	next     int64         // offset after the last request
	lastID   string        // of the last record, for keyset
	window   int           // most pages in flight or waiting
	latency  time.Duration // of the fastest page so far
	handed   time.Time     // when the reader got its last page
	accepted int           // pages so far
	full     bool          // the last page was as long as requested
	total    int64         // matches, according to the last page; -1 when unknown
	badTotal bool          // records followed after the total
	short    *shortPage    // the previous page, if it was shorter than the total allows
	gaps     bool          // pages omit some of their records
	empty    int64         // offsets without a record since the last one
	growing  bool          // what is created appears behind the last record, or is found by its identifier
	newest   string        // identifier of the newest record so far
	end      int64         // offset behind the last record
	last     lastPage
	again    bool  // the reader comes to the end, where what was created meanwhile is requested
	counted  int64 // matches at that time; -1 when unknown, 0 before
	done     bool
}

const (
	maxAhead = 24
	// maxAheadFixed is the limit for pages of the caller's fixed size, unless one takes slowToPrefetch: a platform so
	// slow may not bear so many at a time.
	maxAheadFixed  = 64
	slowToPrefetch = 300 * time.Millisecond
	// maxAheadUncounted is the prefetch limit while the total is unknown, because some of the pages
	// may be beyond the end.
	maxAheadUncounted = 4
	// maxPrefetchBytes limits the pages waiting for their reader.
	maxPrefetchBytes = 16 << 20
	// cheapPrefetchBytes may always be in flight or wait for their reader. The window exceeds them
	// only while pages do not take longer for it: then more in flight would only take memory.
	cheapPrefetchBytes = 2 << 20
	// fastestReading is more bytes per second than a script reads. Only what arrives at this rate
	// while a page is fetched needs to be in flight.
	fastestReading = 2 << 30
	// leastWindowBytes may be in flight in any case, so that the next pages are fetched while one
	// is repeated after a refusal.
	leastWindowBytes = 3 << 20
)

func newPager(call *Call, log *slog.Logger, writes *atomic.Int64,
	send func(context.Context, Args, bool) (Value, error)) *Stream {
	values, spec := call.Args.Values, call.Spec
	p := &pager{send: send, log: log, writes: writes, args: call.Args, first: int64(spec.FirstPage), window: 1, total: -1,
		fetchers: make(fetchers)}
	p.keyset = values["keyset_pagination"] == true && call.keysetConflict() == ""
	p.size = newPageSize(values, spec.generatorLimit)
	_, unsorted := values["sort"].(schema.Null)
	p.ahead = !p.keyset && spec.sortable() && !unsorted
	order, _ := values["sort"].(schema.Sort)
	p.growing = p.keyset || p.ahead && (len(order) == 0 || order[0] == schema.SortKey{Attribute: "_id", Direction: 1})
	if page, ok := values["page"].(int64); ok {
		p.next = (page - p.first) * p.size.now
	}
	// Leaving a script's loop early does not close its iterator.
	runtime.SetFinalizer(p, (*pager).finish)
	return NewStream(nil, p.fetch, p.finish)
}

// fetch waits for the next page.
func (p *pager) fetch(ctx context.Context) (records [][]byte, more bool, err error) {
	if p.again && p.counted == 0 && len(p.requests) == 0 && p.writes.Load() == p.last.writes &&
		time.Since(p.last.at) < soon {
		p.finish()
		return nil, false, nil
	}
	p.widen()
	p.fill(ctx)
	r := p.requests[0]
	var got pageAnswer
	select {
	case got = <-r.answer:
	default:
		select {
		case got = <-r.answer: // the reader is faster than the pages
			if p.accepted > 0 && (got.took < 2*p.latency || p.window < p.size.pagesIn(cheapPrefetchBytes)) {
				p.window = min(2*p.window, p.maxWindow())
			}
		case <-ctx.Done():
			return nil, true, context.Cause(ctx)
		}
	}
	records, err = p.receive(ctx, r, got)
	p.handed = time.Now()
	return records, !p.done, err
}

// widen makes the window as wide as needed for the reader never to wait: as many pages as it reads
// while one is fetched. Pages that may grow do that first.
func (p *pager) widen() {
	if p.size.fixed && p.accepted > 0 && p.latency > 0 {
		reading := max(time.Since(p.handed), time.Microsecond)
		most := min(p.maxWindow(), p.size.pagesIn(cheapPrefetchBytes))
		p.window = max(p.window, int(min(1+p.latency/reading, time.Duration(most))))
	}
}

func (p *pager) maxWindow() int {
	pages := maxAhead
	if p.size.fixed && p.latency < slowToPrefetch {
		pages = maxAheadFixed
	}
	useful := min(maxPrefetchBytes, p.latency.Seconds()*fastestReading)
	return min(pages, p.size.pagesIn(max(leastWindowBytes, int(useful))))
}

// fill keeps as many pages in flight as wanted, at least the next one.
func (p *pager) fill(ctx context.Context) {
	for !p.done && (len(p.requests) == 0 || p.wantsMore()) {
		p.request()
	}
	for _, r := range p.requests {
		if r.answer == nil {
			p.start(ctx, r)
		}
	}
}

func (p *pager) wantsMore() bool {
	if !p.ahead || p.accepted == 0 || p.short != nil || p.again {
		return false
	}
	ahead := min(p.window, p.size.pagesIn(maxPrefetchBytes))
	if p.total >= 0 {
		return len(p.requests) < ahead && p.next < p.total
	}
	return p.full && len(p.requests) < min(ahead, maxAheadUncounted, p.accepted)
}

// request appends a request for the page at p.next.
func (p *pager) request() {
	if p.keyset {
		r := &pageRequest{size: p.size.now, after: p.lastID}
		if p.again {
			r.offset, r.after, r.newer = p.end, "", p.newest
		}
		p.requests = append(p.requests, r)
		return
	}
	if p.accepted > 0 && (p.total >= 0 || p.full) {
		p.size.grow(p.next, p.total)
	}
	p.requests = append(p.requests, &pageRequest{offset: p.next, size: p.size.now})
	p.next += p.size.now
}

// receive processes the answer to the first request: it returns its records, or an error that
// leaves the pager unchanged.
func (p *pager) receive(ctx context.Context, r *pageRequest, got pageAnswer) (records [][]byte, err error) {
	abandoned := r.ctx.Err() != nil && ctx.Err() == nil // by the reader that sent it
	r.stop()
	switch {
	case got.err == nil:
		if p.latency == 0 || got.took < p.latency {
			p.latency = got.took
		}
		p.last = lastPage{writes: r.writes, at: got.at}
		switch {
		case p.again:
			records = p.acceptNew(r, got)
		case p.keyset:
			records, err = p.acceptKeyset(r, got)
		default:
			records = p.accept(r, got)
		}
		if err == nil && !p.again {
			p.fill(ctx)
		}
	case abandoned:
	case p.size.shrink(r.size, r.offset, got.err):
		p.log.Info(fmt.Sprintf("a page of %d records is too large for the platform: continuing with %d", r.size, p.size.now),
			"reason", fault.Find(got.err).Facts().Message)
		p.restart(r.offset)
	default:
		p.window, err = 1, got.err
	}
	return records, err
}

// accept processes a numbered page, and returns its records unless they must be fetched again. It
// accepts only pages of known position: the first one, a complete one, or one of a size that was
// complete before. A platform that cuts pages to a size of its own numbers them by that size, so
// any other short page may consist of records further on, which the reader already has.
func (p *pager) accept(r *pageRequest, got pageAnswer) [][]byte {
	n, total := int64(len(got.items)), got.total
	if p.badTotal {
		total = -1
	}
	short := p.short
	p.short = nil
	switch {
	case short != nil && (n == 0 || short.delivered(got.items[0])):
		// That page was complete except for records hidden from this caller.
		p.size, p.gaps = short.size, true
		p.restart(short.end)
		return nil
	case n > 0 && total >= 0 && r.offset >= total && p.accepted == 0 && n < r.size:
		p.finish() // the caller starts beyond the end, and the page is from before it
		return nil
	case n > 0 && total >= 0 && r.offset >= total:
		p.badTotal, total = true, -1
	}
	unproven := n < r.size && r.size > p.size.proven
	if unproven && r.offset > 0 && (p.size.proven > 0 || total >= 0 && n > 0) {
		p.size.limitTo(n, r.offset)
		p.restart(r.offset)
		return nil
	}
	p.requests = p.requests[1:]
	if n == 0 { // the end, or a page with all records omitted
		p.full = false
		if p.empty += r.size; p.empty >= p.size.start || total >= 0 && r.offset+r.size >= total {
			p.lookAgain()
		}
		return nil
	}
	p.empty = 0
	if p.gaps {
		n = r.size
	}
	end := r.offset + n
	switch {
	case n > r.size && end == n && p.accepted == 0: // the platform has a page size of its own
		p.size.limitTo(n, n)
		p.size.fixed = true
		p.restart(n)
	case n < r.size && total > end: // more should follow: a limit of the platform, or gaps
		p.short = &shortPage{items: slices.Clone(got.items), size: p.size, end: r.offset + r.size}
		p.short.size.now, p.short.size.proven = r.size, max(r.size, p.size.proven)
		p.size.limitTo(n, end)
		p.restart(end)
	case unproven && total < 0:
		// Cut, or the end. Without a total only page numbers are reliable, and they depend on the size.
		p.size.fixed = true
	case n >= r.size:
		p.size.succeeded(r.size, got)
	}
	p.full = n >= r.size
	p.total = total
	p.accepted++
	p.newest, p.end = identifierOf(got.items[len(got.items)-1]), end
	if p.gaps && total >= 0 {
		p.end = total
	}
	switch {
	case total < 0 || end < total:
	case p.full && r.offset == 0 && r.size > 1:
		p.total = -1 // may be just the page's length; request one more page
	default:
		p.lookAgain()
	}
	return got.items
}

func identifierOf(record []byte) string { return gjson.GetBytes(record, "_id").String() }

// lastPage tells when the newest page was requested and came.
type lastPage struct {
	writes int64 // the count when it was requested
	at     time.Time
}

// soon is the time after the last page in which only what this client created is looked for: looking costs a round
// trip, which would be a large part of a short search.
const soon = time.Second

// lookAgain ends the iteration, or the first time requests the last page once more, when the reader comes to its end:
// what was created meanwhile is found.
func (p *pager) lookAgain() {
	if p.again || !p.growing || p.newest == "" {
		p.finish()
		return
	}
	if !p.size.fixed { // a large page would repeat many records
		p.size.now, p.size.fixed = min(p.size.now, p.size.start), true
	}
	p.restart(p.end - p.end%p.size.now)
	p.again = true
}

// acceptNew processes a page requested at the end, and returns the records that were created since the search began.
// Those created from now on end no loop that creates one for each.
func (p *pager) acceptNew(r *pageRequest, got pageAnswer) [][]byte {
	p.requests = nil
	if p.counted == 0 {
		p.counted = got.total
	}
	n := int64(len(got.items))
	if p.end = r.offset + n; n < r.size || p.counted >= 0 && p.end >= p.counted {
		p.finish()
	}
	items := got.items
	if seen := slices.IndexFunc(items, func(item []byte) bool { return identifierOf(item) == p.newest }); seen >= 0 {
		items = items[seen+1:]
	} else {
		items = slices.DeleteFunc(items, func(item []byte) bool { return identifierOf(item) <= p.newest })
	}
	if len(items) > 0 {
		p.newest = identifierOf(items[len(items)-1])
	}
	return items
}

// acceptKeyset processes a page that follows an identifier.
func (p *pager) acceptKeyset(r *pageRequest, got pageAnswer) ([][]byte, error) {
	n := int64(len(got.items))
	if n == 0 {
		p.lookAgain()
		return nil, nil
	}
	last := identifierOf(got.items[n-1])
	if last == "" || last == r.after {
		return nil, fault.Hinted(fault.Of(&fault.QueryError{}, "the records have no identifier to continue from"),
			"with keyset_pagination fields must not leave out _id")
	}
	p.requests = nil
	if p.lastID = last; p.accepted == 0 {
		p.newest = identifierOf(got.items[0])
	}
	p.accepted++
	switch {
	case n >= r.size:
		p.size.succeeded(r.size, got)
		p.size.grow(0, -1)
	case got.total == n: // counted with the same filter: these are the last
		p.lookAgain()
	}
	return got.items, nil
}

func (p *pager) finish() {
	p.restart(p.next)
	if !p.done {
		close(p.fetchers)
	}
	p.done = true
}

// restart drops all requests and continues at an offset.
func (p *pager) restart(offset int64) {
	for _, r := range p.requests {
		r.stop()
	}
	p.requests, p.next, p.window = nil, offset, 1
}

// shortPage is a page shorter than requested although more should follow. If the platform limits
// its answers, the next record is right after its last. If it omitted records hidden from this
// caller, the following ones were delivered already, or are omitted as well.
type shortPage struct {
	items [][]byte
	size  pageSize // before this page
	end   int64    // offset of the end of the request
}

func (s *shortPage) delivered(record []byte) bool {
	return slices.ContainsFunc(s.items, func(item []byte) bool { return bytes.Equal(item, record) })
}
