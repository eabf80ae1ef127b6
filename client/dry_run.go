package client

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"transect/client/declare"
	"transect/client/transfer"
)

// madeUp starts the ids of things a dry run pretends to have created.
const madeUp = "dry-run-"

// intercept shows every write instead of sending it. Reads go through. What would
// be created is answered as if it had been, with an id that says so and that
// later calls may use; what would be changed is answered as changed.
func (d *Rehearsal) intercept(ctx context.Context, call *declare.Call, next declare.Handler) (declare.Value, error) {
	switch {
	case call.Answered: // by the ledger
		return next(ctx, call)
	case call.Spec.Composed:
		return next(ctx, call) // its steps come here one by one
	case call.Spec.Effect == declare.Read && call.Spec.Param("target_path") != nil:
		return d.download(ctx, call)
	case call.Spec.Effect == declare.Read:
		return d.read(ctx, call, next)
	}
	arguments := shown(call)
	text, err := declare.Encode(arguments)
	if err != nil {
		return declare.Value{}, err
	}
	d.note(call, string(text))
	if call.Spec.Effect == declare.Create {
		return d.create(call.Spec, arguments)
	}
	return d.change(ctx, call, arguments)
}

// shown are the arguments as they may be printed.
func shown(call *declare.Call) map[string]any {
	arguments := map[string]any{}
	maps.Copy(arguments, call.Args.Extra)
	for _, p := range call.Spec.Params {
		if v, given := call.Args.Values[p.Name]; given {
			arguments[p.Name] = v
			if p.Secret {
				arguments[p.Name] = "[redacted]"
			}
		}
	}
	return arguments
}

// read answers questions about made-up and changed things from memory, and
// asks the platform for the rest.
func (d *Rehearsal) read(ctx context.Context, call *declare.Call, next declare.Handler) (declare.Value, error) {
	for _, p := range call.Spec.Params {
		switch v := call.Args.Values[p.Name].(type) {
		case string:
			if record := d.recall(v); record != nil {
				return d.answer(call, v, record), nil
			}
		case []string:
			if call.Spec.Shape == declare.ShapeSome {
				return d.readList(ctx, call, p.Name, v, next)
			}
		}
	}
	if mentions(call.Args.Extra) || mentions(call.Args.Values) { // nothing on the platform belongs to what is made up
		return none(call.Spec), nil
	}
	return next(ctx, call)
}

// IsMadeUp reports whether an id is that of a thing a dry run pretends to have created.
func IsMadeUp(id string) bool { return strings.HasPrefix(id, madeUp) }

// mentions reports whether an argument has the id of a made-up thing.
func mentions(v any) bool {
	switch v := v.(type) {
	case string:
		return IsMadeUp(v)
	case []string:
		return slices.ContainsFunc(v, func(s string) bool { return mentions(s) })
	case []any:
		return slices.ContainsFunc(v, mentions)
	case map[string]any:
		for _, member := range v {
			if mentions(member) {
				return true
			}
		}
	}
	return false
}

// none is the answer of a read that finds nothing.
func none(s *declare.Spec) declare.Value {
	switch s.Shape {
	case declare.ShapeIterator:
		return declare.Value{Shape: declare.ShapeIterator, Stream: declare.NewStream(nil, nil, nil)}
	case declare.ShapePage, declare.ShapeResources:
		return declare.Value{Shape: s.Shape, Items: [][]byte{}}
	}
	return harmless(s)
}

func (d *Rehearsal) recall(id string) []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.records[id]
}

// answer is what a read of one remembered thing gives.
func (d *Rehearsal) answer(call *declare.Call, id string, record []byte) declare.Value {
	switch call.Spec.Shape {
	case declare.ShapeIterator:
		return none(call.Spec)
	case declare.ShapeResource, declare.ShapeSome:
		return declare.Value{Shape: declare.ShapeResource, JSON: record}
	case declare.ShapeObject:
		return declare.Value{Shape: declare.ShapeObject, JSON: []byte(`{"total":0,"logs":[],"dry_run":true}`)}
	}
	return harmless(call.Spec)
}

// download shows a file that would be written, and answers with its path.
func (d *Rehearsal) download(ctx context.Context, call *declare.Call) (declare.Value, error) {
	subject := call.Args.Text(call.Spec.Params[0].Name)
	name := call.Args.Text("target_name")
	if describe := call.Spec.Siblings().Describe(); name == "" && describe != nil {
		record, err := describe.Invoke(ctx, declare.Args{Values: map[string]any{describe.Params[0].Name: subject}})
		if err != nil {
			return declare.Value{}, err
		}
		component := "components.#(name==" + strconv.Quote(call.Args.Text("component")) + ").filename"
		name = cmp.Or(gjson.GetBytes(record.JSON, component).String(), gjson.GetBytes(record.JSON, "name").String())
	}
	path := filepath.Join(call.Args.Text("target_path"), transfer.SafeName(cmp.Or(name, subject)))
	d.line("would download "+path, call.Spec.FullName()+" "+subject)
	return declare.Value{Shape: declare.ShapeGo, Go: Path(path)}, nil
}

