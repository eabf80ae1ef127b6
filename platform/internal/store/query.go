package store

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// Query selects and orders documents.
type Query struct {
	Filter Doc
	Sort   []SortKey // by _id when empty; _id always breaks ties
	Limit  int       // 0: no limit
	Offset int
	Fields Projection
}

// SortKey is one key to order by.
type SortKey struct {
	Key        string
	Descending bool
}

// Page is one page of a search's result.
type Page struct {
	Results []json.RawMessage `json:"results"`
	Total   int               `json:"total"` // matches on all pages
}

// Search returns the documents of one page.
func (tx *Tx) Search(collection string, q Query) (page Page, err error) {
	condition, args, err := compile(collection, q.Filter)
	if err != nil {
		return page, err
	}
	if page.Results, err = tx.find(condition, args, q); err != nil {
		return page, err
	}
	// A page that is not full is the last one, so there is nothing to count.
	n := len(page.Results)
	if q.Limit == 0 || n < q.Limit && (n > 0 || q.Offset == 0) {
		page.Total = q.Offset + n
		return page, nil
	}
	err = tx.tx.QueryRowContext(tx.ctx, "SELECT count(*) FROM docs WHERE "+condition, args...).Scan(&page.Total)
	return page, err
}

// All returns the documents that match a query.
func (tx *Tx) All(collection string, q Query) ([]Doc, error) {
	condition, args, err := compile(collection, q.Filter)
	if err != nil {
		return nil, err
	}
	results, err := tx.find(condition, args, q)
	docs := make([]Doc, len(results))
	for i := 0; err == nil && i < len(docs); i++ {
		docs[i], err = read(results[i])
	}
	return docs, err
}

// find returns the bodies of the documents that meet a condition.
func (tx *Tx) find(condition string, args []any, q Query) ([]json.RawMessage, error) {
	order, orderArgs, err := orderBy(q.Sort)
	if err != nil {
		return nil, err
	}
	rows, err := tx.Query("SELECT body FROM docs WHERE "+condition+" ORDER BY "+order+" LIMIT ? OFFSET ?",
		slices.Concat(args, orderArgs, []any{cmp.Or(q.Limit, -1), q.Offset})...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	results, fieldsOf := []json.RawMessage{}, q.Fields.stored()
	for rows.Next() {
		var body []byte
		if err := rows.Scan(&body); err != nil {
			return nil, err
		}
		chosen, err := fieldsOf(body)
		if err != nil {
			return nil, err
		}
		results = append(results, chosen)
	}
	return results, rows.Err()
}

// orderBy turns sort keys into SQL.
func orderBy(keys []SortKey) (string, []any, error) {
	var parts []string
	var args []any
	for _, k := range keys {
		expression, ok := columns[k.Key]
		if !ok {
			path, err := jsonPath(k.Key)
			if err != nil {
				return "", nil, err
			}
			expression = "json_extract(body, ?)"
			args = append(args, path)
		}
		if k.Descending {
			expression += " DESC"
		}
		parts = append(parts, expression)
		if k.Key == "_id" {
			return strings.Join(parts, ", "), args, nil
		}
	}
	return strings.Join(append(parts, "id"), ", "), args, nil
}
