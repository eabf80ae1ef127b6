package plan

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"transect/client/declare"
	"transect/client/fault"
	"transect/client/human"
	"transect/client/ingest"
	"transect/client/schema"
)

// Refused returns the error of the first write that the gate refused, or nil.
func (g *Gate) Refused() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.refused
}

// Refuse makes the gate refuse everything from now on.
func (g *Gate) Refuse(err error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	return g.refuse(err)
}

func (g *Gate) refuse(err error) error {
	if g.refused == nil {
		g.refused = err
	}
	return err
}

// unplanned refuses a write, and names the most similar planned one.
func (g *Gate) unplanned(ctx context.Context, call *declare.Call, p part) error {
	op := call.Spec.FullName()
	f := fault.Of(&fault.PlanError{}, "this write is not in the plan, and was not sent")
	if w := g.nearest(op, declare.Position(ctx)); w != nil {
		f = fault.Of(&fault.PlanError{}, "this write is not in the plan, and was not sent. Write %d of the plan (%s) is "+
			"most like it: %s", w.Number, human.Line(w.Position), difference(w.Arguments, p.arguments))
	}
	return g.beyond(f)
}

// beyond refuses what is not in the plan. Where the plan is a guess, the gate closes: what follows is planned
// once the rest is known.
func (g *Gate) beyond(f fault.Fault) error {
	if g.Plan.Guess != "" {
		g.closed, g.rest = true, true
		return g.refuse(fault.Hinted(f, "it depends on what was not known when the plan was made: the rest is planned now"))
	}
	return g.refuse(fault.Hinted(f, "%s plans again and shows the difference; what changes with each run (a time, "+
		"a random number) is better an argument of the script", g.Plan.Refresh()))
}

// Rest reports whether the run ended where the plan was a guess, with more to do.
func (g *Gate) Rest() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.rest
}

// nearest returns the planned, unsent write most similar to an operation at a position.
func (g *Gate) nearest(op, position string) (best *Write) {
	for _, w := range g.Plan.Writes {
		if w.Operation != op || g.state[w.Number] != 0 {
			continue
		}
		if w.Position == position {
			return w
		}
		if best == nil {
			best = w
		}
	}
	return best
}

// difference describes the arguments in which a planned write differs from an actual one.
func difference(planned []byte, now map[string]any) string {
	const most = 3
	text, err := declare.Encode(now)
	if err != nil {
		return "its arguments differ"
	}
	var list []string
	compare("", gjson.ParseBytes(planned), gjson.ParseBytes(text), func(path string, was, is gjson.Result) {
		list = append(list, fmt.Sprintf("%s was %s when planned, and is %s", human.Line(path), shortValue(was),
			shortValue(is)))
	})
	switch {
	case len(list) > 0:
		return strings.Join(list[:min(most, len(list))], "; ")
	case now["file_path"] != nil:
		return "its file was changed since, or was planned to be sent fewer times"
	}
	return "it was planned fewer times"
}

// compare visits the innermost values that differ, but for ids that were not known.
func compare(path string, was, is gjson.Result, visit func(path string, was, is gjson.Result)) {
	switch {
	case was.Raw == is.Raw, schema.IsPlannedID(was.Str) && is.Type == gjson.String:
	case was.IsArray() && is.IsArray() && len(was.Array()) == len(is.Array()):
		for i, inner := range was.Array() {
			compare(fmt.Sprintf("%s[%d]", path, i+1), inner, is.Array()[i], visit)
		}
	case was.IsObject() && is.IsObject():
		before, after := was.Map(), is.Map()
		keys := slices.AppendSeq(slices.Collect(maps.Keys(before)), maps.Keys(after))
		slices.Sort(keys)
		for _, key := range slices.Compact(keys) {
			if !strings.HasSuffix(path, ingest.PropertyName) || !slices.Contains(ofOneRun, key) {
				compare(strings.TrimPrefix(path+"."+key, "."), before[key], after[key], visit)
			}
		}
	default:
		visit(path, was, is)
	}
}
