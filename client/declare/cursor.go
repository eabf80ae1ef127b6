package declare

import (
	"context"
	"maps"

	"github.com/tidwall/gjson"
)

// Stream yields records one after the other, as JSON. After an error it stays
// where it was: calling Next again tries the same place once more.
type Stream interface {
	Next(ctx context.Context) (record []byte, ok bool, err error)
	Close()
}

// InTurn lets several goroutines read one stream: each record goes to one of
// them, and whoever waits for its turn can be stopped.
func InTurn(s Stream) Stream { return &inTurn{stream: s, turn: make(chan struct{}, 1)} }

type inTurn struct {
	stream Stream
	turn   chan struct{}
}

func (s *inTurn) Next(ctx context.Context) ([]byte, bool, error) {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, false, context.Cause(ctx)
	}
	defer func() { <-s.turn }()
	return s.stream.Next(ctx)
}

func (s *inTurn) Close() {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	s.stream.Close()
}

// Cursor is a stream of typed records.
type Cursor[T any] struct{ Stream Stream }

// Next returns the next record; ok is false at the end.
func (c *Cursor[T]) Next(ctx context.Context) (record T, ok bool, err error) {
	raw, ok, err := c.Stream.Next(ctx)
	if err != nil || !ok {
		return record, false, err
	}
	return record, true, DecodeRecord(raw, &record)
}

// Close frees what the cursor holds. It may be called more than once.
func (c *Cursor[T]) Close() { c.Stream.Close() }

func (c *Cursor[T]) stream() Stream { return c.Stream }

// generator derives search_generator from a search.
func (s *Spec) generator() *Spec {
	each := *s
	each.Name = "search_generator"
	each.Aliases = nil
	each.Doc = s.Doc + " Goes through all pages, lazily, in the order of their identifiers."
	each.Shape, each.Records = ShapeIterator, true
	each.Params = append([]Param{}, s.Params...)
	for i := range each.Params {
		p := &each.Params[i]
		switch p.Name {
		case "limit":
			p.Default, p.Doc = s.generatorLimit, "records per page"
		case "page":
			p.Doc = "page to start at"
		case "sort":
			p.Default = Sort{{"_id", 1}}
		}
	}
	each.Params = append(each.Params, Param{
		Name: "keyset_pagination", Type: scalar[boolType], Place: NotSent,
		Doc: "follow the last identifier instead of page numbers: newest first, and safe while records come and go",
	})
	return &each
}

// dropParams removes the parameters that belong to the other operation of the
// pair only.
func (s *Spec) dropParams(only string) {
	var kept []Param
	for _, p := range s.Params {
		if p.only != only {
			kept = append(kept, p)
		}
	}
	s.Params = kept
}

// iterate is the last link of search_generator.
func (e *Engine) iterate(_ context.Context, call *Call) (Value, error) {
	p := &pager{engine: e, call: call, page: int64(call.Spec.FirstPage), seen: 0}
	values := call.Args.Values
	if n, ok := values["page"].(int64); ok {
		p.page = n
	}
	p.keyset = values["keyset_pagination"] == true && call.KeysetGivenUp() == ""
	return Value{Shape: ShapeIterator, Stream: InTurn(p)}, nil
}

// KeysetGivenUp says why a generator takes numbered pages although it was asked
// to follow identifiers; "" when it was not asked, or does follow them. A page,
// an order or a filter on _id of the caller's own cannot be kept meanwhile.
func (call *Call) KeysetGivenUp() string {
	values := call.Args.Values
	if call.Spec.Shape != ShapeIterator || values["keyset_pagination"] != true {
		return ""
	}
	filter, _ := values["filter"].(map[string]any)
	_, byID := filter["_id"]
	switch {
	case values["page"] != nil:
		return "a page is given"
	case values["sort"] != nil:
		return "a sort is given"
	case byID:
		return "the filter has _id"
	case call.Spec.Param("sort") == nil:
		return "the records cannot be sorted"
	}
	return ""
}

// pager fetches one page ahead of its reader.
type pager struct {
	engine *Engine
	call   *Call
	keyset bool
	page   int64  // next page to fetch
	last   string // last identifier seen, for keyset
	seen   int64

	buffer  [][]byte
	ahead   chan fetched
	cancel  context.CancelFunc
	done    bool
	fetchBy context.Context
}

type fetched struct {
	value Value
	err   error
}

// Next implements Stream.
func (p *pager) Next(ctx context.Context) ([]byte, bool, error) {
	for len(p.buffer) == 0 {
		if p.done {
			return nil, false, nil
		}
		if p.ahead == nil {
			p.fetch(ctx)
		}
		select {
		case <-ctx.Done():
			return nil, false, context.Cause(ctx)
		case got := <-p.ahead:
			ended := p.fetchBy.Err() != nil
			p.ahead = nil
			p.cancel()
			if got.err != nil {
				if ended && ctx.Err() == nil {
					continue // the task that asked for this page is over; ask again
				}
				return nil, false, got.err
			}
			p.accept(ctx, got.value)
		}
	}
	record := p.buffer[0]
	p.buffer = p.buffer[1:]
	return record, true, nil
}

func (p *pager) accept(ctx context.Context, v Value) {
	if len(v.Items) == 0 {
		p.done = true
		return
	}
	p.buffer = v.Items
	p.seen += int64(len(v.Items))
	p.page++
	p.last = gjson.GetBytes(v.Items[len(v.Items)-1], "_id").String()
	start := int64(p.call.Spec.FirstPage)
	if from, ok := p.call.Args.Values["page"].(int64); ok {
		start = from
	}
	// The total is as fresh as the page: when all of it has been seen there is
	// no need to ask for an empty page.
	if v.Total >= 0 && start == int64(p.call.Spec.FirstPage) && p.seen >= v.Total && !p.keyset {
		p.done = true
		return
	}
	p.fetch(ctx)
}

func (p *pager) fetch(ctx context.Context) {
	ctx, p.cancel = context.WithCancel(ctx)
	p.fetchBy = ctx
	p.ahead = make(chan fetched, 1)
	args := Args{Values: maps.Clone(p.call.Args.Values), Extra: p.call.Args.Extra}
	if p.keyset {
		filter, _ := args.Values["filter"].(map[string]any)
		filter = maps.Clone(filter)
		if filter == nil {
			filter = map[string]any{}
		}
		if p.last != "" {
			filter["_id"] = map[string]any{"$lt": p.last}
		}
		args.Values["filter"], args.Values["sort"] = filter, Sort{{"_id", -1}}
	} else {
		args.Values["page"] = p.page
	}
	ahead := p.ahead
	go func() {
		v, err := p.engine.sendPage(ctx, p.call, args)
		ahead <- fetched{v, err}
	}()
}

func (e *Engine) sendPage(ctx context.Context, call *Call, args Args) (Value, error) {
	req, err := call.Spec.request(args, call.In, false)
	if err != nil {
		return Value{}, err
	}
	body, err := e.Send(ctx, req)
	if err != nil {
		return Value{}, err
	}
	items, total, err := SplitPage(body)
	return Value{Shape: ShapePage, Items: items, Total: total}, err
}

// Close implements Stream.
func (p *pager) Close() {
	p.done, p.buffer = true, nil
	if p.cancel != nil {
		p.cancel()
	}
}
