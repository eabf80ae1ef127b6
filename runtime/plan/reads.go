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

// mostFound is how many records an answer may hold that a plan rests on. A larger one is
// a survey: what is in it may change, and the records that are written are compared
// anyhow.
const mostFound = 100

// read notes a lookup and what it finds on the platform, once.
func (r *Recorder) read(ctx context.Context, platform string, call *declare.Call, v declare.Value, err error) {
	if !repeatable(once(call.Spec)) || tellsSecret(call) {
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
		call.Spec.Param("filter") != nil && !filters(text) || // it asks for everything
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

// alone leaves out of what a lookup found what is planned. It reports whether the rest is
// what the platform finds by itself.
func (r *Recorder) alone(call *declare.Call, v declare.Value, one *Read, err error) bool {
	n := len(one.Found)
	one.Found = slices.DeleteFunc(one.Found, schema.IsPlannedID)
	if v.Shape != declare.ShapePage {
		return err == nil && (n == len(one.Found) || n > 1)
	}
	_, later := call.Args.Values["page"]
	whole := !later && v.Total == int64(len(v.Items))
	return !r.changed[call.Spec.Manager] && !r.changed[anything] && (whole || !later && n == len(one.Found))
}

// anything stands for all managers: with a record others may go.
const anything = ""

// touches notes that a write changes or deletes an existing record.
func (r *Recorder) touches(s *declare.Spec, id string) {
	switch {
	case id == "" || schema.IsPlannedID(id):
	case s.Effect == declare.Delete:
		r.changed[anything] = true
	default:
		r.changed[s.Manager] = true
	}
}

// once is the operation that makes one page of a search_generator.
func once(s *declare.Spec) *declare.Spec {
	if search := s.Siblings().Op("search"); s == s.Siblings().Walk() && search != nil {
		return search
	}
	return s
}

// readArguments are the arguments of a lookup as JSON, in the form that is parsed again.
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

// tellsSecret reports whether a read has a secret among its arguments, which a plan does
// not keep.
func tellsSecret(call *declare.Call) bool {
	for _, p := range call.Spec.Params {
		if _, given := call.Args.Values[p.Name]; given && p.Secret {
			return true
		}
	}
	return false
}

// filters reports whether a search asks for particular records.
func filters(arguments []byte) bool {
	for _, key := range []string{"filter", "search", "extra.filter", "extra.search"} {
		if v := gjson.GetBytes(arguments, key); v.IsObject() && len(v.Map()) > 0 {
			return true
		}
	}
	return false
}

// found are the ids of the records in an answer, sorted.
func found(v declare.Value) []string {
	all := []string{}
	var within func(_, v gjson.Result) bool
	within = func(_, v gjson.Result) bool {
		switch id := v.Get("_id"); {
		case v.IsObject() && id.Exists():
			all = append(all, id.String())
		case v.IsObject(), v.IsArray(): // groups of them
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
