package client

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"transect/client/declare"
	"transect/client/fault"
	"transect/client/recovery"
)

// Twins are resources of one name that were created at the same moment: several runs looked
// for it, found nothing and created it, as the platform takes any name twice. All go on with
// the oldest, and each deletes the younger one of its own, in which there is nothing yet.
const (
	mostTwins = 50
	together  = 10 * time.Second // apart at most
	looks     = 5                // for twins to be deleted
	lookAgain = time.Second / 2
)

// Settled finds resources of a name, and looks again while there are twins among them.
// record is the JSON of one.
func Settled[T any](ctx context.Context, c *Client, find func() ([]T, error), record func(T) []byte) ([]T, error) {
	for look := 1; ; look++ {
		found, err := find()
		if err != nil || look == looks || !twins(found, record) {
			return found, err
		}
		if err := c.sleep(ctx, lookAgain); err != nil {
			return nil, err
		}
	}
}

func twins[T any](found []T, record func(T) []byte) bool {
	if len(found) < 2 {
		return false
	}
	var dates []time.Time
	for _, r := range found {
		if date := created(record(r)); !date.IsZero() {
			dates = append(dates, date)
		}
	}
	slices.SortFunc(dates, time.Time.Compare)
	for i := 1; i < len(dates); i++ {
		if dates[i].Sub(dates[i-1]) < together {
			return true
		}
	}
	return false
}

// created is when the platform created a record; zero when it does not say.
func created(record []byte) time.Time {
	text := cmp.Or(gjson.GetBytes(record, "creation_date").Str, gjson.GetBytes(record, "created").Str)
	date, _ := time.Parse(time.RFC3339, text)
	return date
}

// settle is what a run goes on with that made a resource of a name.
func (n byName[T]) settle(ctx context.Context, c *Client, made T) (Found[T], error) {
	oldest := made
	id, err := recovery.Remember(ctx, "oldest", func() (string, error) {
		all, err := n.find()
		if err != nil {
			return "", err
		}
		same := func(r T) bool { return r.ResourceID() == made.ResourceID() }
		if !slices.ContainsFunc(all, same) {
			all = append(all, made)
		}
		oldest = slices.MinFunc(all, func(a, b T) int {
			return cmp.Or(created(a.JSON()).Compare(created(b.JSON())), strings.Compare(a.ResourceID(), b.ResourceID()))
		})
		if same(oldest) {
			return made.ResourceID(), nil
		}
		switch err := n.remove(ID(made.ResourceID())); {
		case err == nil, fault.Status(err) == http.StatusNotFound:
			c.log.Info("another run created the "+declare.Singular(n.manager)+" at the same moment; this one goes on with it",
				"name", n.name, "id", oldest.ResourceID(), "deleted", made.ResourceID())
		case forbidden(err):
			c.log.Warn("another run created a "+declare.Singular(n.manager)+" of this name at the same moment, and this "+
				"run may not delete its own: rename or delete one of them",
				"name", n.name, "this", made.ResourceID(), "other", oldest.ResourceID(), "error", err)
			oldest = made
		default:
			return "", err
		}
		return oldest.ResourceID(), nil
	})
	if err != nil || id == made.ResourceID() {
		return Found[T]{made, true}, err
	}
	if id != oldest.ResourceID() { // an earlier start has settled it
		found, err := n.describe(ctx, Refs{IDs: IDs{id}})
		return first(found), err
	}
	return Found[T]{Resource: oldest}, nil
}

// forbidden reports whether a script or its user may not do something.
func forbidden(err error) bool {
	var sandbox *fault.PermissionError
	return errors.As(err, &sandbox) || fault.Status(err) != 0 && !fault.Transient(err)
}
