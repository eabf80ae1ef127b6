package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// Tx is a transaction.
type Tx struct {
	ctx context.Context
	tx  *sql.Tx
}

// Exec runs a statement on the caller's own tables.
func (tx *Tx) Exec(query string, args ...any) error {
	_, err := tx.Affected(query, args...)
	return err
}

// Affected runs a statement and returns how many rows it changed.
func (tx *Tx) Affected(query string, args ...any) (int64, error) {
	result, err := tx.tx.ExecContext(tx.ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// QueryRow queries the caller's own tables for one row. It ignores cancellation of the context: watching for
// it would take as long as the query.
func (tx *Tx) QueryRow(query string, args ...any) *sql.Row {
	return tx.tx.QueryRowContext(context.WithoutCancel(tx.ctx), query, args...)
}

// Query queries the caller's own tables.
func (tx *Tx) Query(query string, args ...any) (*sql.Rows, error) {
	return tx.tx.QueryContext(tx.ctx, query, args...)
}

// Insert adds a document, which must have an _id.
func (tx *Tx) Insert(collection string, doc Doc) error {
	args, err := row(collection, doc)
	if err != nil {
		return err
	}
	return tx.Exec("INSERT INTO docs (collection, id, "+strings.Join(columnOrder, ", ")+
		", body) VALUES (?"+strings.Repeat(", ?", len(columnOrder)+2)+")", args...)
}

// Replace stores a document over the one with its _id.
func (tx *Tx) Replace(collection string, doc Doc) error {
	args, err := row(collection, doc)
	if err != nil {
		return err
	}
	// SQLite writes every index on a column that is set, even to the same value. Usually none has changed.
	columns, body := args[2:len(args)-1], args[len(args)-1]
	n, err := tx.Affected("UPDATE docs SET body = ? WHERE collection = ? AND id = ? AND "+
		strings.Join(columnOrder, " IS ? AND ")+" IS ?", append([]any{body, args[0], args[1]}, columns...)...)
	if err != nil || n > 0 {
		return err
	}
	n, err = tx.Affected("UPDATE docs SET "+strings.Join(columnOrder, " = ?, ")+
		" = ?, body = ? WHERE collection = ? AND id = ?", append(args[2:], args[0], args[1])...)
	if err == nil && n == 0 {
		return ErrNotFound
	}
	return err
}

// row returns the values of a document's row in the order of the columns.
func row(collection string, doc Doc) ([]any, error) {
	id, _ := doc["_id"].(string)
	if id == "" {
		return nil, errors.New("document without _id")
	}
	args := []any{collection, id}
	for _, key := range columnOrder {
		switch v := doc[key].(type) {
		case nil:
			args = append(args, nil)
		case string:
			args = append(args, v)
		case map[string]any:
			if key != "status" { // an object with a name, for flights
				return nil, &QueryError{Key: key, Message: "must be text"}
			}
			args = append(args, nil)
		default:
			return nil, &QueryError{Key: key, Message: "must be text"}
		}
	}
	body, err := encode(doc)
	if err != nil {
		return nil, fmt.Errorf("document %s: %w", id, err)
	}
	return append(args, string(body)), nil
}

// Remove deletes a document permanently.
func (tx *Tx) Remove(collection, id string) error {
	n, err := tx.Affected("DELETE FROM docs WHERE collection = ? AND id = ?", collection, id)
	if err == nil && n == 0 {
		return ErrNotFound
	}
	return err
}

// Get returns a document, deleted or not, or ErrNotFound.
func (tx *Tx) Get(collection, id string) (Doc, error) {
	var body []byte
	err := tx.QueryRow("SELECT body FROM docs WHERE collection = ? AND id = ?", collection, id).Scan(&body)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return read(body)
}
