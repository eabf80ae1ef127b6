package recovery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	switch a.call.Spec.Lost.Rule {
	case declare.Steps, declare.Safe:
		return a.again(ctx)
	case declare.Gone:
		return a.deleteAgain(ctx)
	case declare.Look, declare.Status:
		return a.unlessSo(ctx)
	case declare.Ask:
		a.row.Leave()
		return declare.Value{}, a.unknown(nil)
	}
	if a.call.Spec.Composed {
		return a.again(ctx) // its steps are looked for
	}
	return a.search(ctx)
}

// again sends the call once more.
func (a *attempt) again(ctx context.Context) (declare.Value, error) {
	if err := a.row.Again(a.Platform()); err != nil {
		return declare.Value{}, err
	}
	a.Tally.Again.Add(1)
	return a.send(ctx)
}

// deleteAgain deletes what is still there.
func (a *attempt) deleteAgain(ctx context.Context) (declare.Value, error) {
	v, err := a.again(ctx)
	response, ok := errors.AsType[*fault.ResponseError](err)
	if !ok || response.Status != http.StatusNotFound {
		return v, err
	}
	s := a.call.Spec
	many, name := list(a.call)
	if len(many) < 2 {
		return declare.Value{Shape: declare.ShapeNone}, a.row.Resolve(ledger.Done, nil, [][]byte{[]byte("{}")})
	}
	for _, id := range many { // which of them is gone is not always said
		one := *a.call
		one.Args.Values = map[string]any{}
		for k, v := range a.call.Args.Values {
			one.Args.Values[k] = v
		}
		one.Args.Values[name] = id
		_, err := s.Invoke(Outside(ctx), one.Args)
		if response, ok := errors.AsType[*fault.ResponseError](err); err != nil && (!ok || response.Status != http.StatusNotFound) {
			return declare.Value{}, err
		}
	}
	return declare.Value{Shape: declare.ShapeNone}, a.row.Resolve(ledger.Done, many, [][]byte{[]byte("{}")})
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
	a.Tally.Adopted.Add(1)
	answer := a.compose(record)
	if err := a.row.Resolve(ledger.Adopted, []string{subject}, [][]byte{answer}); err != nil {
		return declare.Value{}, err
	}
	return a.answer(ctx, [][]byte{answer})
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
	case s.Lost.Rule == declare.Status:
		return gjson.GetBytes(record, "status").String() != "pending" && a.newer(gjson.GetBytes(record, "product").String())
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
	case s.ResultKey != "":
		body, _ := json.Marshal(map[string]json.RawMessage{s.ResultKey: record}) // it was JSON
		return body
	}
	return record
}
