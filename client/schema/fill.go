package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"time"

	"transect/client/fault"
	"transect/client/suggest"
)

// checkTable checks a table, or a list of tables, against their declared keys. Undeclared keys are
// kept, unless they look like a misspelling.
func (p *Param) checkTable(v any) (any, error) {
	checked, err := p.Type.Check(v)
	if err != nil {
		return nil, err
	}
	list, isList := checked.([]any)
	if !isList {
		return p.checkKeys(checked.(map[string]any))
	}
	for i := range list {
		if list[i], err = p.checkKeys(list[i].(map[string]any)); err != nil {
			return nil, inItem(i, err)
		}
	}
	return list, nil
}

func (p *Param) checkKeys(table map[string]any) (map[string]any, error) {
	out := make(map[string]any, len(table))
	for _, key := range SortedKeys(table) {
		field := Find(p.Fields, key)
		more, isTable := AsObject(table[key])
		switch {
		case table[key] == nil:
		case field != nil:
			checked, err := field.CheckOrNull(table[key])
			if err != nil {
				return nil, err
			}
			out[field.Name] = checked
		case key == "extra" && isTable:
			maps.Copy(out, more)
		case suggest.Nearest(key, Names(p.Fields)) != "":
			return nil, fault.Hinted(Unknown("key", key, p.Fields), "to send it unchanged, put it in extra = { %s = … }", key)
		default:
			out[key] = table[key]
		}
	}
	if missing := MissingFrom(p.Fields, out); missing != nil {
		return nil, fault.Hinted(fault.Of(&fault.ParameterError{}, "%s", missing.Missing()),
			"the keys are %s", strings.Join(Names(p.Fields), ", "))
	}
	if p.table != nil && p.table.Implements(reflect.TypeFor[Validator]()) {
		in, err := p.Filled(out)
		if err == nil {
			err = in.(Validator).Validate()
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Filled returns a table as its declared struct, set from checked values.
func (p *Param) Filled(values map[string]any) (any, error) {
	in := reflect.New(p.table).Elem()
	err := p.assign(in, values)
	return in.Interface(), err
}

// CheckOrNull is like Check but also accepts null.
func (p *Param) CheckOrNull(v any) (any, error) {
	if _, null := v.(Null); null {
		return v, nil
	}
	return p.Check(v)
}

// MissingFrom returns the first required parameter without a value, or nil.
func MissingFrom(params []Param, values map[string]any) *Param {
	for i := range params {
		v := values[params[i].Name]
		if _, null := v.(Null); params[i].Required() && (v == nil || null) {
			return &params[i]
		}
	}
	return nil
}

// Values returns the values of a filled struct in plain form, and its Extra. Optional fields with
// their zero value are absent, but a pointer, or an empty non-nil slice, makes a zero value count.
func Values(params []Param, in any) (values, extra map[string]any) {
	v := reflect.ValueOf(in)
	if v.Kind() != reflect.Struct {
		return map[string]any{}, nil
	}
	return valuesOf(params, v)
}

func valuesOf(params []Param, v reflect.Value) (values, extra map[string]any) {
	values = map[string]any{}
	for i := range params {
		p := &params[i]
		if p.index == nil { // added to the declaration, without a struct field
			continue
		}
		field := v.FieldByIndex(p.index)
		if absent(field) && !(p.Required() && zeroCounts(field)) {
			continue
		}
		for field.Kind() == reflect.Pointer {
			field = field.Elem()
		}
		values[p.Name] = p.plain(field)
	}
	if field, ok := extraField(v); ok {
		extra = field.Interface().(Extra).Extra
	}
	return values, extra
}

func extraField(v reflect.Value) (reflect.Value, bool) {
	field, ok := v.Type().FieldByName("Extra")
	if !ok || field.Type != extraType {
		return reflect.Value{}, false
	}
	return v.FieldByIndex(field.Index), true
}

func absent(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map, reflect.Pointer, reflect.Interface, reflect.Func:
		return v.IsNil()
	}
	return v.IsZero()
}

// zeroCounts reports whether a field's zero is a value like any other.
func zeroCounts(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int64, reflect.Float64:
		return true
	}
	return false
}

// plain converts a typed value to the form that checks accept.
func (p *Param) plain(v reflect.Value) any {
	if p.table != nil && v.Type() == p.table {
		values, extra := valuesOf(p.Fields, v)
		for key, e := range extra {
			if _, taken := values[key]; !taken {
				values[key] = e
			}
		}
		return values
	}
	switch v.Interface().(type) {
	case Sort, Empty, Null, time.Time, Identified:
		return v.Interface()
	}
	for _, plain := range []reflect.Type{reflect.TypeFor[map[string]any](), reflect.TypeFor[[]string]()} {
		if v.Kind() == plain.Kind() && v.CanConvert(plain) {
			return v.Convert(plain).Interface()
		}
	}
	switch v.Kind() {
	case reflect.String:
		return v.String()
	case reflect.Slice:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = p.plain(v.Index(i))
		}
		return list
	case reflect.Interface:
		if v.IsNil() {
			return nil
		}
		return p.plain(v.Elem())
	case reflect.Int, reflect.Int64:
		return v.Int()
	case reflect.Map:
		object := map[string]any{}
		for _, k := range v.MapKeys() {
			object[fmt.Sprint(k.Interface())] = p.plain(v.MapIndex(k))
		}
		return object
	}
	return v.Interface()
}

