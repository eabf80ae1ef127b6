package recovery

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"transect/client/declare"
	"transect/client/fault"
	"transect/client/ledger"
)

// clockSlack is how much older than the intent its result may appear: ids and dates have whole seconds.
const clockSlack = 2 * time.Second

// leastPause is the shortest time between two searches: the platform's clock is known in whole seconds.
const leastPause = time.Second / 2

// search searches for what the call may have made until its request can no longer arrive, and then sends what
// was not found again.
func (a *attempt) search(ctx context.Context) (declare.Value, error) {
	until := a.row.Since.Add(a.Settle)
	if most := a.Platform().Add(a.Settle); until.After(most) {
		until = most // the clock was set back
	}
	if taken := a.TakenOver; !taken.IsZero() {
		if later := a.Platform().Add(a.Settle - time.Since(taken)); later.After(until) {
			until = later
		}
	}
	pause := time.Second
	for {
		found, answer, err := a.probeOnce(ctx)
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
		a.Log.Info(a.spec.FullName()+": its request may still arrive", "sent", a.row.Since.Local().Format(time.TimeOnly),
			"wait", left.Round(time.Second))
		if err := a.Sleep(ctx, min(pause, max(left, leastPause))); err != nil {
			a.row.Leave()
			return declare.Value{}, err
		}
		pause *= 2
	}
}

// finding is the result of a search.
type finding struct {
	of   [][]byte // for each element of the call, nil if missing
	more [][]byte // other possible matches
}

func (f finding) whole() bool {
	return !slices.ContainsFunc(f.of, func(record []byte) bool { return record == nil })
}

func (f finding) any() bool {
	return slices.ContainsFunc(f.of, func(record []byte) bool { return record != nil })
}

// probeOnce searches once, and records what it found as the result; answer is the call's, nil while something
// is missing. Identical calls search one at a time, different ones concurrently. A candidate that another
// call has adopted is skipped.
func (a *attempt) probeOnce(ctx context.Context) (found finding, answer []byte, err error) {
	lock, _ := a.searches.LoadOrStore(a.id, new(sync.Mutex))
	lock.(*sync.Mutex).Lock()
	defer lock.(*sync.Mutex).Unlock()
	for {
		found, err = a.find(ctx)
		switch {
		case err != nil || !found.whole():
			return found, nil, err
		case a.spec.Unknown.Rule == declare.Ask || 1+len(found.more) > max(1, a.ledger.OpenOf(a.id)):
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
			a.Stats.Adopted.Add(1)
			return found, answer, nil
		}
	}
}

// adopted records what was found, and answers the call with it.
func (a *attempt) adopted(ctx context.Context, ids []string, answer []byte) (declare.Value, error) {
	a.Stats.Adopted.Add(1)
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

// elements returns the list of what a call makes, and its key, if it makes several.
func (a *attempt) elements(body map[string]any) (string, []any) {
	if list, ok := body[a.spec.Manager].([]any); ok && a.spec.Shape == declare.ShapeResources {
		return a.spec.Manager, list
	}
	return "", nil
}

// without removes from a request what was found, and returns a function that puts it back into the answer.
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
		added, err := declare.SplitArray(answer)
		if err != nil || len(added) != len(missing) {
			return nil, cmp.Or(err, error(fault.Of(&fault.QueryError{}, "the platform made %d of %d", len(added), len(missing))))
		}
		all := slices.Clone(a.have)
		for n := range all {
			if all[n] == nil {
				all[n], added = added[0], added[1:]
			}
		}
		return []byte("[" + string(bytes.Join(all, []byte(","))) + "]"), nil
	}
}

// wanted returns the bodies of what the call makes: one, or the elements of a list.
func (a *attempt) wanted() []map[string]any {
	if a.spec.Unknown.Rule == declare.ByList { // its records have the form of the arguments
		values := map[string]any{}
		for name, v := range a.call.Args.Values {
			if v != nil {
				values[name] = v
			}
		}
		return []map[string]any{values}
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
			for k, v := range req.Body { // common to all of them
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
	candidates = slices.DeleteFunc(candidates, func(record []byte) bool {
		owned, failed := a.ledger.Owns(gjson.GetBytes(record, "_id").String())
		err = cmp.Or(err, failed)
		return owned || byAnother(record, me) || uploaded(record)
	})
	if err != nil {
		return found, err
	}
	take := func(body map[string]any) []byte {
		for i := len(candidates) - 1; i >= 0; i-- { // newest first: the oldest is last
			record := candidates[i]
			if record != nil && agrees(body, record, a.spec) {
				candidates[i] = nil
				return record
			}
		}
		return nil
	}
	for _, body := range wanted {
		found.of = append(found.of, take(body))
	}
	if len(wanted) == 1 && found.any() {
		for record := take(wanted[0]); record != nil; record = take(wanted[0]) {
			found.more = append(found.more, record)
		}
	}
	return found, nil
}

// answerOf builds the answer of a call from found records.
func (a *attempt) answerOf(ctx context.Context, found [][]byte) ([]byte, error) {
	if own, ok := a.call.In.(declare.Rebuilder); ok {
		return own.Rebuild(ctx, found[0], func(ctx context.Context, manager, id string) ([]byte, error) {
			record, _, err := a.Manager(manager).Read(ctx, id, nil)
			return record, err
		})
	}
	if a.spec.Shape == declare.ShapeResources {
		return []byte("[" + string(bytes.Join(found, []byte(","))) + "]"), nil
	}
	return a.compose(found[0]), nil
}
