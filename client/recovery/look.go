package recovery

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"transect/client/declare"
	"transect/client/fault"
	"transect/client/ledger"
)

// clockSlack is how much older than the intent a thing may look that it made: ids
// and dates have whole seconds.
const clockSlack = 2 * time.Second

// leastPause is between two looks: the platform's clock is known in whole seconds.
const leastPause = time.Second / 2

// search looks for what the call may have made, until a request of it can no
// longer arrive; then what was not found is sent once more.
func (a *attempt) search(ctx context.Context) (declare.Value, error) {
	settle := a.Settle
	if a.call.Spec.FullName() == "analytics.order" {
		settle *= 2 // a double would run for nothing
	}
	until := a.row.Since.Add(settle)
	if most := a.Platform().Add(settle); until.After(most) {
		until = most // the clock was set back
	}
	if taken := a.TakenOver; !taken.IsZero() {
		if later := a.Platform().Add(settle - time.Since(taken)); later.After(until) {
			until = later
		}
	}
	pause := time.Second
	for {
		found, answer, err := a.look(ctx)
		if err != nil {
			a.row.Leave()
			return declare.Value{}, err
		}
		if answer != nil {
			return a.answer(ctx, [][]byte{answer})
		}
		left := until.Sub(a.Platform())
		if left <= 0 {
			if found.any() {
				a.have = found.of
			}
			return a.again(ctx)
		}
		a.Log.Info(a.call.Spec.FullName()+": it may still arrive", "sent", a.row.Since.Local().Format(time.TimeOnly), "wait", left.Round(time.Second))
		if err := a.Sleep(ctx, min(pause, max(left, leastPause))); err != nil {
			a.row.Leave()
			return declare.Value{}, err
		}
		pause *= 2
	}
}

// finding is what a look has found.
type finding struct {
	of   [][]byte // for each element of the call, nil of what is missing
	more [][]byte // what could be it as well
}

func (f finding) whole() bool {
	return !slices.ContainsFunc(f.of, func(record []byte) bool { return record == nil })
}

func (f finding) any() bool {
	return slices.ContainsFunc(f.of, func(record []byte) bool { return record != nil })
}

// look looks once, and notes what it has found for the result; answer is that of
// the call, nil while something is missing. Calls that say the same look one after
// another, others side by side; what another one has taken meanwhile is looked past.
func (a *attempt) look(ctx context.Context) (found finding, answer []byte, err error) {
	lock, _ := a.looking.LoadOrStore(a.id, new(sync.Mutex))
	lock.(*sync.Mutex).Lock()
	defer lock.(*sync.Mutex).Unlock()
	for {
		found, err = a.find(ctx)
		switch {
		case err != nil || !found.whole():
			return found, nil, err
		case a.call.Spec.Lost.Rule == declare.Ask || 1+len(found.more) > max(1, a.ledg.OpenOf(a.id)):
			return found, nil, a.unknown(idsOf(append(found.of, found.more...)))
		}
		if answer, err = a.answerOf(ctx, found.of); err != nil {
			return found, nil, err
		}
		adopted, err := a.row.Adopt(idsOf(found.of), a.keepable([][]byte{answer}))
		if err != nil {
			return found, nil, err
		}
		if adopted {
			a.Tally.Adopted.Add(1)
			return found, answer, nil
		}
	}
}

// adopted notes what was found, and answers the call with it.
func (a *attempt) adopted(ctx context.Context, ids []string, answer []byte) (declare.Value, error) {
	a.Tally.Adopted.Add(1)
	if err := a.row.Resolve(ledger.Adopted, ids, a.keepable([][]byte{answer})); err != nil {
		return declare.Value{}, err
	}
	return a.answer(ctx, [][]byte{answer})
}

func idsOf(found [][]byte) (list []string) {
	for _, record := range found {
		list = append(list, gjson.GetBytes(record, "_id").String())
	}
	return list
}

// elements is the list of what a call makes, and its key, when it makes several.
func (a *attempt) elements(body map[string]any) (string, []any) {
	for _, key := range []string{"datasets", "annotations", "features", "collections"} {
		if list, ok := body[key].([]any); ok && a.call.Spec.Shape == declare.ShapeResources {
			return key, list
		}
	}
	return "", nil
}

