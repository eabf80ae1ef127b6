package store

import (
	"encoding/json"
	"strings"
)

// Query says which documents a search returns, and in which order.
type Query struct {
	Filter Doc
	Sort   []SortKey // by _id when empty; _id always decides between equals
	Limit  int       // below zero: no limit
	Offset int
	Fields Projection
	// NoTotal leaves the number of matches uncounted.
	NoTotal bool
}

// SortKey is one key to order by.
type SortKey struct {
	Key        string
	Descending bool
}

// Page is a piece of a search's result.
type Page struct {
	Results []json.RawMessage `json:"results"`
	Total   int               `json:"total"` // matches on all pages
}

// Search returns the documents of one page. Deleted documents are left out
// unless the filter speaks of deletion_date.
func (tx *Tx) Search(collection string, q Query) (Page, error) {
	where, err := compile(q.Filter)
	if err != nil {
		return Page{}, err
	}
	condition := "collection = ?"
	args := []any{collection}
	if !where.mentions("deletion_date") {
		condition += " AND deletion_date IS NULL"
	}
	if where.sql != "" {
		condition += " AND " + where.sql
		args = append(args, where.args...)
	}
	order, orderArgs, err := orderBy(q.Sort)
	if err != nil {
		return Page{}, err
	}
	page := Page{Results: []json.RawMessage{}}
	rows, err := tx.Query("SELECT body FROM docs WHERE "+condition+" ORDER BY "+order+" LIMIT ? OFFSET ?",
		append(append(args[:len(args):len(args)], orderArgs...), q.Limit, q.Offset)...)
	if err != nil {
		return Page{}, err
	}
	defer rows.Close()
	for rows.Next() {
		var body []byte
		if err := rows.Scan(&body); err != nil {
			return Page{}, err
		}
		chosen, err := q.Fields.applyTo(body)
		if err != nil {
			return Page{}, err
		}
		page.Results = append(page.Results, chosen)
	}
	if err := rows.Err(); err != nil {
		return Page{}, err
	}
	// A page that is not full is the last one, so there is nothing to count.
	n := len(page.Results)
	if q.NoTotal || q.Limit < 0 || n < q.Limit && (n > 0 || q.Offset == 0) {
		page.Total = q.Offset + n
		return page, nil
	}
	err = tx.tx.QueryRowContext(tx.ctx, "SELECT count(*) FROM docs WHERE "+condition, args...).Scan(&page.Total)
	return page, err
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
