package schema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Tags lists the struct tags that describe a parameter:
//
//	arg:"name,req,pos"   its name; required; may be given by position
//	alias:"other"        another accepted name
//	doc:"…"              what it means
//	type:"string|[]id"   type, unless the field's Go type determines it
//	default:"…"          JSON, or plain text
//	choices:"a|b"        the only values allowed
//	min:"1"              the smallest number allowed
//	unit:"seconds"       unit of a number
//	raises:"KeyError"    error for another value; without choices, for one of the wrong type
//	secret:"yes"         its value is never shown
//
// and how an operation sends it:
//
//	wire:"a.b"           the key on the wire, if different
//	many:"ids"           the key of a list, where one id and a list differ
//	in:"path|query|none" its place, other than the body
//	wrap:"yes"           a single value is sent as a list
//	omit:"falsy"         false, 0, "" and empty lists are left out
//	null:"send"          sent as null when absent
//	only:"search"        the only one of a search and its generator that has it
var Tags = []string{"arg", "alias", "doc", "type", "default", "choices", "min", "unit", "raises", "secret", "set",
	"how",
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
	reflect.TypeFor[time.Duration]():  "number", // in seconds
	reflect.TypeFor[any]():            "any",
}

var extraType = reflect.TypeFor[Extra]()

var structs sync.Map // reflect.Type to []Param, because many operations share structs

// TableOf describes a table whose keys are the parameters of a struct.
func TableOf[T any](name, doc string) Param {
	p := Param{Name: name, Doc: doc, Optional: true}
	if err := p.typeFrom(reflect.TypeFor[T]()); err != nil {
		panic(err) // a wrong tag, found by any use of the struct
	}
	return p
}

// FromStruct reads the parameters from the tags of a struct. Embedded structs share parameters
// between several.
func FromStruct(t reflect.Type) ([]Param, error) {
	if cached, ok := structs.Load(t); ok {
		return slices.Clone(cached.([]Param)), nil
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
	tag := ReadTag(field.Tag)
	parts := strings.Split(tag["arg"], ",")
	p = Param{Name: parts[0], Aliases: Words(tag["alias"]), Doc: tag["doc"], Type: Type(tag["type"]),
		Unit:     tag["unit"],
		Optional: true, Choices: Words(tag["choices"]), Raises: tag["raises"], Secret: tag["secret"] == "yes",
		Set:   tag["set"] == "yes",
		index: index, Wire: Wire{In: InBody, Key: tag["wire"], KeyMany: tag["many"], Wrap: tag["wrap"] == "yes",
			OmitFalsy: tag["omit"] == "falsy", SendNull: tag["null"] == "send", How: tag["how"] == "yes",
			Only: tag["only"]}}
	if p.Key == "" {
		p.Key = p.Name
	}
	if in := tag["in"]; in != "" {
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
	if text, ok := tag["min"]; ok {
		min, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return p, err
		}
		p.Min = &min
	}
	if text, ok := tag["default"]; ok {
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

// typeFrom determines the type of a field. A pointer makes the zero value count; it does not change
// the type. A struct is a table with its fields as keys.
func (p *Param) typeFrom(t reflect.Type) (err error) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if name, ok := goTypes[t]; ok {
		p.Type = p.Type + name
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
