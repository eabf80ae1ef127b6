package recovery

import (
	"context"
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
	"transect/client/schema"
)

// unlessSo reads the target of the call and sends it only when it is not yet as
// the call would make it.
func (a *attempt) unlessSo(ctx context.Context) (declare.Value, error) {
	s := a.call.Spec
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
		a.Tally.Adopted.Add(1)
		return declare.Value{Shape: s.Shape, Go: declare.None{}}, a.row.Resolve(ledger.Adopted, []string{subject}, nil)
	}
	return a.adopted(ctx, []string{subject}, a.compose(record))
}

// subject reads what the call is about; nil when it is not there, or nothing
// reads it.
func (a *attempt) subject(ctx context.Context) (record []byte, id string, err error) {
	s := a.call.Spec
	describe := s.Sibling("describe")
	if describe == nil {
		describe = s.Sibling("search")
	}
	id = a.call.Args.Text(s.Params[0].Name)
	if describe == nil || id == "" {
		return nil, id, nil
	}
	record, err = a.read(ctx, describe, id)
	return record, id, err
}

func (a *attempt) read(ctx context.Context, how *declare.Spec, id string) ([]byte, error) {
	values := map[string]any{how.Params[0].Name: id}
	if how.Name == "search" {
		values = map[string]any{"filter": map[string]any{"_id": map[string]any{"$eq": id}}}
		for i := range how.Params { // comments are searched in their project
			if p := &how.Params[i]; p.Required() {
				values[p.Name] = a.call.Args.Values[p.Name]
			}
		}
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
	case s.Lost.Rule == declare.Safe:
		return a.holds(record)
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

// holds reports whether a record has all that a set says.
func (a *attempt) holds(record []byte) bool {
	req, err := a.call.Request()
	if err != nil {
		return false
	}
	delete(req.Body, a.call.Spec.Params[0].Key)
	for key := range req.Body {
		if there := gjson.GetBytes(record, gjson.Escape(key)); !there.Exists() || there.Type == gjson.Null {
			return false
		}
	}
	return len(req.Body) > 0 && agrees(req.Body, record, a.call.Spec)
}

// changedSince reports whether a record says that somebody else changed it since
// the write was sent, and who.
func (a *attempt) changedSince(ctx context.Context, record []byte) (changed bool, by string) {
	at := schema.Date(gjson.GetBytes(record, "modification_date").String()).Time()
	by = gjson.GetBytes(record, "modification_user").String()
	if by == "" || !at.After(a.row.Since.Add(-clockSlack)) {
		return false, by
	}
	me, err := a.user(ctx)
	return err == nil && me != "" && me != by, by
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

// overwrites is the error for a set whose target somebody else changed since it
// was sent.
func (a *attempt) overwrites(subject, by string) error {
	err := a.unknown(nil)
	f := fault.Find(err).Facts()
	f.Message = fmt.Sprintf("it was sent at %s and its answer was lost; since then user %s has changed %s: sending it again would overwrite that",
		a.row.Since.Local().Format(time.DateTime), by, subject)
	f.Hint = fmt.Sprintf("decide: transect runs settle %s %d --adopt %s leaves it as it is, --send sends it again", a.ledg.Run(), a.row.Seq, subject)
	return err
}
