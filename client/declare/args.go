package declare

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"
)

// Args are the arguments of one call, by name, and the extra ones that travel
// unchanged.
type Args struct {
	Values map[string]any
	Extra  map[string]any
}

// Text returns a text argument, "" when absent.
func (a Args) Text(name string) string {
	s, _ := a.Values[name].(string)
	return s
}

var (
	extraType = reflect.TypeFor[Extra]()
)

// Extra are keyword arguments that are not documented: they are sent as they
// are. An input struct embeds it to take them.
type Extra struct{ Extra map[string]any }

// Arguments turns a filled input struct into arguments. Optional fields with
// their zero value are absent; a pointer, or an empty but non-nil slice, makes
// a zero value count.
func (s *Spec) Arguments(in any) Args {
	v := reflect.ValueOf(in)
	a := Args{Values: map[string]any{}}
	if v.Kind() != reflect.Struct {
		return a
	}
	for _, p := range s.Params {
		if p.index == nil { // derived, not a field of the struct
			continue
		}
		field := v.FieldByIndex(p.index)
		if absent(field) && !(p.Required && counts(field)) {
			continue
		}
		for field.Kind() == reflect.Pointer {
			field = field.Elem()
		}
		a.Values[p.Name] = plain(field)
	}
	if field, ok := v.Type().FieldByName("Extra"); ok && field.Type == extraType {
		a.Extra = v.FieldByIndex(field.Index).Interface().(Extra).Extra
	}
	return a
}

func absent(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map, reflect.Pointer, reflect.Interface:
		return v.IsNil()
	}
	return v.IsZero()
}

// counts tells fields whose zero is a value like any other.
func counts(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int64, reflect.Float64:
		return true
	}
	return false
}

// plain turns a typed value into the plain form checks work on.
func plain(v reflect.Value) any {
	switch v.Interface().(type) {
	case ID, IDs, Texts, Date, Path, Object, Geometry, Drawing, Filter, Sort, Empty, Null, time.Time, Identified:
		return v.Interface()
	}
	switch v.Kind() {
	case reflect.Slice:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = plain(v.Index(i))
		}
		return list
	case reflect.Interface:
		if v.IsNil() {
			return nil
		}
		return plain(v.Elem())
	case reflect.Int, reflect.Int64:
		return v.Int()
	case reflect.Map:
		object := map[string]any{}
		for _, k := range v.MapKeys() {
			object[fmt.Sprint(k.Interface())] = plain(v.MapIndex(k))
		}
		return object
	}
	return v.Interface()
}

// Fill sets the fields of an input struct from checked arguments.
func (s *Spec) Fill(in any, a Args) error {
	v := reflect.ValueOf(in).Elem()
	if v.Kind() != reflect.Struct {
		return nil
	}
	for _, p := range s.Params {
		value, given := a.Values[p.Name]
		if !given {
			value = p.Default
		}
		if value == nil || p.index == nil {
			continue
		}
		if _, null := value.(Null); null {
			continue
		}
		field := v.FieldByIndex(p.index)
		if field.Kind() == reflect.Pointer {
			field.Set(reflect.New(field.Type().Elem()))
			field = field.Elem()
		}
		if err := assign(field, value); err != nil {
			return fmt.Errorf("%s: argument %s: %w", s.FullName(), p.Name, err)
		}
	}
	if field, ok := v.Type().FieldByName("Extra"); ok && field.Type == extraType {
		v.FieldByIndex(field.Index).Set(reflect.ValueOf(Extra{a.Extra}))
	}
	return nil
}

func assign(field reflect.Value, value any) error {
	v := reflect.ValueOf(value)
	if field.Type() == reflect.TypeFor[IDs]() || field.Type() == reflect.TypeFor[Texts]() {
		if one, ok := value.(string); ok {
			v = reflect.ValueOf([]string{one})
		}
	}
	if v.Type().ConvertibleTo(field.Type()) && v.Kind() != reflect.Slice || v.Type().AssignableTo(field.Type()) {
		field.Set(v.Convert(field.Type()))
		return nil
	}
	if v.Kind() == reflect.Slice && v.Type().ConvertibleTo(field.Type()) {
		field.Set(v.Convert(field.Type()))
		return nil
	}
	if list, ok := value.([]any); ok && field.Kind() == reflect.Slice {
		items := reflect.MakeSlice(field.Type(), len(list), len(list))
		for i, item := range list {
			if err := assign(items.Index(i), item); err != nil {
				return err
			}
		}
		field.Set(items)
		return nil
	}
	// What is left goes by way of JSON, which both sides know.
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, field.Addr().Interface())
}
