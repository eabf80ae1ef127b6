package platform

import (
	"slices"
	"time"

	"transect/client/schema"
	"transect/platform/store"
)

// fields are values in a body that have rules beyond what is declared.
type fields = []schema.Param

// optional are fields none of which has to be given.
func optional(all fields) fields {
	all = slices.Clone(all)
	for i := range all {
		all[i].Optional = true
	}
	return all
}

// checkAs fails with the request unless a value is of a type.
func checkAs(t schema.Type, key string, v any) { check((&schema.Param{Type: t}).CheckJSON(key, v)) }

// timeOf reads a date of a document; zero when there is none.
func timeOf(doc store.Doc, key string) time.Time { return schema.Date(store.Text(doc, key)).Time() }

// checkPeriod refuses an end_date before the start_date.
func checkPeriod(doc store.Doc) {
	start, end := timeOf(doc, "start_date"), timeOf(doc, "end_date")
	if !start.IsZero() && !end.IsZero() && end.Before(start) {
		panic(wrong("end_date", "%s is before start_date %s", doc["end_date"], doc["start_date"]))
	}
}

// setDates writes dates of a document in the platform's own form.
func setDates(doc store.Doc, keys ...string) {
	for _, key := range keys {
		if t := timeOf(doc, key); !t.IsZero() {
			doc[key] = date(t)
		}
	}
}
