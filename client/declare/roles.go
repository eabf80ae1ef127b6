package declare

import (
	"bytes"
	"context"
	"errors"
	"net/http"

	"github.com/tidwall/gjson"

	"transect/client/fault"
)

// Operations that most managers have, nil where this one does not.

// Describe returns the operation that reads one record.
func (m *Manager) Describe() *Spec { return m.Op("describe") }

// Walk returns the operation that iterates over the records of a search.
func (m *Manager) Walk() *Spec { return m.Op("search_generator") }

// Remove returns the operation that deletes a record.
func (m *Manager) Remove() *Spec { return m.Op("delete") }

// Restore returns the operation that restores a deleted record.
func (m *Manager) Restore() *Spec { return m.Op("restore") }

// Siblings returns the operation's manager, which has the related operations.
func (s *Spec) Siblings() *Manager { return s.manager }

// Read reads a record by its id, nil when it does not exist. Without an operation that describes
// one, it searches; args holds the arguments that the search requires besides the filter. known is
// false when neither is possible.
func (m *Manager) Read(ctx context.Context, id string, args map[string]any) (record []byte, known bool, err error) {
	how, values := m.Describe(), map[string]any{}
	if how != nil {
		values[how.Params[0].Name] = id
	} else {
		if how = m.Op("search"); how == nil {
			return nil, false, nil
		}
		if how.Param("filter") != nil {
			values["filter"] = ByID(id)
		}
		for i := range how.Params {
			if p := &how.Params[i]; p.Required() && values[p.Name] == nil {
				if values[p.Name] = args[p.Name]; values[p.Name] == nil {
					return nil, false, nil
				}
			}
		}
	}
	v, err := how.Invoke(ctx, Args{Values: values})
	if response, ok := errors.AsType[*fault.ResponseError](err); ok && response.Status == http.StatusNotFound {
		return nil, true, nil
	}
	for _, record := range v.Records() {
		if how == m.Describe() || gjson.GetBytes(record, "_id").Str == id {
			return record, true, nil
		}
	}
	return nil, true, err
}

// ByID returns the filter that selects records by their ids.
func ByID(ids ...string) map[string]any {
	if len(ids) == 1 {
		return map[string]any{"_id": map[string]any{"$eq": ids[0]}}
	}
	return map[string]any{"_id": map[string]any{"$in": ids}}
}

// Each calls f with the records of a search_generator until f returns false.
func (s *Spec) Each(ctx context.Context, values map[string]any, f func(record []byte) bool) error {
	v, err := s.Invoke(ctx, Args{Values: values})
	if err != nil {
		return err
	}
	defer v.Stream.Close()
	for {
		record, ok, err := v.Stream.Next(ctx)
		if err != nil || !ok || !f(bytes.Clone(record)) {
			return err
		}
	}
}

// Reader reads a manager's record by its id.
type Reader func(ctx context.Context, manager, id string) ([]byte, error)

// Rebuilder is implemented by input structs of operations whose answer is more than the record they
// create: it builds the answer from a record that was found.
type Rebuilder interface {
	Rebuild(ctx context.Context, found []byte, read Reader) ([]byte, error)
}

// Records returns the records of a value.
func (v Value) Records() [][]byte {
	if v.JSON != nil {
		return [][]byte{v.JSON}
	}
	return v.Items
}
