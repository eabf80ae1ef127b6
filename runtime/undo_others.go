package runtime

import (
	"context"
	"fmt"

	"github.com/tidwall/gjson"

	"transect/client/declare"
)

// ofOthers says what other users have done to a thing that the run made, or put
// into it: what is deleted would take that along. It is "" when nothing is known of
// others.
func (u *undo) ofOthers(ctx context.Context, w written, id string) (string, error) {
	record, _, err := u.record(ctx, w.spec, id)
	if err != nil || record == nil {
		return "", err
	}
	if by := gjson.GetBytes(record, "modification_user").String(); by != "" && by != u.me {
		return fmt.Sprintf("user %s has changed it since", by), nil
	}
	holds := map[string][]string{"projects": {"missions", "datasets", "annotations"}, "missions": {"datasets"}}[w.spec.Manager]
	for _, kind := range holds {
		n, err := u.foreign(ctx, kind, declare.Singular(w.spec.Manager), id)
		if err != nil || n > 0 {
			return fmt.Sprintf("it holds %s of other users (%d)", kind, n), err
		}
	}
	return "", nil
}

// foreign counts the things of a kind in a project or a mission that other users
// have made.
func (u *undo) foreign(ctx context.Context, kind, key, id string) (n int, err error) {
	walk := u.c.Manager(kind).Op("search_generator")
	v, err := walk.Invoke(ctx, declare.Args{Values: map[string]any{"filter": map[string]any{key: map[string]any{"$eq": id}}}})
	if err != nil {
		return 0, err
	}
	defer v.Stream.Close()
	for {
		record, ok, err := v.Stream.Next(ctx)
		if err != nil || !ok {
			return n, err
		}
		by := gjson.GetBytes(record, "creation_user").String()
		if by == "" {
			by = gjson.GetBytes(record, "user").String()
		}
		if by != "" && by != u.me {
			n++
		}
	}
}
