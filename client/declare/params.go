package declare

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"strings"
)

var boolType = reflect.TypeFor[bool]()

// argTags is the closed set of tags of an argument:
//
//	arg:"name,req,pos"   its name; required; may be given by position
//	alias:"other"        another name it is known by
//	wire:"a.b"           the key it travels under, where that differs
//	many:"ids"           the key of a list, where one id and a list differ
//	in:"path|query|none" where it goes, other than the body
//	default:"…"          JSON, or plain text
//	choices:"a|b"        the only values allowed
//	raises:"KeyError"    error for another value; without choices, for one of the wrong type
//	wrap:"yes"           one value travels as a list of one
//	omit:"falsy"         false, 0, "" and empty lists are left out
//	null:"send"          travels as null when absent
//	secret:"yes"         its value is never shown
//	only:"search"        of a search and its generator, the one that has it
var argTags = []string{"arg", "alias", "doc", "wire", "many", "in", "default", "choices", "raises", "wrap", "omit", "null", "secret", "only"}

// params reads the arguments off an input struct. Embedded structs share
// arguments between operations.
func params(t reflect.Type, path []int) ([]Param, error) {
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("input %s is not a struct", t)
	}
	var out []Param
	for i := 0; i < t.NumField(); i++ {
		field := t.Field(i)
		index := append(slices.Clone(path), i)
		if field.Anonymous && field.Type != extraType {
			embedded, err := params(field.Type, index)
			if err != nil {
				return nil, err
			}
			out = append(out, embedded...)
			continue
		}
		if _, ok := field.Tag.Lookup("arg"); !ok {
			continue
		}
		p, err := param(field, index)
		if err != nil {
			return nil, fmt.Errorf("argument %s: %w", field.Name, err)
		}
		out = append(out, p)
	}
	return out, nil
}

func param(field reflect.StructField, index []int) (Param, error) {
	tag := field.Tag
	parts := strings.Split(tag.Get("arg"), ",")
	p := Param{
		Name: parts[0], Aliases: split(tag.Get("alias")), Doc: tag.Get("doc"), Place: InBody, Wire: tag.Get("wire"),
		WireMany: tag.Get("many"), Choices: split(tag.Get("choices")), ChoiceName: tag.Get("raises"),
		Wrap: tag.Get("wrap") == "yes", DropFalsy: tag.Get("omit") == "falsy", SendNull: tag.Get("null") == "send",
		Secret: tag.Get("secret") == "yes", only: tag.Get("only"), index: index,
	}
	for _, word := range parts[1:] {
		switch word {
		case "req":
			p.Required = true
		case "pos":
			p.Positional = true
		default:
			return p, fmt.Errorf("unknown word %q in the arg tag", word)
		}
	}
	if p.Doc == "" {
		return p, fmt.Errorf("no doc")
	}
	if p.Wire == "" {
		p.Wire = p.Name
	}
	switch tag.Get("in") {
	case "path":
		p.Place = InPath
	case "query":
		p.Place = InQuery
	case "none":
		p.Place = NotSent
	}
	var err error
	if p.Type, err = typeOf(field.Type); err != nil {
		return p, err
	}
	if text, ok := tag.Lookup("default"); ok {
		var v any
		if json.Unmarshal([]byte(text), &v) != nil {
			v = text
		}
		if p.Default, err = p.Type.check(p.Type, v); err != nil {
			return p, fmt.Errorf("default: %w", err)
		}
	}
	return p, nil
}

func number(tag reflect.StructTag, key string, otherwise int) (int, error) {
	text, ok := tag.Lookup(key)
	if !ok {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("tag %s: %w", key, err)
	}
	return n, nil
}
