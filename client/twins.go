package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
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
		if !same(oldest) {
			if gone, err := n.giveUp(ctx, c, made.ResourceID(), oldest.ResourceID()); err != nil {
				return "", err
			} else if !gone {
				oldest = made
			}
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

// giveUp deletes the younger one of twins, unless somebody has put something into it: a run
// that died in between may settle it much later. It reports whether it is gone.
func (n byName[T]) giveUp(ctx context.Context, c *Client, id, older string) (gone bool, err error) {
	thing := declare.Singular(n.manager)
	log := func(level slog.Level, text string) {
		c.log.Log(ctx, level, fmt.Sprintf("another run created a %s of this name at the same moment; %s", thing, text),
			"name", n.name, "older", older, "own", id)
	}
	for _, kind := range c.Manager(n.manager).Holds {
		within := map[string]any{"filter": map[string]any{thing: map[string]any{"$eq": id}}, "limit": 1}
		held, err := c.Manager(kind).Op("search").Invoke(ctx, declare.Args{Values: within})
		if err != nil {
			return false, err
		}
		if len(held.Items) > 0 {
			log(slog.LevelWarn, "this run's own is no longer empty and stays: rename one of them")
			return false, nil
		}
	}
	switch err = n.remove(ID(id)); {
	case err == nil, fault.Status(err) == http.StatusNotFound:
		log(slog.LevelInfo, "this run goes on with the older one and has deleted its own")
		return true, nil
	case forbidden(err):
		log(slog.LevelWarn, "this run may not delete its own and keeps it: rename or delete one of them")
		return false, nil
	}
	return false, err
}

// forbidden reports whether a script or its user may not do something.
func forbidden(err error) bool {
	var sandbox *fault.PermissionError
	return errors.As(err, &sandbox) || fault.Status(err) != 0 && !fault.Transient(err)
}
