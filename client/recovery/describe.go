package recovery

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/tidwall/gjson"

	"transect/client/declare"
	"transect/client/fault"
	"transect/client/ledger"
)

// describe reads again what a write made: its answer was too large to store, or a secret.
func (a *attempt) describe(ctx context.Context, ids []string) (declare.Value, error) {
	s := a.spec
	if s.Shape == declare.ShapeNone || len(ids) == 0 {
		return declare.Value{Shape: s.Shape}, nil
	}
	var items [][]byte
	for _, id := range ids {
		record, known, err := s.Siblings().Read(ctx, id, a.call.Args.Values)
		if err != nil {
			return declare.Value{}, err
		}
		if !known {
			return declare.Value{Shape: s.Shape}, nil
		}
		switch {
		case record != nil:
		case s.Secret():
			record = fmt.Appendf(nil, `{"_id":%q,%q:%q}`, id, s.Siblings().Secret, goneToken+id)
		case a.deleted()[id]:
			record = fmt.Appendf(nil, `{"_id":%q}`, id)
		default:
			f := fault.Of(&fault.RuntimeError{},
				"%s, which this run created, no longer exists, and its answer is not in the ledger", id)
			return declare.Value{}, fault.Hinted(f, "start another run, or forget this one: transect runs forget %s",
				a.ledger.Run())
		}
		items = append(items, record)
	}
	if s.Secret() && !gjson.GetBytes(items[0], s.Siblings().Secret).Exists() {
		a.Log.Warn(s.FullName()+": the ledger does not keep the secret; only the start that created it received it", "id",
			ids[0])
	}
	_, several := a.call.Args.Values[s.Params[0].Name].([]string)
	if s.Shape == declare.ShapeResources || s.Shape == declare.ShapeSome && several {
		return declare.Value{Shape: declare.ShapeResources, Items: items}, nil
	}
	return declare.Value{Shape: declare.ShapeResource, JSON: items[0]}, nil
}

// findDeleted returns the identifiers of everything the run has deleted, in this start and before.
func (r *Recovery) findDeleted() map[string]bool {
	all := map[string]bool{}
	l, err := r.Ledger()
	if err != nil {
		return nil // an unreadable ledger is reported elsewhere
	}
	_ = l.All(func(i ledger.Intent, result *ledger.Result) error {
		manager, name, _ := strings.Cut(i.Op, ".")
		if s := r.Manager(manager).Op(name); s != nil && s.Effect == declare.Delete && result != nil &&
			result.State != ledger.Refused {
			for _, id := range result.IDs {
				all[id] = true
			}
		}
		return nil
	})
	return all
}

// Readable returns a function that reports whether the answer to a call of an operation can be read from the platform
// again, by what the ledger holds.
func Readable(managers func() []*declare.Manager) func(op string, r *ledger.Result) bool {
	specs := sync.OnceValue(func() map[string]*declare.Spec {
		all := map[string]*declare.Spec{}
		for _, m := range managers() {
			for _, s := range m.Ops() {
				all[s.FullName()] = s
			}
		}
		return all
	})
	return func(op string, r *ledger.Result) bool {
		s := specs()[op]
		switch {
		case s == nil, s.Composed, s.Siblings().Volatile:
			return false
		case s.Shape == declare.ShapeNone:
			return true
		case len(r.IDs) == 0 || len(r.Answers) != 1 || s.Siblings().Describe() == nil:
			return false
		}
		list := gjson.ParseBytes(r.Answers[0])
		if s.ResultKey != "" {
			list = list.Get(gjson.Escape(s.ResultKey))
		}
		records := list.Array() // a single record is a list of one
		return len(records) == len(r.IDs) && records[0].Get("_id").Str == r.IDs[0]
	}
}
