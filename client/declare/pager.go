package declare

import (
	"context"
	"runtime"

	"github.com/tidwall/gjson"

	"transect/client/fault"
	"transect/client/schema"
)

// pager goes through the pages of a search. It keeps several numbered pages in
// flight, as many as its reader can use, and delivers their records in order.
//
// It counts in offsets, not in pages, so that the page size may change on the
// way: page p of size s starts at offset p*s. A page that starts before the
// offset wanted has the records before it dropped.
type pager struct {
	call   *Call
	send   func(ctx context.Context, args Args) ([]byte, error)
	sizes  sizes
	keyset bool
	first  int64 // number of the first page
	deep   bool  // several pages may be in flight: numbered, in a known order

	buffer   [][]byte
	requests []*pageRequest // in order of their offsets; the first is the next to deliver
	next     int64          // offset behind the last request
	last     string         // identifier of the last record, for keyset
	window   int            // requests in flight or waiting, at most
	quickest float64        // least seconds a page of the present size took
	quickAt  int64          // the size that was
	accepted int            // pages so far
	full     bool           // the last page was as long as asked
	total    int64          // matches, as the last page told; -1 when unknown
	doubted  bool           // the totals are known to be wrong
	cut      *cutPage       // set while one record is asked for to explain it
	gaps     bool           // pages leave some of their records out
	empty    int64          // offsets without a record since the last one
	done     bool
}

const (
	mostInFlight = 16
	// Without a total nobody knows where the end is, so fewer pages are asked
	// for that may lie behind it.
	mostInTheDark = 4
	// Bytes of pages that wait for their reader, about.
	mostHeld = 16 << 20
)

func newPager(call *Call, send func(context.Context, Args) ([]byte, error)) *pager {
	values, spec := call.Args.Values, call.Spec
	p := &pager{call: call, send: send, first: int64(spec.FirstPage), window: 1, total: -1}
	p.keyset = values["keyset_pagination"] == true && call.KeysetGivenUp() == ""
	p.sizes = startingSizes(values, spec.generatorLimit)
	_, nullSort := values["sort"].(schema.Null)
	p.deep = !p.keyset && spec.Param("sort") != nil && !nullSort
	if page, ok := values["page"].(int64); ok {
		p.next = (page - p.first) * p.sizes.step()
	}
	// A for loop that is left does not say so: whatever is still on its way ends
	// when nobody can ask for it any more.
	runtime.SetFinalizer(p, (*pager).Close)
	return p
}

// Next implements Stream.
func (p *pager) Next(ctx context.Context) ([]byte, bool, error) {
	for len(p.buffer) == 0 {
		if p.done {
			return nil, false, nil
		}
		if err := ctx.Err(); err != nil {
			return nil, false, context.Cause(ctx)
		}
		p.fill(ctx)
		r := p.requests[0]
		var got pageAnswer
		select {
		case got = <-r.answer:
		default:
			select {
			case <-ctx.Done():
				return nil, false, context.Cause(ctx)
			case got = <-r.answer:
				p.waited(got)
			}
		}
		if err := p.settle(ctx, r, got); err != nil {
			return nil, false, err
		}
	}
	return p.pop(), true, nil
}

// Take implements Taker.
func (p *pager) Take(ctx context.Context) ([]byte, bool) {
	for len(p.buffer) == 0 {
		if p.done || len(p.requests) == 0 || p.requests[0].answer == nil || ctx.Err() != nil {
			return nil, false
		}
		r := p.requests[0]
		if len(r.answer) == 0 {
			return nil, false
		}
		got := <-r.answer
		if got.err != nil {
			r.answer <- got // Next is the one to tell
			return nil, false
		}
		if err := p.settle(ctx, r, got); err != nil {
			r.answer, r.failed = make(chan pageAnswer, 1), true
			r.answer <- pageAnswer{err: err}
			return nil, false
		}
	}
	return p.pop(), true
}

func (p *pager) pop() []byte {
	record := p.buffer[0]
	p.buffer[0] = nil // what was delivered is its reader's alone
	p.buffer = p.buffer[1:]
	return record
}

