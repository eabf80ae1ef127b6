package declare

import (
	"context"
	"maps"
	"time"

	"transect/client/schema"
)

// pageRequest is a request for one page.
type pageRequest struct {
	offset int64  // a multiple of the size
	size   int64  // records requested
	after  string // keyset: the last identifier before the page
	newer  string // keyset: only later identifiers, in their order

	ctx    context.Context
	cancel context.CancelFunc
	answer chan pageAnswer // nil while it is not in flight
	writes int64           // the count when it was sent
}

type pageAnswer struct {
	items [][]byte
	total int64 // matches; -1 when unknown
	bytes int
	took  time.Duration
	at    time.Time
	err   error
}

// stop ends the request. It can be started again.
func (r *pageRequest) stop() {
	if r.cancel != nil {
		r.cancel()
	}
	r.answer = nil
}

// arguments returns the search's arguments, overridden for the page.
func (p *pager) arguments(r *pageRequest) Args {
	args := Args{Values: maps.Clone(p.args.Values), Extra: p.args.Extra}
	if args.Values == nil {
		args.Values = map[string]any{}
	}
	args.Values["limit"] = r.size
	if !p.keyset {
		args.Values["page"] = p.first + r.offset/r.size
		return args
	}
	filter := map[string]any{}
	if given, ok := args.Values["filter"].(map[string]any); ok {
		filter = maps.Clone(given)
	}
	if r.after != "" {
		filter["_id"] = map[string]any{"$lt": r.after}
	}
	args.Values["filter"], args.Values["sort"] = filter, schema.Sort{{Attribute: "_id", Direction: -1}}
	if r.newer != "" {
		filter["_id"] = map[string]any{"$gt": r.newer}
		args.Values["sort"] = schema.Sort{{Attribute: "_id", Direction: 1}}
	}
	return args
}

// start sends a request. Its goroutine does not reference the pager, so that the pager is freed
// when its reader leaves the loop.
func (p *pager) start(ctx context.Context, r *pageRequest) {
	r.ctx, r.cancel = context.WithCancel(ctx)
	r.answer = make(chan pageAnswer, 1)
	r.writes = p.writes.Load()
	ctx, args, answer, send, shrinkable := r.ctx, p.arguments(r), r.answer, p.send, p.size.shrinkable()
	p.fetchers.do(func() {
		began := time.Now()
		value, err := send(ctx, args, shrinkable)
		got := pageAnswer{items: value.Items, total: value.Total, took: time.Since(began), at: time.Now(), err: err}
		for _, item := range got.items {
			got.bytes += len(item)
		}
		answer <- got
	})
}

// fetchers are goroutines reused for further requests: a new one for each page would grow its stack
// each time, which costs as much as decoding some records.
type fetchers chan func()

func (f fetchers) do(fetch func()) {
	select {
	case f <- fetch: // one is idle
	default:
		go func() {
			fetch()
			for next := range f {
				next()
			}
		}()
	}
}

// recordBlock is the most bytes of its page that one record may keep in memory.
const recordBlock = 64 << 10

// copyOut copies the records of a page into small blocks: the page's buffer is reused, and a script
// that keeps one record must not keep all of them.
func copyOut(items [][]byte) {
	bytes := 0
	for _, item := range items {
		bytes += len(item)
	}
	var block []byte
	for i, item := range items {
		if len(item) > cap(block)-len(block) {
			block = make([]byte, 0, max(len(item), min(bytes, recordBlock)))
		}
		from := len(block)
		block = append(block, item...)
		items[i] = block[from:len(block):len(block)]
		bytes -= len(item)
	}
}
