package declare

import (
	"context"
	"fmt"

	"transect/client/schema"
)

// generator derives search_generator from a search.
func (s *Spec) generator() *Spec {
	each := *s
	each.Name = "search_generator"
	each.Aliases = nil
	each.Doc = s.Doc + " Goes through all pages, lazily, in the order of their identifiers."
	each.Shape, each.Records = ShapeIterator, true
	each.Params = append([]schema.Param{}, s.Params...)
	for i := range each.Params {
		p := &each.Params[i]
		switch p.Name {
		case "limit":
			p.Default, p.Doc = s.generatorLimit, fmt.Sprintf("records per page, kept as given; when absent pages start at %d and grow while the platform keeps up", s.generatorLimit)
		case "page":
			p.Doc = "page to start at"
		case "sort":
			p.Default = schema.Sort{{Attribute: "_id", Direction: 1}}
		}
	}
	each.Params = append(each.Params, schema.Param{
		Name: "keyset_pagination", Type: "boolean", Optional: true, Wire: schema.Wire{In: schema.NotSent},
		Doc: "follow the last identifier instead of page numbers: newest first, and safe while records come and go",
	})
	return &each
}

// dropParams removes the parameters that belong to the other operation of the
// pair only.
func (s *Spec) dropParams(only string) {
	var kept []schema.Param
	for _, p := range s.Params {
		if p.Only != only {
			kept = append(kept, p)
		}
	}
	s.Params = kept
}

// iterate is the last link of search_generator.
func (e *Engine) iterate(_ context.Context, call *Call) (Value, error) {
	send := func(ctx context.Context, args Args) ([]byte, error) {
		req, err := call.Spec.request(args, call.In, false)
		if err != nil {
			return nil, err
		}
		return e.Send(ctx, req)
	}
	return Value{Shape: ShapeIterator, Stream: InTurn(newPager(call, send))}, nil
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
