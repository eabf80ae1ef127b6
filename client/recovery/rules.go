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

// longAgo is the age from which another user may have set another value: the target of a set is then read
// before it is sent again.
const longAgo = time.Hour

// recover handles a call whose row is open: it may have been done by a process that died, or by an earlier
// call whose answer was lost.
func (a *attempt) recover(ctx context.Context) (declare.Value, error) {
	if a.spec.Composed {
		return a.again(ctx) // its steps find out
	}
	switch a.spec.Unknown.Rule {
	case declare.Repeat:
		if a.Platform().Sub(a.row.Since) > longAgo {
			return a.unlessSo(ctx)
		}
		return a.again(ctx)
	case declare.BySteps, declare.Gone:
		return a.again(ctx)
	case declare.Probe:
		return a.unlessSo(ctx)
	case declare.Ask:
		if !a.spec.Unknown.Searches() {
			a.row.Leave()
			return declare.Value{}, a.unknown(nil)
		}
	}
	return a.search(ctx)
}

// again sends the call again.
func (a *attempt) again(ctx context.Context) (declare.Value, error) {
	if err := a.row.Again(a.Platform()); err != nil {
		return declare.Value{}, err
	}
	a.perhaps = true
	if a.row.State != ledger.Partial {
		a.Stats.Again.Add(1)
	}
	v, err := a.send(ctx)
	if err == nil && a.spec.Unknown.Searches() {
		a.Stats.remember(a)
	}
	return v, err
}

// doneBefore settles a call that is refused because an earlier request of it, whose answer was lost, was
// carried out.
func (a *attempt) doneBefore(ctx context.Context, refused error) (v declare.Value, settled bool, err error) {
	switch status, rule := fault.Status(refused), a.spec.Unknown.Rule; {
	case rule == declare.Gone && status == http.StatusNotFound:
		v, err = a.deleteRest(ctx)
		return v, true, err
	case rule == declare.Probe && status == http.StatusConflict:
		if record, subject, err := a.subject(ctx); err == nil && record != nil && a.isSo(record) {
			v, err = a.adopted(ctx, []string{subject}, a.compose(record))
			return v, true, err
		}
	case rule == declare.ByKey && status == http.StatusConflict:
		found, searched := a.find(ctx)
		if searched != nil || !found.whole() || len(found.more) > 0 {
			return v, false, nil
		}
		answer, err := a.answerOf(ctx, found.of)
		if err == nil {
			v, err = a.adopted(ctx, idsOf(found.of), answer)
		}
		return v, true, err
	}
	return v, false, nil
}

// deleteRest deletes those of several resources that still exist.
func (a *attempt) deleteRest(ctx context.Context) (declare.Value, error) {
	many, name := list(a.call)
	if len(many) < 2 {
		return a.gone(ctx, targets(a.call))
	}
	there, err := a.remaining(ctx, many)
	if err != nil {
		return declare.Value{}, err
	}
	for _, id := range there {
		one := a.call.Args
		one.Values = maps.Clone(one.Values)
		one.Values[name] = id
		_, err := a.spec.Invoke(Outside(ctx), one)
		if response, ok := errors.AsType[*fault.ResponseError](err); err != nil &&
			(!ok || response.Status != http.StatusNotFound) {
			return declare.Value{}, err
		}
	}
	return a.gone(ctx, many)
}

// gone records that the targets of a deletion no longer exist.
func (a *attempt) gone(ctx context.Context, ids []string) (declare.Value, error) {
	if err := a.row.Resolve(ledger.Done, ids, [][]byte{[]byte("{}")}); err != nil {
		return declare.Value{}, err
	}
	return a.answer(ctx, [][]byte{[]byte("{}")})
}

// remaining returns which of several resources still exist, as far as a search can tell.
func (a *attempt) remaining(ctx context.Context, ids []string) (there []string, err error) {
	walk := a.spec.Siblings().Walk()
	if walk == nil {
		return ids, nil
	}
	for some := range slices.Chunk(ids, 100) {
		err := walk.Each(ctx, map[string]any{"filter": declare.ByID(some...)}, func(record []byte) bool {
			there = append(there, gjson.GetBytes(record, "_id").String())
			return true
		})
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

// unknown returns the error for a write whose outcome cannot be determined.
func (a *attempt) unknown(candidates []string) error {
	a.Stats.Unknown.Add(1)
	f := fault.Of(&fault.UnknownOutcomeError{},
		"the outcome is unknown: it was sent at %s, and the answer was lost",
		a.row.Since.Local().Format(time.DateTime))
	f.Row = int(a.row.Seq)
	f.Candidates = candidates
	if len(candidates) > 0 {
		f.Message += fmt.Sprintf("; %d may be the result: %s", len(candidates), strings.Join(candidates, ", "))
	}
	run, n := a.ledger.Run(), a.row.Seq
	f.Hint = fmt.Sprintf("check, then decide: transect runs settle %s %d --adopt ID | --send", run, n)
	return fault.In(a.spec.FullName(), f)
}

// compose converts a found record to the answer that the call would have had.
func (a *attempt) compose(record []byte) []byte {
	s := a.spec
	switch {
	case s.Shape == declare.ShapeNone:
		return []byte("{}")
	case s.Unknown.Rule == declare.ByList: // {"comment": …}, which the client converts to its documented form
		body, _ := json.Marshal(map[string]json.RawMessage{declare.Singular(s.Manager): record}) // cannot fail: it was JSON
		return body
	case s.ResultKey != "":
		body, _ := json.Marshal(map[string]json.RawMessage{s.ResultKey: record}) // cannot fail: it was JSON
		return body
	}
	return record
}
