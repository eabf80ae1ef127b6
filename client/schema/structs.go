package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"transect/client/fault"
	"transect/client/suggest"
)

// Tags lists the struct tags that describe a parameter:
//
//	arg:"name,req,pos"   its name; required; may be given by position
//	alias:"other"        another name it is known by
//	doc:"…"              what it means
//	type:"string|[]id"   type, where the field's Go type does not say it
//	default:"…"          JSON, or plain text
//	choices:"a|b"        the only values allowed
//	min:"1"              the smallest number allowed
//	unit:"seconds"       unit of a number
//	raises:"KeyError"    error for another value; without choices, for one of the wrong type
//	secret:"yes"         its value is never shown
//
// and how an operation sends it:
//
//	wire:"a.b"           the key it travels under, where that differs
//	many:"ids"           the key of a list, where one id and a list differ
//	in:"path|query|none" where it goes, other than the body
//	wrap:"yes"           one value travels as a list of one
//	omit:"falsy"         false, 0, "" and empty lists are left out
//	null:"send"          travels as null when absent
//	only:"search"        of a search and its generator, the one that has it
var Tags = []string{"arg", "alias", "doc", "type", "default", "choices", "min", "unit", "raises", "secret", "set",
	"wire", "many", "in", "wrap", "omit", "null", "only"}

var goTypes = map[reflect.Type]Type{
	reflect.TypeFor[string]():         "string",
	reflect.TypeFor[ID]():             "id",
	reflect.TypeFor[IDs]():            "id|[]id",
	reflect.TypeFor[Strings]():        "string|[]string",
	reflect.TypeFor[Date]():           "date",
	reflect.TypeFor[Path]():           "path",
	reflect.TypeFor[int]():            "integer",
	reflect.TypeFor[int64]():          "integer",
	reflect.TypeFor[float64]():        "number",
	reflect.TypeFor[bool]():           "boolean",
	reflect.TypeFor[Object]():         "object",
	reflect.TypeFor[map[string]any](): "object",
	reflect.TypeFor[Filter]():         "filter",
	reflect.TypeFor[Geometry]():       "geometry",
	reflect.TypeFor[Drawing]():        "drawing",
	reflect.TypeFor[Sort]():           "sort",
	reflect.TypeFor[Callback]():       "function",
	reflect.TypeFor[time.Duration]():  "number", // seconds
	reflect.TypeFor[any]():            "any",
}

var extraType = reflect.TypeFor[Extra]()

var structs sync.Map // reflect.Type to []Param: the same structs are read by many operations

// TableOf describes a table whose keys are the parameters of a struct.
func TableOf[T any](name, doc string) Param {
	p := Param{Name: name, Doc: doc, Optional: true}
	if err := p.typeFrom(reflect.TypeFor[T]()); err != nil {
		panic(err) // a wrong tag, which every use of the struct shows
	}
	return p
}

// FromStruct reads the parameters off the tags of a struct. Embedded structs
// share parameters between several.
func FromStruct(t reflect.Type) ([]Param, error) {
	if known, ok := structs.Load(t); ok {
		return slices.Clone(known.([]Param)), nil
	}
	params, err := fromStruct(t, nil)
	if err != nil {
		return nil, err
	}
	structs.Store(t, params)
	return slices.Clone(params), nil
}

func fromStruct(t reflect.Type, path []int) ([]Param, error) {
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("input %s is not a struct", t)
	}
	var out []Param
	for i := range t.NumField() {
		field := t.Field(i)
		index := append(slices.Clone(path), i)
		if field.Anonymous && field.Type != extraType {
			embedded, err := fromStruct(field.Type, index)
			if err != nil {
				return nil, err
			}
			out = append(out, embedded...)
			continue
		}
		if _, ok := field.Tag.Lookup("arg"); !ok {
			continue
		}
		p, err := fromField(field, index)
		if err != nil {
			return nil, fmt.Errorf("argument %s: %w", field.Name, err)
		}
		out = append(out, p)
	}
	return out, nil
}

func fromField(field reflect.StructField, index []int) (p Param, err error) {
	tag := field.Tag
	parts := strings.Split(tag.Get("arg"), ",")
	p = Param{Name: parts[0], Aliases: Words(tag.Get("alias")), Doc: tag.Get("doc"), Type: Type(tag.Get("type")), Unit: tag.Get("unit"),
		Optional: true, Choices: Words(tag.Get("choices")), Raises: tag.Get("raises"), Secret: tag.Get("secret") == "yes", Set: tag.Get("set") == "yes",
		index: index, Wire: Wire{In: InBody, Key: tag.Get("wire"), KeyMany: tag.Get("many"), Wrap: tag.Get("wrap") == "yes",
			OmitFalsy: tag.Get("omit") == "falsy", SendNull: tag.Get("null") == "send", Only: tag.Get("only")}}
	if p.Key == "" {
		p.Key = p.Name
	}
	if in := tag.Get("in"); in != "" {
		p.In = Location(in)
	}
	for _, word := range parts[1:] {
		switch word {
		case "req":
			p.Optional = false
		case "pos":
			p.Positional = true
		default:
			return p, fmt.Errorf("unknown word %q in the arg tag", word)
		}
	}
	if p.Doc == "" {
		return p, fmt.Errorf("no doc")
	}
	if p.Type == "" {
		if err := p.typeFrom(field.Type); err != nil {
			return p, err
		}
	}
	if text, ok := tag.Lookup("min"); ok {
		min, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return p, err
		}
		p.Min = &min
	}
	if text, ok := tag.Lookup("default"); ok {
		var v any
		if json.Unmarshal([]byte(text), &v) != nil {
			v = text
		}
		if p.Default, err = p.Type.Check(v); err != nil {
			return p, fmt.Errorf("default %w", err)
		}
	}
	return p, nil
}

// typeFrom finds the type of a field. A pointer makes the zero value count; it
// does not change the type. A struct is a table with its fields as keys.
func (p *Param) typeFrom(t reflect.Type) (err error) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if known, ok := goTypes[t]; ok {
		p.Type = p.Type + known
		return nil
	}
	switch t.Kind() {
	case reflect.Slice:
		p.Type += "[]"
		return p.typeFrom(t.Elem())
	case reflect.Struct:
		p.Type, p.table = p.Type+"object", t
		p.Fields, err = FromStruct(t)
		return err
	}
	return fmt.Errorf("no argument type for %s", t)
}

// Words splits the value of a tag.
func Words(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == '|' || r == ' ' || r == ',' })
}

// checkTable checks a table, or a list of tables, by their declared keys. Keys
// that are not declared stay, unless they look like a misspelt one.
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

// Filled is the struct of a table with Fields, set from checked values.
func (p *Param) Filled(values map[string]any) (any, error) {
	in := reflect.New(p.table).Elem()
	err := p.assign(in, values)
	return in.Interface(), err
}

// CheckOrNull is Check for a value that may be null on purpose.
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

// Values reads a filled struct: its values in plain form, and its Extra.
// Optional fields with their zero value are absent; a pointer, or an empty but
// non-nil slice, makes a zero value count.
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
		if p.index == nil { // added to the declaration, not a field of the struct
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

// zeroCounts tells fields whose zero is a value like any other.
func zeroCounts(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int64, reflect.Float64:
		return true
	}
	return false
}

// plain gives a typed value the form that checks take.
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
	if one, ok := value.(string); ok && field.Kind() == reflect.Slice { // one or a list
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
	// Both sides know JSON.
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, field.Addr().Interface())
}
