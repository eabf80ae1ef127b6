package schema

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/Masterminds/semver/v3"

	"transect/client/fault"
	"transect/client/geojson"
	"transect/client/semrange"
)

// JSONError is an invalid value in a JSON body, with its place.
type JSONError struct{ Key, Message string }

func (e *JSONError) Error() string { return e.Key + ": " + e.Message }

// MaxItems bounds lists of ids without Most.
const MaxItems = 100_000

// CheckJSON checks a non-null value of a JSON body, as a service does: ids are 24 hexadecimal
// digits, and undeclared fields of objects are accepted. The error is a JSONError with the full key
// of the invalid value.
func (p *Param) CheckJSON(key string, v any) error {
	if alternatives := strings.Split(string(p.Type), "|"); len(alternatives) > 1 {
		one := *p
		one.Type = Type(alternatives[0])
		for _, a := range slices.Backward(alternatives) {
			if Type(a).Kinds()&kindOf(v) != 0 && (a != "id" || kindOf(v) == Text) {
				one.Type = Type(a)
			}
		}
		return one.CheckJSON(key, v)
	}
	if elem, isList := strings.CutPrefix(string(p.Type), "[]"); isList {
		return p.checkList(key, Type(elem), v)
	}
	if elem, isMap := strings.CutPrefix(string(p.Type), "{}"); isMap {
		return p.checkMap(key, Type(elem), v)
	}
	switch p.Type {
	case "any", "sort":
		return nil
	case "object", "filter", "table":
		object, ok := v.(map[string]any)
		if !ok {
			return &JSONError{key, "must be an object, not " + describeJSON(v)}
		}
		return p.checkFields(key, object)
	case "id":
		if id, ok := v.(string); !ok || !IsID(id) {
			return &JSONError{key, "must be an identifier of 24 hexadecimal digits, not " + describeJSON(v)}
		}
		return nil
	}
	checked, err := p.Type.Check(v)
	if err == nil {
		err = p.allowed(checked)
	}
	var wrong *Mismatch
	var inner *JSONError
	switch {
	case errors.As(err, &inner):
		return &JSONError{joined(key, inner.Key), inner.Message}
	case errors.As(err, &wrong):
		return &JSONError{key, "must be " + wrong.Want.Article() + ", not " + describeJSON(v)}
	case err != nil:
		return &JSONError{key, messageOf(err)}
	}
	return nil
}

func (p *Param) checkList(key string, elem Type, v any) error {
	list, ok := v.([]any)
	most := p.Most
	if most == 0 {
		most = MaxItems
	}
	switch {
	case !ok && elem == "id":
		return &JSONError{key, "must be a list of identifiers, not " + describeJSON(v)}
	case !ok:
		return &JSONError{key, "must be a list, not " + describeJSON(v)}
	case elem == "id" && len(list) > most:
		return &JSONError{key, fmt.Sprintf("has %d identifiers; at most %d are accepted in one request", len(list), most)}
	}
	item, seen := *p, map[any]bool{}
	item.Type = elem
	for i, e := range list {
		at := fmt.Sprintf("%s[%d]", key, i)
		if err := item.CheckJSON(at, e); err != nil {
			return err
		}
		if object, ok := e.(map[string]any); ok && p.Distinct {
			e, at = object["name"], at+".name"
		}
		if p.Distinct && seen[e] {
			return &JSONError{at, fmt.Sprintf("%q is listed twice", e)}
		} else if p.Distinct {
			seen[e] = true
		}
	}
	return nil
}

// checkMap checks an object with arbitrary keys and values of one type.
func (p *Param) checkMap(key string, elem Type, v any) error {
	object, ok := v.(map[string]any)
	if !ok {
		return &JSONError{key, "must be an object, not " + describeJSON(v)}
	}
	value := *p
	value.Type = elem
	for _, name := range SortedKeys(object) {
		if err := value.CheckJSON(key+"."+name, object[name]); err != nil {
			return err
		}
	}
	return nil
}

// checkFields checks the declared fields of an object.
func (p *Param) checkFields(key string, object map[string]any) error {
	if err := CheckFields(p.Fields, key+".", object); err != nil || p.table == nil {
		return err
	}
	if _, err := p.checkTable(object); err != nil { // rules across fields
		return &JSONError{key, strings.TrimLeft(strings.TrimPrefix(messageOf(err), p.Name), ": ")}
	}
	return nil
}