// without leaves out of a request what was found, and returns how to put it back
// into the answer.
func (a *attempt) without(body map[string]any) (complete func(answer []byte) ([]byte, error)) {
	key, list := a.elements(body)
	var missing []any
	for n, one := range list {
		if a.have[n] == nil {
			missing = append(missing, one)
		}
	}
	body[key] = missing
	return func(answer []byte) ([]byte, error) {
		made, err := declare.SplitArray(answer)
		if err != nil || len(made) != len(missing) {
			return nil, cmp.Or(err, error(fault.Of(&fault.QueryError{}, "the platform made %d of %d", len(made), len(missing))))
		}
		all := slices.Clone(a.have)
		for n := range all {
			if all[n] == nil {
				all[n], made = made[0], made[1:]
			}
		}
		return []byte("[" + string(bytes.Join(all, []byte(","))) + "]"), nil
	}
}

// wanted are the bodies of what the call makes: one, or the elements of a list.
func (a *attempt) wanted() []map[string]any {
	if a.call.Spec.Lost.Rule == declare.List { // its records have the form of the arguments
		said := map[string]any{}
		for name, v := range a.call.Args.Values {
			if v != nil {
				said[name] = v
			}
		}
		return []map[string]any{said}
	}
	req, err := a.call.Request()
	if err != nil {
		return nil
	}
	if key, list := a.elements(req.Body); list != nil {
		var all []map[string]any
		for _, element := range list {
			fields, _ := element.(map[string]any)
			whole := map[string]any{}
			for k, v := range req.Body { // what is said of all of them
				if k != key {
					whole[k] = v
				}
			}
			for k, v := range fields {
				whole[k] = v
			}
			all = append(all, whole)
		}
		return all
	}
	return []map[string]any{req.Body}
}

// find searches for what the call may have made.
func (a *attempt) find(ctx context.Context) (found finding, err error) {
	wanted := a.wanted()
	candidates, err := a.candidates(ctx, wanted)
	if err != nil {
		return found, err
	}
	me, err := a.user(ctx)
	if err != nil {
		return found, err
	}
	marked := a.call.Spec.Lost.Rule == declare.Mark
	candidates = slices.DeleteFunc(candidates, func(record []byte) bool {
		owned, failed := a.ledg.Owns(gjson.GetBytes(record, "_id").String())
		err = cmp.Or(err, failed)
		return owned || byAnother(record, me)
	})
	if err != nil {
		return found, err
	}
	take := func(body map[string]any) []byte {
		for i := len(candidates) - 1; i >= 0; i-- { // newest first: the oldest is last
			record := candidates[i]
			if record != nil && agrees(body, record, a.call.Spec) {
				candidates[i] = nil
				return record
			}
		}
		return nil
	}
	for n, body := range wanted {
		if marked {
			body = map[string]any{"properties": map[string]any{"transect": map[string]any{"write": element(a.marker(), n, len(wanted))}}}
		}
		found.of = append(found.of, take(body))
	}
	if len(wanted) == 1 && !marked && found.any() {
		for record := take(wanted[0]); record != nil; record = take(wanted[0]) {
			found.more = append(found.more, record)
		}
	}
	return found, nil
}

// answerOf makes the answer of a call of what was found.
func (a *attempt) answerOf(ctx context.Context, found [][]byte) ([]byte, error) {
	s := a.call.Spec
	switch s.FullName() {
	case "missions.create_survey":
		flight, err := a.read(ctx, a.Operation("flights", "describe"), gjson.GetBytes(found[0], "flights.0").String())
		if err != nil {
			return nil, err
		}
		return fmt.Appendf(nil, `{"mission":%s,"flight":%s}`, found[0], cmp.Or(string(flight), "null")), nil
	case "missions.create_archive":
		return []byte(`{"request":"accepted"}`), nil
	case trialMission:
		trial := gjson.GetBytes(found[0], "trial").String()
		record, err := a.read(ctx, a.Operation("trials", "describe"), trial)
		return record, err
	}
	if s.Shape == declare.ShapeResources {
		return []byte("[" + string(bytes.Join(found, []byte(","))) + "]"), nil
	}
	return a.compose(found[0]), nil
}
