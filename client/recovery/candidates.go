package recovery

import (
	"bytes"
	"context"
	"encoding/hex"
	"slices"
	"time"

	"github.com/tidwall/gjson"

	"transect/client/declare"
)

// candidates are the records newer than the intent, newest first.
func (a *attempt) candidates(ctx context.Context, wanted []map[string]any) ([][]byte, error) {
	manager, rule := a.call.Spec.Manager, a.call.Spec.Lost
	switch a.call.Spec.FullName() {
	case "analytics.order":
		manager = "products"
	case "missions.create_archive":
		manager = "datasets"
	}
	walk := a.Operation(manager, "search_generator")
	if walk == nil {
		return nil, a.unknown(nil)
	}
	values := map[string]any{}
	if rule.Rule == declare.List {
		for _, name := range []string{"project", "type", "target"} {
			if v, given := a.call.Args.Values[name]; given {
				values[name] = v
			}
		}
	} else {
		filter := map[string]any{}
		if rule.Rule == declare.Mark {
			marks := make([]any, len(wanted))
			for n := range wanted {
				marks[n] = element(a.marker(), n, len(wanted))
			}
			filter["properties.transect.write"] = map[string]any{"$in": marks}
		} else {
			for _, key := range rule.Keys {
				if v := wanted[0][key]; scalar(v) && !slices.ContainsFunc(wanted, func(w map[string]any) bool { return w[key] != v }) {
					filter[key] = map[string]any{"$eq": v}
				}
			}
		}
		values["filter"], values["sort"] = filter, map[string]any{"_id": -1}
		if walk.Param("sort") == nil {
			delete(values, "sort")
		}
	}
	v, err := walk.Invoke(ctx, declare.Args{Values: values})
	if err != nil {
		return nil, err
	}
	defer v.Stream.Close()
	var list [][]byte
	for {
		record, ok, err := v.Stream.Next(ctx)
		if err != nil || !ok {
			return list, err
		}
		if made, known := madeAt(gjson.GetBytes(record, "_id").String()); known && made.Before(a.row.Since.Add(-clockSlack)) {
			if rule.Rule == declare.List || values["sort"] == nil {
				continue
			}
			return list, nil
		}
		list = append(list, bytes.Clone(record))
	}
}

func scalar(v any) bool {
	switch v.(type) {
	case nil, map[string]any, []any, []string, []float64, time.Time:
		return false
	}
	return true
}

// madeAt is when a thing was made: ids begin with the second.
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

// user is the one whose writes these are, "" when the platform does not say.
func (r *Recovery) user(ctx context.Context) (string, error) {
	r.me.Lock()
	defer r.me.Unlock()
	if describe := r.Operation("users", "describe"); r.me.id == "" && describe != nil {
		v, err := describe.Invoke(ctx, declare.Args{Values: map[string]any{}})
		if err != nil {
			return "", err
		}
		r.me.id = gjson.GetBytes(v.JSON, "_id").String()
	}
	return r.me.id, nil
}

// byAnother reports whether a record says that somebody else made it.
func byAnother(record []byte, me string) bool {
	maker := gjson.GetBytes(record, "creation_user")
	return me != "" && maker.Type == gjson.String && maker.Str != me
}