// CheckFields checks the declared values of an object. Errors have prefix before the names.
func CheckFields(fields []Param, prefix string, object map[string]any) error {
	for i := range fields {
		f := &fields[i]
		switch v := object[f.Name]; {
		case v != nil:
			if err := f.CheckJSON(prefix+f.Name, v); err != nil {
				return err
			}
		case f.Required():
			return &JSONError{prefix + f.Name, "is required"}
		}
	}
	return nil
}

func messageOf(err error) string {
	if f := fault.Find(err); f != nil {
		return f.Facts().Message
	}
	return err.Error()
}

// describeJSON returns a JSON value as shown in messages.
func describeJSON(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case map[string]any:
		return "an object"
	default:
		return Describe(v)
	}
}

// IsID reports whether a text has the form of the service's identifiers.
func IsID(s string) bool {
	return len(s) == 24 && strings.Trim(s, "0123456789abcdef") == "" || IsPlannedID(s)
}

// Texts and values with a form of their own.

func toWord(v any) (any, error) {
	if v == "" {
		return nil, errors.New("must not be empty")
	}
	return v, nil
}

func toMD5(v any) (any, error) {
	text, _ := v.(string)
	if raw, err := hex.DecodeString(text); err != nil || len(raw) != 16 {
		return nil, errors.New("must be an MD5 of 32 hexadecimal digits")
	}
	return strings.ToLower(text), nil
}

func toVersion(v any) (any, error) {
	if _, err := semver.StrictNewVersion(fmt.Sprint(v)); err != nil {
		return nil, fmt.Errorf("%q is not a semantic version such as 1.0.0", v)
	}
	return v, nil
}

func toRange(v any) (any, error) {
	if _, err := semrange.Parse(fmt.Sprint(v)); err != nil || v == "" {
		return nil, fmt.Errorf("%q is not a range of versions", v)
	}
	return v, nil
}

func toPixels(v any) (any, error) {
	if n, err := strconv.ParseInt(fmt.Sprint(v), 10, 32); err != nil || n < 1 {
		return nil, errors.New("must be a number of pixels")
	}
	return v, nil
}

func toPosition(v any) (any, error) {
	list, _ := v.([]any)
	if len(list) != 2 || geojson.Geometry(map[string]any{"type": "Point", "coordinates": v}, geojson.Options{}) != nil {
		return nil, errors.New("must be [longitude, latitude] in degrees")
	}
	return v, nil
}

// toColour accepts red, green and blue, and optionally alpha or opacity.
func toColour(v any) (any, error) {
	numbers, err := numbersOf(v)
	if err != nil || len(numbers) != 3 && len(numbers) != 4 {
		return nil, errors.New("must be a list of 3 numbers, or 4 with an opacity")
	}
	for i, n := range numbers {
		if n < 0 || n > 255 {
			return nil, &JSONError{fmt.Sprintf("[%d]", i), fmt.Sprintf("must be between 0 and 255, not %v", n)}
		}
		if i < 3 && n != math.Trunc(n) {
			return nil, &JSONError{fmt.Sprintf("[%d]", i), "must be a whole number"}
		}
	}
	return v, nil
}

func toVector(v any) (any, error) {
	if numbers, err := numbersOf(v); err != nil || len(numbers) != 3 {
		return nil, errors.New("must be a vector of three numbers")
	}
	return v, nil
}

func numbersOf(v any) (numbers []float64, err error) {
	list, err := Type("[]number").Check(v)
	if err != nil {
		return nil, err
	}
	for _, n := range list.([]any) {
		numbers = append(numbers, n.(float64))
	}
	return numbers, nil
}

// toFeatures accepts a geometry, a Feature or a FeatureCollection.
func toFeatures(v any) (any, error) {
	switch object, _ := AsObject(v); object["type"] {
	case "Feature":
		return v, CheckFields(featureFields, "", object)
	case "FeatureCollection":
		return v, CheckFields(collectionFields, "", object)
	}
	return toGeometry(v)
}

var (
	featureFields = []Param{{Name: "type", Type: "string", Choices: []string{"Feature"}},
		{Name: "geometry", Type: "geometry"}}
	collectionFields = []Param{{Name: "features", Type: "[]object", Fields: featureFields}}
)
