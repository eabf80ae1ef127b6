package schema

import (
	"fmt"
	"strings"
)

// Type is the kind of value a parameter accepts: a name of the table below, a list of one ("[]id"),
// or alternatives ("id|[]id"). Other names are types of Lua objects, which only runtime/vm can
// distinguish.
type Type string

// Kind classifies a value. Kinds are bits: a set is their union.
type Kind uint16

// The kinds.
const (
	Nil       Kind = 1 << iota
	NullValue      // JSON null given on purpose
	Text
	Integer
	Fraction // a number that is not an integer
	NotFinite
	Boolean
	List
	Table      // with keys
	EmptyTable // may be a list or a table with keys
	Function
	Resource // represents its id
	Time
	Error
	Other
)

// In the JSON of requests (CheckJSON), "{}word" is an object of arbitrary keys with values of one type.

// base is a type other than a list or alternatives.
type base struct {
	kinds   Kind
	article string
	convert func(v any) (any, error) // converts a value of those kinds to canonical form
}

var bases map[Type]base

func init() { // converters refer to Check
	bases = map[Type]base{
		"any":      {^Kind(0), "any value", as},
		"string":   {Text, "a string", toString},
		"path":     {Text, "a path", toString},
		"id":       {Text | Resource | Table, "an id", toID},
		"date":     {Text | Time, "a date", toDate},
		"word":     {Text, "a string", toWord},
		"md5":      {Text, "an MD5", toMD5},
		"version":  {Text, "a version", toVersion},
		"range":    {Text, "a range of versions", toRange},
		"integer":  {Integer, "an integer", toInteger},
		"pixels":   {Integer | Text, "a number of pixels", toPixels},
		"number":   {Integer | Fraction, "a number", toNumber},
		"boolean":  {Boolean, "true or false", as},
		"table":    {List | Table | EmptyTable, "a table", as},
		"object":   {Table | EmptyTable, "a table with keys", toObject},
		"filter":   {Table | EmptyTable, "a filter table", toFilter},
		"geometry": {Table | EmptyTable, "a GeoJSON geometry", toGeometry},
		"drawing":  {Table | EmptyTable, "a GeoJSON geometry", toDrawing},
		"features": {Table | EmptyTable, "a GeoJSON geometry, Feature or FeatureCollection", toFeatures},
		"position": {List, "[longitude, latitude]", toPosition},
		"colour":   {List, "a list of 3 or 4 numbers", toColour},
		"vector":   {List, "a vector of three numbers", toVector},
		"sort":     {Table | List | EmptyTable, "a table of attribute = 1 or -1", toSort},
		"function": {Function, "a function", as},
		"error":    {Error, "an error", as},
		"userdata": {Other, "a userdata", as},
		"nil":      {Nil, "nil", as},
	}
}

func as(v any) (any, error) { return v, nil }

// Elem returns the type of a list's items, "" for other types.
func (t Type) Elem() Type {
	elem, _ := strings.CutPrefix(string(t), "[]")
	if elem == string(t) || strings.Contains(elem, "|") {
		return ""
	}
	return Type(elem)
}

// Kinds returns the kinds that the type accepts, none for an unknown name.
func (t Type) Kinds() Kind {
	kinds := Kind(0)
	for rest, more := string(t), true; more; {
		var one string
		one, rest, more = strings.Cut(rest, "|")
		if strings.HasPrefix(one, "[]") {
			kinds |= List | EmptyTable
		} else if strings.HasPrefix(one, "{}") {
			kinds |= Table | EmptyTable
		} else {
			kinds |= bases[Type(one)].kinds
		}
	}
	return kinds
}

// Keyed reports whether a table with keys is a value of the type.
func (t Type) Keyed() bool { return t != "id" && t != "id|[]id" && t.Kinds()&Table != 0 }

// String returns the type's name in documentation.
func (t Type) String() string {
	return t.words("", func(one Type) string { return string(one) })
}

// Article returns the type's name in messages.
func (t Type) Article() string {
	return t.words("a ", func(one Type) string {
		if b, ok := bases[one]; ok {
			return b.article
		}
		return Article(string(one))
	})
}

func (t Type) words(beforeList string, name func(Type) string) string {
	alternatives := strings.Split(string(t), "|")
	for i, one := range alternatives {
		switch elem := Type(one).Elem(); {
		case elem != "":
			alternatives[i] = beforeList + "list of " + plural(elem.String())
		case one == "drawing":
			alternatives[i] = name("geometry")
		default:
			alternatives[i] = name(Type(one))
		}
	}
	return strings.Join(alternatives, " or ")
}

// Article puts "a" or "an" before a name.
func Article(name string) string {
	if name != "" && strings.ContainsAny(name[:1], "aeioAEIO") {
		return "an " + name
	}
	return "a " + name
}

func plural(name string) string {
	if elem, ok := strings.CutPrefix(name, "list of "); ok {
		return "lists of " + elem
	}
	if name == "any" {
		return "values"
	}
	if stem, ok := strings.CutSuffix(name, "y"); ok {
		return stem + "ies"
	}
	return name + "s"
}

// Mismatch is a value of the wrong type.
type Mismatch struct {
	Want Type
	Got  string // the value or its kind, as shown
}

func (m *Mismatch) Error() string { return fmt.Sprintf("must be %s, got %s", m.Want.Article(), m.Got) }