// readList asks the platform for those of a list that are not remembered.
func (d *Rehearsal) readList(ctx context.Context, call *declare.Call, param string, ids []string,
	next declare.Handler) (declare.Value, error) {
	var asked []string
	for _, id := range ids {
		if d.recall(id) == nil {
			asked = append(asked, id)
		}
	}
	if len(asked) == len(ids) {
		return next(ctx, call)
	}
	unknown := *call
	unknown.Args.Values = maps.Clone(call.Args.Values)
	unknown.Args.Values[param] = asked
	got, err := next(ctx, &unknown)
	if err != nil {
		return declare.Value{}, err
	}
	all := declare.Value{Shape: declare.ShapeResources}
	for _, id := range ids {
		if record := d.recall(id); record != nil {
			all.Items = append(all.Items, record)
		} else if len(got.Items) > 0 {
			all.Items, got.Items = append(all.Items, got.Items[0]), got.Items[1:]
		}
	}
	return all, nil
}

// create answers with the arguments and a made-up id.
func (d *Rehearsal) create(s *declare.Spec, arguments map[string]any) (declare.Value, error) {
	if s.FullName() == "missions.create_survey" {
		survey := Survey{Flight: &Flight{}}
		if err := declare.DecodeRecord(d.invent("flights", arguments, nil), survey.Flight); err != nil {
			return declare.Value{}, err
		}
		mission := d.invent("missions", arguments, map[string]any{"flights": []any{survey.Flight.ID}})
		return declare.Value{Shape: declare.ShapeGo, Go: survey}, declare.DecodeRecord(mission, &survey.Mission)
	}
	switch s.Shape {
	case declare.ShapeResource, declare.ShapeSome:
		kind, more := s.Manager, map[string]any{}
		if s.FullName() == "analytics.order" {
			kind, more["status"] = "products", "available"
		}
		return declare.Value{Shape: declare.ShapeResource, JSON: d.invent(kind, arguments, more)}, nil
	case declare.ShapeResources:
		var items [][]byte
		for _, p := range s.Params {
			if list, ok := arguments[p.Name].([]any); ok && p.Type.Elem() == "object" {
				for _, item := range list {
					fields, _ := item.(map[string]any)
					items = append(items, d.invent(s.Manager, fields, nil))
				}
				break
			}
		}
		return declare.Value{Shape: declare.ShapeResources, Items: items}, nil
	}
	return harmless(s), nil
}

// harmless is the answer of what returns no resource.
func harmless(s *declare.Spec) declare.Value {
	if s.Shape == declare.ShapeObject {
		return declare.Value{Shape: declare.ShapeObject, JSON: []byte(`{"dry_run":true}`)}
	}
	return declare.Value{Shape: declare.ShapeNone}
}

// invent remembers a new record: fields, more of them, and a made-up id.
func (d *Rehearsal) invent(kind string, fields, more map[string]any) []byte {
	d.mu.Lock()
	d.made++
	id := fmt.Sprintf("%s%s-%d", madeUp, kind, d.made)
	d.mu.Unlock()
	all := map[string]any{}
	maps.Copy(all, fields)
	maps.Copy(all, more)
	return d.remember(id, all)
}

func (d *Rehearsal) remember(id string, fields map[string]any) []byte {
	fields["_id"], fields["dry_run"] = id, true
	if _, known := fields["creation_date"]; !known {
		fields["creation_date"] = time.Now().UTC().Format("2006-01-02T15:04:05.000Z")
	}
	text, err := declare.Encode(fields)
	if err != nil { // a value JSON cannot hold: the id alone must do
		text, _ = json.Marshal(map[string]any{"_id": id, "dry_run": true})
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.records[id] = text
	return text
}

// change answers with the record as it would be: the present one, with the
// arguments laid over it.
func (d *Rehearsal) change(ctx context.Context, call *declare.Call, arguments map[string]any) (declare.Value, error) {
	s := call.Spec
	if s.Shape != declare.ShapeResource && s.Shape != declare.ShapeSome || len(s.Params) == 0 {
		return harmless(s), nil
	}
	subject := s.Params[0].Name
	id := call.Args.Text(subject)
	fields := map[string]any{}
	if describe := s.Siblings().Describe(); describe != nil && id != "" {
		present, err := describe.Invoke(ctx, declare.Args{Values: map[string]any{describe.Params[0].Name: id}})
		if err != nil {
			return declare.Value{}, err
		}
		if err := json.Unmarshal(present.JSON, &fields); err != nil {
			return declare.Value{}, err
		}
	}
	delete(arguments, subject)
	maps.Copy(fields, arguments)
	return declare.Value{Shape: declare.ShapeResource, JSON: d.remember(id, fields)}, nil
}
