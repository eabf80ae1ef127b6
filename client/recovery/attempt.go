package recovery

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/tidwall/gjson"

	"transect/client/declare"
	"transect/client/fault"
	"transect/client/ledger"
)

// attempt is one call under the ledger.
type attempt struct {
	*Recovery
	spec   *declare.Spec
	call   *declare.Call
	next   declare.Handler
	row    *ledger.Row
	id     ledger.Fingerprint
	ledger *ledger.Ledger
	sum    string // MD5 of the uploaded file

	label string // of run.scope

	sent    bool     // a request was sent
	perhaps bool     // a request whose answer was lost may have been carried out
	madeIDs []string // by the call
	have    [][]byte // the elements of a list that need not be sent again
	answers [][]byte
}

// Intercept answers a write from the ledger, or notes it and passes it on.
func (r *Recovery) Intercept(ctx context.Context, call *declare.Call, next declare.Handler) (declare.Value, error) {
	s := call.Spec
	if s.Effect == declare.Read && !downloads(call) || s.Unknown.Rule == declare.NoRequest ||
		ctx.Value(outsideKey{}) != nil {
		return next(ctx, call)
	}
	l, err := r.Ledger()
	if err != nil {
		return declare.Value{}, err
	}
	if s.Effect == declare.Read {
		if r.Would != nil {
			return next(ctx, call)
		}
		return r.download(ctx, call, next, l)
	}
	above, _ := ctx.Value(parentKey{}).(*parent)
	a := &attempt{Recovery: r, spec: s, call: call, next: next, ledger: l}
	a.label, _ = ctx.Value(labelKey{}).(string)
	var outer uint32
	if above != nil {
		outer = above.row.Seq
		a.id, err = a.ofStep(above)
	} else {
		a.id, err = a.fingerprint(ctx)
	}
	if err != nil {
		return declare.Value{}, err
	}
	w := ledger.Write{Op: s.FullName(), Print: a.id, Parent: outer, Task: declare.Task(ctx), Since: r.Platform(),
		Fresh: ctx.Value(againKey{}) != nil}
	if r.Would != nil {
		return a.rehearse(ctx, w)
	}
	if a.row, err = l.Take(w); err != nil {
		return declare.Value{}, err
	}
	switch {
	case a.row.New:
		return a.send(ctx)
	case a.row.Result != nil:
		r.Stats.Taken.Add(1)
		if r.Taken != nil {
			r.Taken(s.FullName())
		}
		if a.row.Resent && a.row.State == ledger.Done && s.Unknown.Searches() {
			a.madeIDs = a.row.Result.IDs
			r.Stats.remember(a)
		}
		return a.replay(ctx)
	}
	return a.recover(ctx)
}

// replay returns the noted result.
func (a *attempt) replay(ctx context.Context) (declare.Value, error) {
	answers := a.row.Result.Answers
	if a.spec.Composed {
		if v, ok := noted(a.call.Spec, answers); ok {
			return v, nil
		}
		return a.next(a.within(ctx), a.call) // its steps are noted
	}
	if len(answers) == 0 {
		return a.describe(ctx, a.row.Result.IDs)
	}
	return a.answer(ctx, answers)
}

// answer passes the call on with its answers.
func (a *attempt) answer(ctx context.Context, answers [][]byte) (declare.Value, error) {
	call := *a.call
	call.Answered = true
	call.Exchange = func(context.Context, declare.Request, declare.Sender) ([]byte, error) {
		if len(answers) == 0 {
			return nil, fault.Of(&fault.RuntimeError{}, "the ledger holds fewer answers than the call sends requests")
		}
		first := answers[0]
		answers = answers[1:]
		return first, nil
	}
	return a.next(ctx, &call)
}

// noted returns the noted result of a composed operation.
func noted(s *declare.Spec, answers [][]byte) (declare.Value, bool) {
	switch {
	case s.Shape == declare.ShapeNone:
		return declare.Value{Shape: declare.ShapeNone, Go: declare.None{}}, true
	case s.Shape == declare.ShapeResource && len(answers) == 1:
		return declare.Value{Shape: s.Shape, JSON: answers[0]}, true
	case s.Shape == declare.ShapeResources && len(answers) > 0:
		return declare.Value{Shape: s.Shape, Items: answers}, true
	}
	return declare.Value{}, false
}

// within returns the context for the steps of a composed call.
func (a *attempt) within(ctx context.Context) context.Context {
	p := &parent{row: a.row, print: a.id, ledger: a.ledger, steps: map[string]int{}}
	return declare.WithMemory(context.WithValue(ctx, parentKey{}, p), p.remember)
}

