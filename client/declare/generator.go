package declare

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"sync"

	"transect/client/schema"
)

// generator derives search_generator from a search.
func (s *Spec) generator() *Spec {
	each := *s
	each.Name = "search_generator"
	each.Aliases = nil
	each.Doc = s.Doc + " Goes through all pages, lazily, in the order of their identifiers, and at the end through " +
		"what was created meanwhile."
	each.Shape, each.paged = ShapeIterator, true
	each.Params = append([]schema.Param{}, s.Params...)
	for i := range each.Params {
		p := &each.Params[i]
		switch p.Name {
		case "limit":
			p.Default, p.Doc = s.generatorLimit,
				fmt.Sprintf("records per page, kept as given; when absent pages start at %d and grow while the platform keeps up",
					s.generatorLimit)
		case "page":
			p.Doc = fmt.Sprintf("page to start at; the first is %d", s.FirstPage)
		case "sort":
			if p.In == schema.NotSent {
				break
			}
			p.Default = schema.Sort{{Attribute: "_id", Direction: 1}}
		}
	}
	each.Params = append(each.Params, schema.Param{
		Name: "keyset_pagination", Type: "boolean", Optional: true, Wire: schema.Wire{In: schema.NotSent},
		Doc: "follow the last identifier instead of page numbers: newest first, at the end what was created meanwhile, " +
			"and complete while records come and go",
	})
	return &each
}

// sortable reports whether the platform can sort the results of a search.
func (s *Spec) sortable() bool {
	p := s.Param("sort")
	return p != nil && p.In != schema.NotSent
}

// dropParams removes the parameters that only the other operation of the pair has.
func (s *Spec) dropParams(only string) {
	var kept []schema.Param
	for _, p := range s.Params {
		if p.Only != only {
			kept = append(kept, p)
		}
	}
	s.Params = kept
}

// iterate creates the iterator: the last link for search_generator.
func (e *Engine) iterate(_ context.Context, call *Call) (Value, error) {
	log := e.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	if reason := call.keysetConflict(); reason != "" && call.Args.Values["keyset_pagination"] == true {
		log.Warn("keyset_pagination is ignored: pages are numbered", "operation", call.Spec.FullName(), "reason", reason)
	}
	send := func(ctx context.Context, args Args, shrinkable bool) (Value, error) {
		page := &Call{Spec: call.Spec, Args: args, In: call.In, page: true}
		return e.through(ctx, page, func(ctx context.Context, call *Call) (Value, error) {
			return e.sendPage(ctx, call, shrinkable)
		})
	}
	return Value{Shape: ShapeIterator, Stream: newPager(call, log, &e.writes, send)}, nil
}

// sendPage requests one page: the last link for it.
func (e *Engine) sendPage(ctx context.Context, call *Call, shrinkable bool) (Value, error) {
	req, err := call.Spec.request(call.Args, call.In, false)
	if err != nil {
		return Value{}, err
	}
	if shrinkable {
		req.GiveUp = func(err error, attempt int) bool { return attempt >= refusalsToShrink && tooLarge(err) }
	}
	req.Buffer = pages.Get().(*bytes.Buffer)
	body, err := e.Send(ctx, req)
	if err != nil {
		pages.Put(req.Buffer)
		return Value{}, err
	}
	items, total, err := splitPage(body)
	if cap(body) > recordBlock { // a smaller buffer stays with its records
		copyOut(items)
		pages.Put(req.Buffer)
	}
	return Value{Shape: ShapePage, Items: items, Total: total}, err
}

// pages recycles the buffers that pages are read into.
var pages = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// keysetConflict returns why the caller's arguments prevent keyset pagination; "" if they do not.
func (call *Call) keysetConflict() string {
	values := call.Args.Values
	filter, _ := values["filter"].(map[string]any)
	_, byID := filter["_id"]
	switch {
	case !call.Spec.sortable():
		return "the records cannot be sorted"
	case values["page"] != nil:
		return "a page is given"
	case values["sort"] != nil:
		return "a sort is given"
	case byID:
		return "the filter has _id"
	}
	return ""
}
