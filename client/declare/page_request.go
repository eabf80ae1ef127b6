package declare

import (
	"context"
	"maps"
	"slices"
	"time"

	"transect/client/schema"
)

// pageRequest is one page that was asked for.
type pageRequest struct {
	offset int64 // of the first record wanted
	page   int64 // number, from 0
	size   int64
	after  string // identifier before it, for keyset

	ctx    context.Context
	cancel context.CancelFunc
	answer chan pageAnswer // nil while nothing is on its way
	failed bool            // the answer was understood, and is an error
}

type pageAnswer struct {
	items [][]byte
	total int64
	bytes int
	took  time.Duration
	err   error
}

// drop ends the request. It can be sent again.
func (r *pageRequest) drop() {
	if r.cancel != nil {
		r.cancel()
	}
	r.answer, r.failed = nil, false
}

// forget drops a request that failed because the task that made it is over.
func (r *pageRequest) forget() {
	if r.answer == nil || r.ctx.Err() == nil || r.failed {
		return
	}
	select {
	case got := <-r.answer:
		if got.err == nil {
			r.answer <- got
			return
		}
	default:
	}
	r.drop()
}

// fill asks for as many pages as are wanted now, at least for the next one.
func (p *pager) fill(ctx context.Context) {
	if p.done {
		return
	}
	for len(p.requests) == 0 || p.more() {
		p.ask()
	}
	for _, r := range p.requests {
		r.forget()
		if r.answer == nil {
			p.start(ctx, r)
		}
	}
}

// more tells whether to ask for one page beyond those asked for.
func (p *pager) more() bool {
	if !p.deep || p.accepted == 0 || p.cut != nil {
		return false
	}
	n := len(p.requests)
	ahead := min(p.window, p.sizes.inBytes(mostHeld))
	if p.total >= 0 {
		return n < ahead && p.next < p.total
	}
	return p.full && n < min(ahead, mostInTheDark, p.accepted)
}

// ask lines up the request for the page at p.next.
func (p *pager) ask() {
	if p.keyset {
		p.requests = append(p.requests, &pageRequest{size: p.sizes.now, after: p.last})
		return
	}
	if p.accepted > 0 && (p.total >= 0 || p.full) {
		p.sizes.grow(p.next, p.total)
	}
	size := p.sizes.step()
	if p.cut != nil {
		size = 1
	}
	page := p.next / size
	if page < 0 {
		page = (p.next - size + 1) / size
	}
	p.requests = append(p.requests, &pageRequest{offset: p.next, page: page, size: size})
	p.next = (page + 1) * size
}

// start sends a request.
func (p *pager) start(ctx context.Context, r *pageRequest) {
	args := Args{Values: maps.Clone(p.call.Args.Values), Extra: p.call.Args.Extra}
	if args.Values == nil {
		args.Values = map[string]any{}
	}
	if !p.sizes.free {
		args.Values["limit"] = r.size
	}
	if p.keyset {
		filter, _ := args.Values["filter"].(map[string]any)
		filter = maps.Clone(filter)
		if filter == nil {
			filter = map[string]any{}
		}
		if r.after != "" {
			filter["_id"] = map[string]any{"$lt": r.after}
		}
		args.Values["filter"], args.Values["sort"] = filter, schema.Sort{{Attribute: "_id", Direction: -1}}
	} else {
		args.Values["page"] = p.first + r.page
	}
	r.ctx, r.cancel = context.WithCancel(ctx)
	r.answer, r.failed = make(chan pageAnswer, 1), false
	ctx, answer, send := r.ctx, r.answer, p.send
	go func() {
		started := time.Now()
		body, err := send(ctx, args)
		got := pageAnswer{bytes: len(body), took: time.Since(started), err: err}
		if err == nil {
			got.items, got.total, got.err = SplitPage(body)
			unpin(got.items, len(body))
		}
		answer <- got
	}()
}

// unpin gives the records of a large page memory of their own, a few together:
// a script that keeps one of them shall not keep the page.
func unpin(items [][]byte, page int) {
	if page <= smallPage {
		return
	}
	var room []byte
	left := 0
	for _, item := range items {
		left += len(item)
	}
	for i, item := range items {
		if len(item) > cap(room)-len(room) {
			room = make([]byte, 0, max(len(item), min(left, smallPage)))
		}
		from := len(room)
		room = append(room, item...)
		items[i] = room[from:len(room):len(room)]
		left -= len(item)
	}
}

// A page below this may stay in memory for the sake of one record.
const smallPage = 64 << 10

// waited notes that the reader is faster than the pages come: more of them in
// flight will help, unless the platform takes longer the more there are.
func (p *pager) waited(got pageAnswer) {
	if got.err != nil || p.accepted == 0 {
		return
	}
	took := got.took.Seconds()
	if p.quickAt != p.sizes.now || took < p.quickest {
		p.quickest, p.quickAt = took, p.sizes.now
	}
	switch {
	case took <= 2*p.quickest:
		p.window = min(2*p.window, mostInFlight)
	case took > 4*p.quickest:
		p.window = max(p.window/2, 2)
	}
}

func remove(requests []*pageRequest, r *pageRequest) []*pageRequest {
	return slices.DeleteFunc(requests, func(other *pageRequest) bool { return other == r })
}