// send passes the call on and records its outcome.
func (a *attempt) send(ctx context.Context) (declare.Value, error) {
	call := *a.call
	call.Resent = !a.row.New
	if !call.Spec.Composed {
		call.Exchange = a.exchange
	} else {
		ctx = a.within(ctx)
	}
	v, err := a.next(ctx, &call)
	if err != nil && a.perhaps && !call.Spec.Composed {
		if v, settled, err := a.doneBefore(ctx, err); settled {
			if err != nil {
				a.row.Leave()
			}
			return v, err
		}
	}
	return v, a.resolve(v, err)
}

// exchange sends one request of the call.
func (a *attempt) exchange(ctx context.Context, req declare.Request, send declare.Sender) ([]byte, error) {
	if a.Sync && !a.sent && a.spec.Effect == declare.Create {
		if err := a.ledger.Sync(); err != nil {
			return nil, err
		}
	}
	req.Key = fmt.Sprintf("%s/%d", a.ledger.Ident(), a.row.Seq)
	if len(a.answers) > 0 {
		req.Key += fmt.Sprintf("/%d", len(a.answers)) // a further request of the same call
	}
	req.GiveUp = func(err error, _ int) bool {
		a.perhaps = a.perhaps || !a.surelyRefused(err)
		return false
	}
	complete := func(answer []byte) ([]byte, error) { return answer, nil }
	if a.have != nil {
		complete = a.without(req.Body)
	}
	a.sent = true
	body, err := send(ctx, req)
	if err == nil && !a.row.New && a.ofAnother(body) {
		req.Key += "/again" // the platform knows the key from the lost request
		body, err = send(ctx, req)
	}
	if err == nil {
		body, err = complete(body)
	}
	if err == nil {
		a.answers = append(a.answers, body)
	}
	return body, err
}

// ofAnother reports whether a creation was answered with a resource that belongs to another write of the run:
// an equal one has adopted it.
func (a *attempt) ofAnother(body []byte) bool {
	s := a.spec
	if s.Unknown.Rule != declare.BySearch && s.Unknown.Rule != declare.ByList || s.MadeID == "" {
		return false
	}
	ids := gjson.GetManyBytes(body, s.MadeID, gjson.Escape(s.ResultKey)+"._id", declare.Singular(s.Manager)+"._id",
		"0._id")
	return slices.ContainsFunc(ids, func(id gjson.Result) bool {
		owned, _ := a.ledger.Owns(id.Str) // an unreadable ledger is reported with the next record
		return id.Type == gjson.String && owned
	})
}

// resolve records the outcome of a call.
func (a *attempt) resolve(v declare.Value, err error) error {
	composed := a.spec.Composed
	switch {
	case err == nil:
		answers := a.answers
		if composed {
			answers = v.Records() // its steps were sent, if any
		} else {
			a.Stats.Sent.Add(1)
		}
		if err := a.noteSecrets(v); err != nil {
			return err
		}
		a.madeIDs = resultIDs(a.spec, v)
		ids := a.madeIDs
		if len(ids) == 0 {
			ids = targets(a.call)
		}
		return a.row.Resolve(ledger.Done, ids, a.keepable(answers))
	case composed:
		return errors.Join(err, a.closeBySteps())
	case a.unsent() || a.surelyRefused(err):
		a.Stats.Refused.Add(1)
		return errors.Join(err, a.row.Resolve(ledger.Refused, nil, nil))
	default:
		a.row.Leave()
		return fault.Doubtful(err, fmt.Sprintf("it was sent and may have been done: the same call again, "+
			"or the next start of the run, finds out; transect runs show %s lists it as open", a.ledger.Run()))
	}
}

// closeBySteps records the outcome of a composed call that failed: it is known unless the outcome of one of
// its steps is unknown.
func (a *attempt) closeBySteps() error {
	steps, err := a.ledger.Steps(a.row.Seq)
	switch {
	case err != nil || slices.Contains(steps, ledger.Open):
		a.row.Leave()
		return err
	case slices.ContainsFunc(steps, func(s ledger.State) bool { return s != ledger.Refused }):
		return a.row.Resolve(ledger.Partial, nil, nil)
	}
	return a.row.Resolve(ledger.Refused, nil, nil)
}

// unsent reports whether no request of the call reached the platform, such as when it was stopped while
// waiting for the network.
func (a *attempt) unsent() bool {
	return !a.perhaps && len(a.answers) == 0 && (a.sent || !a.spec.Transfers())
}

// surelyRefused reports whether an error means that the request was not carried out. For a request repeated
// when its connection breaks, that is unknown.
func (a *attempt) surelyRefused(err error) bool {
	if response, ok := errors.AsType[*fault.ResponseError](err); ok {
		return response.Unprocessed || response.Status >= 400 && response.Status < 500 ||
			response.Status == http.StatusInsufficientStorage
	}
	f := fault.Find(err)
	_, lost := f.(*fault.ConnectionError)
	return lost && !f.Facts().Uncertain && !a.spec.Effect.Repeatable()
}
