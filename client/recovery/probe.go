package recovery

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"transect/client/declare"
	"transect/client/fault"
	"transect/client/ledger"
	"transect/client/schema"
)

// unlessSo reads the target of the call and sends the call only if the target is not yet as requested.
func (a *attempt) unlessSo(ctx context.Context) (declare.Value, error) {
	s := a.spec
	record, subject, err := a.subject(ctx)
	if err != nil {
		a.row.Leave()
		return declare.Value{}, err
	}
	if record == nil || !a.isSo(record) {
		if changed, by := a.changedSince(ctx, record); changed {
			a.row.Leave()
			return declare.Value{}, a.overwrites(subject, by)
		}
		return a.again(ctx)
	}
	if s.Transfers() {
		a.Stats.Adopted.Add(1)
		return declare.Value{Shape: s.Shape, Go: declare.None{}}, a.row.Resolve(ledger.Adopted, []string{subject}, nil)
	}
	return a.adopted(ctx, []string{subject}, a.compose(record))
}

// subject reads the target of the call; nil when it does not exist, or cannot be read.
func (a *attempt) subject(ctx context.Context) (record []byte, id string, err error) {
	s := a.spec
	if id = a.call.Args.Text(s.Params[0].Name); id == "" {
		return nil, id, nil
	}
	record, _, err = s.Siblings().Read(ctx, id, a.call.Args.Values)
	return record, id, err
}

// isSo reports whether a record is as the call would make it.
func (a *attempt) isSo(record []byte) bool {
	switch {
	case a.spec.Transfers():
		return a.uploaded(record)
	case a.spec.Unknown.Rule == declare.Repeat:
		return a.holds(record)
	}
	for _, c := range a.spec.Unknown.Conditions {
		if !a.meets(c, record) {
			return false
		}
	}
	return len(a.spec.Unknown.Conditions) > 0
}

// meets reports whether a record meets a condition of the declaration.
func (a *attempt) meets(c declare.Condition, record []byte) bool {
	there := gjson.GetBytes(record, c.Key)
	prefix, open := strings.CutSuffix(c.Value, "*")
	switch {
	case c.Value == "none":
		return !there.Exists() || there.Type == gjson.Null
	case c.Value == "new":
		return a.newer(there.String())
	case open:
		return strings.HasPrefix(there.String(), prefix)
	case c.Value != "":
		return there.String() == c.Value
	}
	if there.IsObject() {
		there = there.Get("name") // for a status
	}
	wanted := a.call.Args.Values[c.Key]
	list, ok := wanted.([]string)
	if !ok {
		return fmt.Sprint(wanted) == there.String()
	}
	for _, one := range list {
		if !slices.ContainsFunc(there.Array(), func(r gjson.Result) bool { return r.String() == one }) {
			return false
		}
	}
	return true
}

// holds reports whether a record has all the values of a set.
func (a *attempt) holds(record []byte) bool {
	req, err := a.call.Request()
	if err != nil {
		return false
	}
	delete(req.Body, a.spec.Params[0].Key)
	for key := range req.Body {
		if there := gjson.GetBytes(record, gjson.Escape(key)); !there.Exists() || there.Type == gjson.Null {
			return false
		}
	}
	return len(req.Body) > 0 && agrees(req.Body, record, a.spec)
}

// changedSince reports whether another user changed a record since the write was sent, and who.
func (a *attempt) changedSince(ctx context.Context, record []byte) (changed bool, by string) {
	at := schema.Date(gjson.GetBytes(record, "modification_date").String()).Time()
	by = gjson.GetBytes(record, "modification_user").String()
	if by == "" || !at.After(a.row.Since.Add(-clockSlack)) {
		return false, by
	}
	me, err := a.user(ctx)
	return err == nil && me != "" && me != by, by
}

// uploaded reports whether a dataset has the file of an upload.
func (a *attempt) uploaded(record []byte) bool {
	for _, component := range gjson.GetBytes(record, "components").Array() {
		if component.Get("name").String() == a.call.Args.Text("component") {
			return component.Get("status").String() == "completed" && component.Get("checksum").String() == a.sum
		}
	}
	return false
}

// newer reports whether a resource was made since the write was sent.
func (a *attempt) newer(id string) bool {
	created, ok := madeAt(id)
	return ok && !created.Before(a.row.Since.Add(-clockSlack))
}

// overwrites returns the error for a set whose target another user changed since it was sent.
func (a *attempt) overwrites(subject, by string) error {
	err := a.unknown(nil)
	f := fault.Find(err).Facts()
	f.Message = fmt.Sprintf("it was sent at %s and its answer was lost; user %s has changed %s since, and sending it "+
		"again would overwrite that",
		a.row.Since.Local().Format(time.DateTime), by, subject)
	f.Hint = fmt.Sprintf("decide: transect runs settle %s %d --adopt %s leaves it as it is, --send sends it again",
		a.ledger.Run(), a.row.Seq, subject)
	return err
}
