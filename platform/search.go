package platform

import (
	"github.com/tidwall/gjson"

	"transect/platform/store"
)

// maxLimit is how many documents one page may have.
const maxLimit = 10_000

// search answers with a page of documents.
func (t *resource) search(r *Request) (any, error) {
	q, err := t.query(r)
	if err != nil {
		return nil, err
	}
	return r.tx.Search(t.plural, q)
}

// query reads the arguments of a search.
func (t *resource) query(r *Request) (q store.Query, err error) {
	if q.Limit, q.Offset, err = t.paging(r, r.op.FirstPage); err != nil {
		return q, err
	}
	if q.Fields, err = r.fields(); err != nil {
		return q, err
	}
	if q.Sort, err = r.sort(); err != nil {
		return q, err
	}
	q.Filter = r.object("filter")
	if t.rewrite != nil && q.Filter != nil {
		q.Filter, err = t.rewrite(q.Filter)
	}
	return q, err
}

// paging reads limit and page.
func (t *resource) paging(r *Request, first int64) (limit, offset int, err error) {
	size := t.limit
	if declared := r.op.Limit(); declared > 0 {
		size = declared
	} else if size == 0 {
		size = 50
	}
	a := r.args()
	size = a.integer("limit", size, 1, maxLimit)
	page := a.integer("page", first, first, 1<<31)
	return int(size), int((page - first) * size), a.err
}

// sort reads the keys to order by from the text of the body, where their order
// is still known.
func (r *Request) sort() (keys []store.SortKey, err error) {
	given := gjson.GetBytes(r.raw, "sort")
	if given.Type == gjson.Null {
		return nil, nil
	}
	if !given.IsObject() {
		return nil, wrong("sort", "must be an object such as {\"name\": 1}")
	}
	given.ForEach(func(key, direction gjson.Result) bool {
		if direction.Type != gjson.Number || direction.Num != 1 && direction.Num != -1 {
			err = wrong("sort."+key.Str, "must be 1 (ascending) or -1 (descending)")
			return false
		}
		keys = append(keys, store.SortKey{Key: key.Str, Descending: direction.Num < 0})
		return true
	})
	return keys, err
}

// fields reads which keys of documents are wanted.
func (r *Request) fields() (p store.Projection, err error) {
	given := r.object("fields")
	for key, value := range given {
		if key != "include" && key != "exclude" {
			return p, wrong("fields."+key, "is not known; fields takes include or exclude")
		}
		if err := list(word)("fields."+key, value); err != nil {
			return p, err
		}
	}
	if given["include"] != nil {
		p.Include = append([]string{}, textsOf(given["include"])...)
	}
	if given["exclude"] != nil {
		p.Exclude = append([]string{}, textsOf(given["exclude"])...)
	}
	if p.Include != nil && p.Exclude != nil {
		return p, wrong("fields.exclude", "cannot be given together with include")
	}
	return p, nil
}