// Fill sets the fields of a struct, given as a pointer, from checked values.
func Fill(params []Param, in any, values, extra map[string]any) error {
	v := reflect.ValueOf(in).Elem()
	if v.Kind() != reflect.Struct {
		return nil
	}
	return fill(params, v, values, extra)
}

func fill(params []Param, v reflect.Value, values, extra map[string]any) error {
	for i := range params {
		p := &params[i]
		value := values[p.Name]
		if value == nil {
			value = p.Default
		}
		if _, null := value.(Null); null || value == nil || p.index == nil {
			continue
		}
		field := v.FieldByIndex(p.index)
		if field.Kind() == reflect.Pointer && !reflect.TypeOf(value).AssignableTo(field.Type()) {
			field.Set(reflect.New(field.Type().Elem()))
			field = field.Elem()
		}
		if err := p.assign(field, value); err != nil {
			return fmt.Errorf("argument %s: %w", p.Name, err)
		}
	}
	if field, ok := extraField(v); ok {
		field.Set(reflect.ValueOf(Extra{extra}))
	}
	return nil
}

func (p *Param) assign(field reflect.Value, value any) error {
	if table, ok := value.(map[string]any); ok && p.table != nil && field.Type() == p.table {
		extra := map[string]any{}
		for key, e := range table {
			if Find(p.Fields, key) == nil {
				extra[key] = e
			}
		}
		return fill(p.Fields, field, table, extra)
	}
	v := reflect.ValueOf(value)
	if one, ok := value.(string); ok && field.Kind() == reflect.Slice { // a single value or a list
		v = reflect.ValueOf([]string{one})
	}
	seconds, isNumber := value.(float64)
	switch {
	case isNumber && field.Type() == reflect.TypeFor[time.Duration]():
		field.SetInt(int64(seconds * float64(time.Second)))
		return nil
	case v.Type().AssignableTo(field.Type()), v.Type().ConvertibleTo(field.Type()):
		field.Set(v.Convert(field.Type()))
		return nil
	case v.Kind() == reflect.Slice && field.Kind() == reflect.Slice:
		items := reflect.MakeSlice(field.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			if err := p.assign(items.Index(i), v.Index(i).Interface()); err != nil {
				return err
			}
		}
		field.Set(items)
		return nil
	}
	// Convert through JSON, which both sides support.
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, field.Addr().Interface())
}
