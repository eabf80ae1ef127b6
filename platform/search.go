package platform

import (
	"github.com/tidwall/gjson"

	"transect/platform/store"
)

// maxLimit is how many documents one page may have.
const maxLimit = 10_000

// search answers with a page of documents.
func (k kind) search(r *Request) (any, error) {
	q, err := k.query(r)
	if err != nil {
		return nil, err
	}
	return r.tx.Search(k.plural, q)
}

// query reads the arguments of a search.
func (k kind) query(r *Request) (q store.Query, err error) {
	a := r.args()
	q.Filter = a.optObject("filter")
	q.Fields = a.fields()
	q.Limit, q.Offset = k.paging(a)
	if a.err != nil {
		return q, a.err
	}
	if q.Sort, err = k.sort(r); err != nil {
		return q, err
	}
	if k.rewrite != nil && q.Filter != nil {
		q.Filter, err = k.rewrite(q.Filter)
	}
	return q, err
}

// paging reads limit and page; the number of the first page depends on the kind.
func (k kind) paging(a *args) (limit, offset int) {
	limit = int(a.integer("limit", int64(k.limit), 1, maxLimit))
	page := int(a.integer("page", int64(k.firstPage), int64(k.firstPage), 1<<31))
	return limit, (page - k.firstPage) * limit
}

// sort reads the keys to order by from the text of the body, where their order
// is still known.
func (k kind) sort(r *Request) (keys []store.SortKey, err error) {
	given := gjson.GetBytes(r.raw, "sort")
	if given.Type == gjson.Null {
		return nil, nil
	}
	if k.unsorted {
		return nil, invalid("sort: %s cannot be sorted", k.plural)
	}
	if !given.IsObject() {
		return nil, invalid("sort: must be an object such as {\"name\": 1}")
	}
	given.ForEach(func(key, direction gjson.Result) bool {
		if direction.Type != gjson.Number || direction.Num != 1 && direction.Num != -1 {
			err = invalid("sort.%s: must be 1 (ascending) or -1 (descending)", key.Str)
			return false
		}
		keys = append(keys, store.SortKey{Key: key.Str, Descending: direction.Num < 0})
		return true
	})
	return keys, err
}

// fields reads which keys are wanted.
func (a *args) fields() (p store.Projection) {
	given := a.optObject("fields")
	if given == nil {
		return p
	}
	inner := within(given, "fields")
	for key := range given {
		if key != "include" && key != "exclude" {
			inner.wrong(key, "is not known; fields take include or exclude")
		}
	}
	if inner.has("include") {
		p.Include = append([]string{}, inner.texts("include")...)
	}
	if inner.has("exclude") {
		p.Exclude = append([]string{}, inner.texts("exclude")...)
	}
	if p.Include != nil && p.Exclude != nil {
		inner.wrong("exclude", "cannot be given together with include")
	}
	if a.err == nil {
		a.err = inner.err
	}
	return p
}
