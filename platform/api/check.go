package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"transect/client/fault"
	"transect/platform/store"
)

// check tells what is wrong with the value of an argument. Identifiers have a
// form of their own on the wire; everything else is checked as the client does.
func (p *Param) check(v any) error {
	_, isObject := v.(map[string]any)
	switch p.Type {
	case "any", "sort":
		return nil
	case "object", "filter":
		if !isObject {
			return fmt.Errorf("must be an object, not %s", kind(v))
		}
		if p.Fields == nil {
			return nil
		}
	case "id":
		return checkID(v)
	case "id|[]id":
		if _, isText := v.(string); p.form == single || isText && p.form == either {
			return checkID(v)
		}
		return p.checkIDs(v)
	case "[]id":
		return p.checkIDs(v)
	case "[]object":
		if err := checkObjects(v); err != nil || p.Fields == nil {
			return err
		}
	}
	_, err := p.Check(v)
	switch f := fault.Find(err); {
	case f != nil:
		return errors.New(strings.TrimLeft(strings.TrimPrefix(f.Facts().Message, p.Name), ": "))
	case err == nil && p.Required && v == "":
		return errors.New("must not be empty")
	}
	return err
}

func checkID(v any) error {
	if id, ok := v.(string); !ok || !store.IsID(id) {
		return fmt.Errorf("%s is not an identifier of 24 hexadecimal digits", kind(v))
	}
	return nil
}

func (p *Param) checkIDs(v any) error {
	ids, ok := v.([]any)
	if !ok {
		return fmt.Errorf("must be a list of identifiers, not %s", kind(v))
	}
	if len(ids) > p.max {
		return fmt.Errorf("has %d identifiers; at most %d are accepted in one request", len(ids), p.max)
	}
	for i, id := range ids {
		if err := checkID(id); err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
	}
	return nil
}

func checkObjects(v any) error {
	all, ok := v.([]any)
	if !ok {
		return fmt.Errorf("must be a list of objects, not %s", kind(v))
	}
	for i, one := range all {
		if _, ok := one.(map[string]any); !ok {
			return fmt.Errorf("element %d must be an object, not %s", i, kind(one))
		}
	}
	return nil
}

// kind describes a JSON value in messages.
func kind(v any) string {
	switch v := v.(type) {
	case string:
		return fmt.Sprintf("%q", v)
	case bool, json.Number:
		return fmt.Sprint(v)
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return "null"
}

// Limit is the page size that a search declares for requests without one, or 0.
func (o *Operation) Limit() int64 {
	if p := o.Param("limit"); p != nil {
		n, _ := p.Default.(int64)
		return n
	}
	return 0
}
