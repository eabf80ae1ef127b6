package web

import (
	"net/url"
	"strconv"

	"transect/client"
)

// Common parts of searches: filters, fields, orders, pages.

func equals(key, value string) client.Filter {
	return client.Filter{key: map[string]any{"$eq": value}}
}

func among(key string, values []string) client.Filter {
	list := make([]any, len(values))
	for i, v := range values {
		list[i] = v
	}
	return client.Filter{key: map[string]any{"$in": list}}
}

// only selects the fields that a search returns.
func only(fields ...any) client.Object { return client.Object{"include": fields} }

var (
	newestFirst = client.Sort{{Attribute: "_id", Direction: -1}}
	byName      = client.Sort{{Attribute: "name", Direction: 1}}
)

// counting returns a query for the number of records.
func counting(filter client.Filter) client.Query {
	return client.Query{Filter: filter, Limit: new(1), Fields: only("name")}
}

// some returns the first records of a search.
func some[T any](all func(func(T, error) bool), most int) (list []T, err error) {
	for record, err := range all {
		if err != nil {
			return nil, err
		}
		if list = append(list, record); len(list) == most {
			break
		}
	}
	return list, nil
}

// pager is the current page of a table, with its neighbours.
type pager struct {
	Page           int   // from 1
	Previous, Next int   // 0 for none
	Total          int64 // records on all pages; -1 when the platform does not count
}

// pagerOf reads the page number from the parameters of an address.
func pagerOf(values url.Values) pager {
	if n, err := strconv.Atoi(values.Get("page")); err == nil && n > 0 && n < 1e6 {
		return pager{Page: n}
	}
	return pager{Page: 1}
}

// found sets the result of a search: the total, the page size and the number of records on the page.
func (p *pager) found(total int64, size, records int) {
	p.Total, p.Previous = total, p.Page-1
	if total > int64(p.Page*size) || total < 0 && records == size {
		p.Next = p.Page + 1
	}
}

// trueFirst compares booleans, true first.
func trueFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}
