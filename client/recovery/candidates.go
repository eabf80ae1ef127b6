package recovery

import (
	"context"
	"encoding/hex"
	"slices"
	"time"

	"github.com/tidwall/gjson"

	"transect/client/declare"
)

// candidates returns the records newer than the intent, newest first.
func (a *attempt) candidates(ctx context.Context, wanted []map[string]any) ([][]byte, error) {
	how := a.spec.Unknown
	walk := a.Manager(a.spec.Makes).Walk()
	if walk == nil {
		return nil, a.unknown(nil)
	}
	values := map[string]any{}
	if how.Rule == declare.ByList {
		for i := range walk.Params {
			if v, given := a.call.Args.Values[walk.Params[i].Name]; given {
				values[walk.Params[i].Name] = v
			}
		}
	} else {
		filter := map[string]any{}
		for _, key := range how.Keys {
			if v := wanted[0][key]; scalar(v) &&
				!slices.ContainsFunc(wanted, func(w map[string]any) bool { return w[key] != v }) {
				filter[key] = map[string]any{"$eq": v}
			}
		}
		values["filter"], values["sort"] = filter, map[string]any{"_id": -1}
		if walk.Param("sort") == nil {
			delete(values, "sort")
		}
	}
	var list [][]byte
	err := walk.Each(ctx, values, func(record []byte) bool {
		if created, ok := madeAt(gjson.GetBytes(record, "_id").String()); ok && created.Before(a.row.Since.Add(-clockSlack)) {
			return how.Rule == declare.ByList || values["sort"] == nil // otherwise all that follow are older
		}
		list = append(list, record)
		return true
	})
	return list, err
}

func scalar(v any) bool {
	switch v.(type) {
	case nil, map[string]any, []any, []string, []float64, time.Time:
		return false
	}
	return true
}

// madeAt returns when a resource was made: ids begin with the second.
func madeAt(id string) (time.Time, bool) {
	if len(id) != 24 {
		return time.Time{}, false
	}
	b, err := hex.DecodeString(id[:8])
	if err != nil {
		return time.Time{}, false
	}
	return time.Unix(int64(b[0])<<24|int64(b[1])<<16|int64(b[2])<<8|int64(b[3]), 0), true
}

// user returns the user of the writes, "" when unknown.
func (r *Recovery) user(ctx context.Context) (id string, err error) {
	r.me.Lock()
	defer r.me.Unlock()
	if r.me.id == "" {
		r.me.id, err = r.User(ctx)
	}
	return r.me.id, err
}

// uploaded reports whether files of a record have arrived: nobody uploads to what a lost answer names.
func uploaded(record []byte) bool {
	return gjson.GetBytes(record, `components.#(status=="completed")`).Exists()
}

// byAnother reports whether a record was made by another user.
func byAnother(record []byte, me string) bool {
	maker := gjson.GetBytes(record, "creation_user")
	return me != "" && maker.Type == gjson.String && maker.Str != me
}
