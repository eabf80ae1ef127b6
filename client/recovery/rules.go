package recovery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"transect/client/declare"
	"transect/client/fault"
	"transect/client/ledger"
)

// recover deals with a call whose row is open: it may have been done by a
// process that died, or by an earlier call whose answer was lost.
func (a *attempt) recover(ctx context.Context) (declare.Value, error) {
	if a.call.Spec.Composed {
		return a.again(ctx) // its steps are looked for
	}
	switch a.call.Spec.Lost.Rule {
	case declare.Steps, declare.Safe:
		return a.again(ctx)
	case declare.Gone:
		return a.deleteAgain(ctx)
	case declare.Look, declare.Status:
		return a.unlessSo(ctx)
	case declare.Ask:
		if len(a.call.Spec.Lost.Keys) == 0 {
			a.row.Leave()
			return declare.Value{}, a.unknown(nil)
		}
	}
	return a.search(ctx)
}

// again sends the call once more.
func (a *attempt) again(ctx context.Context) (declare.Value, error) {
	if err := a.row.Again(a.Platform()); err != nil {
		return declare.Value{}, err
	}
	a.Tally.Again.Add(1)
	v, err := a.send(ctx)
	if response, ok := errors.AsType[*fault.ResponseError](err); ok && response.Status == http.StatusConflict && a.call.Spec.Lost.Rule == declare.Key {
		if found, searched := a.find(ctx); searched == nil && found.whole() && len(found.more) == 0 {
			answer, err := a.answerOf(ctx, found.of)
			if err != nil {
				return declare.Value{}, err
			}
			return a.adopted(ctx, idsOf(found.of), answer) // the request that was lost has arrived
		}
	}
	return v, err
}

// deleteAgain deletes what is still there.
func (a *attempt) deleteAgain(ctx context.Context) (declare.Value, error) {
	v, err := a.again(ctx)
	response, ok := errors.AsType[*fault.ResponseError](err)
	if !ok || response.Status != http.StatusNotFound {
		return v, err
	}
	many, name := list(a.call)
	if len(many) < 2 {
		return a.gone(ctx, nil)
	}
	there, err := a.remaining(ctx, many)
	if err != nil {
		return declare.Value{}, err
	}
	for _, id := range there {
		one := a.call.Args
		one.Values = maps.Clone(one.Values)
		one.Values[name] = id
		_, err := a.call.Spec.Invoke(Outside(ctx), one)
		if response, ok := errors.AsType[*fault.ResponseError](err); err != nil && (!ok || response.Status != http.StatusNotFound) {
			return declare.Value{}, err
		}
	}
	return a.gone(ctx, many)
}

// gone notes that what was to be deleted is no more.
func (a *attempt) gone(ctx context.Context, ids []string) (declare.Value, error) {
	if err := a.row.Resolve(ledger.Done, ids, [][]byte{[]byte("{}")}); err != nil {
		return declare.Value{}, err
	}
	return a.answer(ctx, [][]byte{[]byte("{}")})
}

// remaining are those of several things that are still there, as far as a search
// can tell.
func (a *attempt) remaining(ctx context.Context, ids []string) (there []string, err error) {
	search := a.call.Spec.Sibling("search_generator")
	if search == nil {
		return ids, nil
	}
	for some := range slices.Chunk(ids, 100) {
		v, err := search.Invoke(ctx, declare.Args{Values: map[string]any{"filter": map[string]any{"_id": map[string]any{"$in": some}}}})
		if err != nil {
			return nil, err
		}
		for {
			record, ok, next := v.Stream.Next(ctx)
			if err = next; err != nil || !ok {
				break
			}
			there = append(there, gjson.GetBytes(record, "_id").String())
		}
		v.Stream.Close()
		if err != nil {
			return nil, err
		}
	}
	return there, nil
}

func list(call *declare.Call) (ids []string, name string) {
	for _, p := range call.Spec.Params {
		if ids, ok := call.Args.Values[p.Name].([]string); ok {
			return ids, p.Name
		}
	}
	return nil, ""
}