// settle takes the answer to the first request: its records into the buffer,
// or an error that leaves the pager where it was.
func (p *pager) settle(ctx context.Context, r *pageRequest, got pageAnswer) error {
	over := r.ctx.Err() != nil && !r.failed
	r.drop()
	if got.err != nil {
		p.window = 1
		switch {
		case over && ctx.Err() == nil: // the task that asked for it is over; ask again
			return nil
		case p.sizes.shrink(r.size, got.err):
			for p.gaps && r.offset%p.sizes.now != 0 {
				p.sizes.now-- // records cannot be counted where some are left out
			}
			p.restart(r.offset)
			return nil
		}
		return got.err
	}
	if !p.keyset {
		p.accept(r, got)
	} else if err := p.follow(r, got); err != nil {
		return err
	}
	p.fill(ctx)
	return nil
}

// accept takes a numbered page.
func (p *pager) accept(r *pageRequest, got pageAnswer) {
	n, start, total := int64(len(got.items)), r.page*r.size, got.total
	if p.doubted || p.sizes.free {
		total = -1
	}
	switch {
	case p.cut != nil && p.cut.whole(got.items):
		p.sizes, p.gaps = p.cut.sizes, true
		p.sizes.now, p.sizes.most = p.cut.size, p.cut.size // stays aligned: records cannot be counted
		p.restart(p.cut.start + p.cut.size)
		p.cut, p.full = nil, false
		return
	case n == 0 && (total < 0 || start+r.size < total) && p.empty+r.size < p.sizes.begun:
		// Of a page this short all records may have been left out.
		p.empty, p.gaps = p.empty+r.size, true
		p.requests = remove(p.requests, r)
		return
	case n == 0, start >= total && total >= 0 && p.accepted == 0 && n < r.size:
		p.finish() // also when the caller starts behind the end, and a cut page is from before it
		return
	case total >= 0 && start >= total: // records behind the end: it is not the end
		p.doubted, total = true, -1
	}
	p.cut, p.empty = nil, 0
	if p.sizes.free || p.gaps {
		n = r.size
	}
	switch {
	case n > r.size && start == 0 && p.accepted == 0:
		// The platform has a page size of its own.
		p.sizes.fix(n)
		p.restart(n)
	case n < r.size && start > 0 && r.size > p.sizes.proven && (p.sizes.proven > 0 || total >= 0):
		// The end, or the most the platform gives. In the second case nobody can tell
		// which records these are, so take them in pages known to come whole.
		p.sizes.fall(n)
		p.restart(r.offset)
		return
	case n < r.size && total > start+n:
		p.cut = newCutPage(got.items, p.sizes, start, r.size)
		p.sizes.fall(n)
		p.restart(max(start+n, r.offset))
	case n < r.size && total < 0:
		// Cut, or the end: without a total only page numbers are sure, and they
		// mean something else at another size.
		p.sizes.fixed = true
	case n >= r.size:
		p.sizes.came(r.size, got)
	}
	p.full = n >= r.size && !p.sizes.free
	p.total = total
	if skip := r.offset - start; skip < int64(len(got.items)) {
		p.buffer = got.items[max(skip, 0):]
	}
	p.requests = remove(p.requests, r)
	p.accepted++
	switch {
	case total < 0 || start+n < total:
	case n >= r.size && start == 0 && r.size > 1:
		// A platform that does not count may give the length of the page for a
		// total. One more page tells.
		p.total = -1
	default:
		p.finish()
	}
}

// follow takes a page of the keyset kind.
func (p *pager) follow(r *pageRequest, got pageAnswer) error {
	n := int64(len(got.items))
	if n == 0 {
		p.finish()
		return nil
	}
	last := gjson.GetBytes(got.items[n-1], "_id").String()
	if last == "" || last == r.after {
		return fault.Hinted(fault.Of(&fault.QueryError{}, "the records carry no identifier to go on from"),
			"with keyset_pagination fields must not leave out _id")
	}
	p.requests = remove(p.requests, r)
	p.last, p.buffer = last, got.items
	p.accepted++
	switch {
	case n >= r.size:
		p.sizes.came(r.size, got)
		p.sizes.grow(0, -1)
	case got.total == n && !p.sizes.free: // counted with the same filter: these are the rest
		p.finish()
	}
	return nil
}

func (p *pager) finish() {
	p.done = true
	p.clear()
}

func (p *pager) clear() {
	for _, r := range p.requests {
		r.drop()
	}
	p.requests = nil
}

// restart forgets what was asked for and goes on at an offset.
func (p *pager) restart(offset int64) {
	p.clear()
	p.next = offset
	p.window = 1
}

// Close implements Stream.
func (p *pager) Close() {
	p.finish()
	p.buffer = nil
}
