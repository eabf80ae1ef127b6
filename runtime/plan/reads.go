package plan

import (
	"context"
	"crypto/sha256"
	"maps"
	"slices"

	"github.com/tidwall/gjson"

	"transect/client/declare"
	"transect/client/fault"
	"transect/client/schema"
)

// mostFound limits the records of a response that a plan depends on. Larger ones are surveys: their content
// may change, and the records that are written are compared anyway.
const mostFound = 100

// read records a lookup and what it finds on the platform, once.
func (r *Recorder) read(ctx context.Context, platform string, call *declare.Call, v declare.Value, err error) {
	if !repeatable(once(call.Spec)) || hasSecret(call) {
		return
	}
	one := Read{Operation: once(call.Spec).FullName(), Platform: platform, Position: declare.Position(ctx),
		Found: []string{}}
	refused := fault.Status(err) >= 400 && fault.Status(err) < 500
	if err == nil {
		one.Found = found(v)
	}
	text, failed := readArguments(call)
	if one.Arguments = text; failed != nil || err != nil && !refused || len(one.Found) > mostFound ||
		call.Spec.Param("filter") != nil && !filters(text) || // no condition
		slices.ContainsFunc(identifier().FindAllString(string(text), -1), schema.IsPlannedID) {
		return
	}
	if _, _, err := one.call(); err != nil {
		return
	}
	id := sha256.Sum256(append([]byte(platform+"\n"+one.Operation+"\n"), text...))
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.plan.Writes) > 0 && !r.alone(call, v, &one, err) || r.reads[id] || len(r.plan.Reads) == mostReads {
		return
	}
	r.reads[id] = true
	r.plan.Reads = append(r.plan.Reads, &one)
}

// alone removes planned records from what a lookup found. It reports whether the rest is what the platform
// finds on its own.
func (r *Recorder) alone(call *declare.Call, v declare.Value, one *Read, err error) bool {
	n := len(one.Found)
	one.Found = slices.DeleteFunc(one.Found, schema.IsPlannedID)
	if v.Shape != declare.ShapePage {
		return err == nil && (n == len(one.Found) || n > 1)
	}
	_, later := call.Args.Values["page"]
	whole := !later && v.Total == int64(len(v.Items))
	return !r.changed[call.Spec.Manager] && !r.changed[anyManager] && (whole || !later && n == len(one.Found))
}

// anyManager means all managers: deleting a record may delete others.
const anyManager = ""

// touches notes that a write changes or deletes an existing record.
func (r *Recorder) touches(s *declare.Spec, id string) {
	switch {
	case id == "" || schema.IsPlannedID(id):
	case s.Effect == declare.Delete:
		r.changed[anyManager] = true
	default:
		r.changed[s.Manager] = true
	}
}

// once returns the operation for one page of a search_generator.
func once(s *declare.Spec) *declare.Spec {
	if search := s.Siblings().Op("search"); s == s.Siblings().Walk() && search != nil {
		return search
	}
	return s
}

// readArguments encodes the arguments of a lookup as JSON that can be parsed again.
func readArguments(call *declare.Call) ([]byte, error) {
	values, s := maps.Clone(call.Args.Values), once(call.Spec)
	maps.DeleteFunc(values, func(name string, _ any) bool { return s.Param(name) == nil })
	if sort, ok := values["sort"].(schema.Sort); ok { // objects have no order
		list := make([]schema.Sort, len(sort))
		for i := range sort {
			list[i] = sort[i : i+1]
		}
		values["sort"] = list
	}
	if len(call.Args.Extra) > 0 {
		values["extra"] = call.Args.Extra
	}
	return declare.Encode(values)
}

// hasSecret reports whether a read has a secret among its arguments, which a plan does
// not keep.
func hasSecret(call *declare.Call) bool {
	for _, p := range call.Spec.Params {
		if _, given := call.Args.Values[p.Name]; given && p.Secret {
			return true
		}
	}
	return false
}

// filters reports whether a search has conditions.
func filters(arguments []byte) bool {
	for _, key := range []string{"filter", "search", "extra.filter", "extra.search"} {
		if v := gjson.GetBytes(arguments, key); v.IsObject() && len(v.Map()) > 0 {
			return true
		}
	}
	return false
}

// found returns the sorted ids of the records in a response.
func found(v declare.Value) []string {
	all := []string{}
	var within func(_, v gjson.Result) bool
	within = func(_, v gjson.Result) bool {
		switch id := v.Get("_id"); {
		case v.IsObject() && id.Exists():
			all = append(all, id.String())
		case v.IsObject(), v.IsArray(): // groups of records
			v.ForEach(within)
		}
		return true
	}
	for _, record := range records(v) {
		within(gjson.Result{}, gjson.ParseBytes(record))
	}
	slices.Sort(all)
	return all
}