// unlessSo reads the target of the call and sends it only when it is not yet as
// the call would make it.
func (a *attempt) unlessSo(ctx context.Context) (declare.Value, error) {
	s := a.call.Spec
	describe := s.Sibling("describe")
	if describe == nil {
		describe = s.Sibling("search")
	}
	subject := a.call.Args.Text(s.Params[0].Name)
	if describe == nil || subject == "" {
		return a.again(ctx)
	}
	record, err := a.read(ctx, describe, subject)
	if err != nil {
		a.row.Leave()
		return declare.Value{}, err
	}
	if record == nil || !a.isSo(record) {
		return a.again(ctx)
	}
	if s.Transfers() {
		a.Tally.Adopted.Add(1)
		return declare.Value{Shape: s.Shape, Go: declare.None{}}, a.row.Resolve(ledger.Adopted, []string{subject}, nil)
	}
	return a.adopted(ctx, []string{subject}, a.compose(record))
}

func (a *attempt) read(ctx context.Context, how *declare.Spec, id string) ([]byte, error) {
	values := map[string]any{how.Params[0].Name: id}
	if how.Name == "search" {
		values = map[string]any{"filter": map[string]any{"_id": map[string]any{"$eq": id}}}
	}
	v, err := how.Invoke(ctx, declare.Args{Values: values})
	if response, ok := errors.AsType[*fault.ResponseError](err); ok && response.Status == http.StatusNotFound {
		return nil, nil
	}
	if found := records(v); err == nil && len(found) == 1 {
		return found[0], nil
	}
	return nil, err
}

// isSo reports whether a record is as the call would make it.
func (a *attempt) isSo(record []byte) bool {
	s := a.call.Spec
	switch {
	case s.Name == "restore":
		deleted := gjson.GetBytes(record, "deletion_date")
		return !deleted.Exists() || deleted.Type == gjson.Null
	case s.Transfers():
		return a.uploaded(record)
	case s.Lost.Rule == declare.Status && slices.Contains(s.Lost.Keys, "product"):
		return a.newer(gjson.GetBytes(record, "product").String())
	case s.Lost.Rule == declare.Status:
		return slices.Contains(s.Lost.Keys, gjson.GetBytes(record, "status").String())
	case s.Name == "cancel":
		return strings.HasPrefix(gjson.GetBytes(record, "status").String(), "cancel")
	}
	for _, key := range s.Lost.Keys {
		wanted, there := a.call.Args.Values[key], gjson.GetBytes(record, key)
		if there.IsObject() {
			there = there.Get("name") // of a status
		}
		if list, ok := wanted.([]string); ok {
			for _, one := range list {
				if !slices.ContainsFunc(there.Array(), func(r gjson.Result) bool { return r.String() == one }) {
					return false
				}
			}
		} else if fmt.Sprint(wanted) != there.String() {
			return false
		}
	}
	return len(s.Lost.Keys) > 0
}

// uploaded reports whether a dataset holds the file of an upload.
func (a *attempt) uploaded(record []byte) bool {
	for _, component := range gjson.GetBytes(record, "components").Array() {
		if component.Get("name").String() == a.call.Args.Text("component") {
			return component.Get("status").String() == "completed" && component.Get("checksum").String() == a.sum
		}
	}
	return false
}

// newer reports whether a thing was made since the write was sent.
func (a *attempt) newer(id string) bool {
	made, ok := madeAt(id)
	return ok && !made.Before(a.row.Since.Add(-clockSlack))
}

// unknown is the error for a write of which nobody can know whether it was done.
func (a *attempt) unknown(candidates []string) error {
	a.Tally.Unknown.Add(1)
	f := fault.Of(&fault.UnknownOutcomeError{}, "it is not known whether this was done: it was sent at %s, and the answer was lost", a.row.Since.Local().Format(time.DateTime))
	f.Row = int(a.row.Seq)
	f.Candidates = candidates
	if len(candidates) > 0 {
		f.Message += fmt.Sprintf("; %d could be it: %s", len(candidates), strings.Join(candidates, ", "))
	}
	run, n := a.ledg.Run(), a.row.Seq
	f.Hint = fmt.Sprintf("look, then say which: transect runs settle %s %d --adopt ID | --send", run, n)
	return fault.In(a.call.Spec.FullName(), f)
}

// compose makes the answer a call would have had of a record that was found.
func (a *attempt) compose(record []byte) []byte {
	s := a.call.Spec
	switch {
	case s.Shape == declare.ShapeNone:
		return []byte("{}")
	case s.Lost.Rule == declare.List: // {"comment": …}, which the client gives its documented form
		body, _ := json.Marshal(map[string]json.RawMessage{strings.TrimSuffix(s.Manager, "s"): record}) // it was JSON
		return body
	case s.ResultKey != "":
		body, _ := json.Marshal(map[string]json.RawMessage{s.ResultKey: record}) // it was JSON
		return body
	}
	return record
}
