package client

import (
	"cmp"
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
)

// Twins are resources of one name that were created at the same moment: several runs looked
// for the name, found nothing and created it, as the platform takes any name twice. All go on
// with the oldest, and each deletes the younger one of its own, as long as it is empty.
const (
	mostTwins = 50
	settling  = 30 * time.Second // from then on twins are there to stay
	looks     = 5
	lookAgain = time.Second / 2
)

// Settled finds resources of a name, and looks again while there are several and the youngest
// may be about to be deleted. record is the JSON of one.
func Settled[T any](ctx context.Context, c *Client, find func() ([]T, error), record func(T) []byte) ([]T, error) {
	for attempt := 1; ; attempt++ {
		found, err := find()
		if err != nil || len(found) < 2 || attempt == looks {
			return found, err
		}
		youngest := slices.MaxFunc(found, func(a, b T) int { return created(record(a)).Compare(created(record(b))) })
		if c.transport.PlatformTime().Sub(created(record(youngest))) > settling {
			return found, nil
		}
		if err := c.sleep(ctx, lookAgain); err != nil {
			return nil, err
		}
	}
}

// created returns when the platform created a record, or zero.
func created(record []byte) time.Time {
	text := cmp.Or(gjson.GetBytes(record, "creation_date").Str, gjson.GetBytes(record, "created").Str)
	date, _ := time.Parse(time.RFC3339, text)
	return date
}

// settle returns the resource with which a run goes on that has created one of a name. The
// choice is noted before anything is deleted: a run that dies in between makes no other.
func (n byName[T]) settle(ctx context.Context, c *Client, created T) (Found[T], error) {
	own := created.ResourceID()
	choice, err := declare.Remember(ctx, "oldest", func() (string, error) {
		oldest, err := n.oldest(created)
		if err != nil || oldest == own {
			return own, err
		}
		used, err := n.used(ctx, c, own)
		if used {
			n.warn(c, "is not empty, and the run continues with it: rename one of them", own, oldest)
			oldest = own
		}
		return oldest, err
	})
	if err != nil || choice == own {
		return Found[T]{created, true}, err
	}
	if err := n.giveUp(ctx, c, own, choice); err != nil {
		return Found[T]{}, err
	}
	found, err := n.describe(ctx, Refs{IDs: IDs{choice}})
	return first(found), err
}

// oldest returns the id of the oldest resource of the name.
func (n byName[T]) oldest(own T) (string, error) {
	all, err := n.find()
	if !slices.ContainsFunc(all, func(r T) bool { return r.ResourceID() == own.ResourceID() }) {
		all = append(all, own)
	}
	return slices.MinFunc(all, func(a, b T) int {
		return cmp.Or(created(a.JSON()).Compare(created(b.JSON())), strings.Compare(a.ResourceID(), b.ResourceID()))
	}).ResourceID(), err
}

// used reports whether there is something in a resource.
func (n byName[T]) used(ctx context.Context, c *Client, id string) (bool, error) {
	for _, kind := range c.Manager(n.manager).Holds {
		within := map[string]any{"filter": map[string]any{declare.Singular(n.manager): map[string]any{"$eq": id}}, "limit": 1}
		held, err := c.Manager(kind).Op("search").Invoke(ctx, declare.Args{Values: within})
		if err != nil || len(held.Items) > 0 {
			return err == nil, err
		}
	}
	return false, nil
}

// giveUp deletes the run's own resource. Looking into it once more costs nothing that counts and keeps what others
// have put there while the run was dead.
func (n byName[T]) giveUp(ctx context.Context, c *Client, own, older string) error {
	used, err := n.used(ctx, c, own)
	switch {
	case err != nil:
		return err
	case used:
		n.warn(c, "is not empty and is kept: rename one of them", own, older)
		return nil
	}
	switch err := n.remove(ID(own)); {
	case err == nil, fault.Status(err) == http.StatusNotFound:
		c.log.Info(fmt.Sprintf("there is an older %s of this name; the run continues with it and deletes its own",
			declare.Singular(n.manager)), "name", n.name, "id", older, "deleted", own)
	case forbidden(err):
		n.warn(c, "may not be deleted and remains, empty: rename or delete it", own, older)
	default:
		return err
	}
	return nil
}

func (n byName[T]) warn(c *Client, text, own, older string) {
	c.log.Warn(fmt.Sprintf("there is an older %s of this name; the run's own %s", declare.Singular(n.manager), text),
		"name", n.name, "older", older, "own", own)
}

// forbidden reports whether a script or its user may not do something.
func forbidden(err error) bool {
	var sandbox *fault.PermissionError
	var budget *fault.LimitError
	return errors.As(err, &sandbox) || errors.As(err, &budget) || fault.Status(err) == http.StatusForbidden
}
