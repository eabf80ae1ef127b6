// Package schema describes arguments: name, type, default, choices, unit and documentation, and
// checks values against that description. It is the only argument checker of the project.
// Operations (client/declare), Lua modules (runtime/vm), script arguments (stdlib), the local
// platform's routes (platform, json.go), help, stubs and the static check all read its Params.
//
// Params are written as literals (Lua modules) or read from the tags of a Go struct (FromStruct),
// which Fill then sets from checked values. The package does not depend on HTTP or Lua. Start
// reading at Param, then Type in types.go.
package schema

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"transect/client/fault"
	"transect/client/suggest"
)

// Param describes one argument, option or key.
type Param struct {
	Name       string
	Aliases    []string
	Doc        string
	Type       Type
	Unit       string // of a number, such as "seconds"
	Optional   bool
	Positional bool     // may be given by position, in declared order
	Default    any      // used when the argument is absent; nil for none
	Choices    []string // the only allowed strings, if any
	Min, Max   *float64 // range of allowed numbers, if bounded
	Raises     string   // error for an invalid value; ParameterError when empty
	Secret     bool     // its value is never shown
	Set        bool     // the order and repetitions of a list's items are irrelevant
	Distinct   bool     // items of a list must be distinct; objects differ by their names
	Most       int      // the longest list of ids in a request, if bounded
	Fields     []Param  // the keys of a table
	Wire                // how an operation sends it

	index []int        // of the originating struct field
	table reflect.Type // struct type of a table with Fields, or of a list's items
}

// Wire is the encoding of an operation's argument in a request.
type Wire struct {
	In        Location
	Key       string // dotted; the name by default
	KeyMany   string // key of a list, if one id and a list differ
	Wrap      bool   // a single value is sent as a list
	OmitFalsy bool   // false, 0, "" and empty lists are left out
	SendNull  bool   // sent as null when absent
	How       bool   // how to transfer a file, not what it is
	Only      string // "search" or "generator": the only operation of the pair with it
}

// Location is the part of a request that carries an argument.
type Location string

// The locations.
const (
	InBody  Location = "body"
	InPath  Location = "path"
	InQuery Location = "query"
	NotSent Location = "none"
)

// Required reports whether a call must have the argument.
func (p *Param) Required() bool {
	if p.Optional || p.Default != nil || p.Name == "..." {
		return false
	}
	return p.Type != "any" && (p.Type != "" || p.Fields == nil)
}

// Is reports whether name is the parameter's name or one of its aliases.
func (p *Param) Is(name string) bool {
	return p.Name == name || slices.Contains(p.Aliases, name)
}

// Find returns the parameter with a name or alias, or nil.
func Find(params []Param, name string) *Param {
	for i := range params {
		if params[i].Is(name) {
			return &params[i]
		}
	}
	return nil
}

// Names lists the names in declared order.
func Names(params []Param) []string {
	names := make([]string, len(params))
	for i := range params {
		names[i] = params[i].Name
	}
	return names
}

// Check returns a value in canonical form. The error is a fault whose message begins with the
// parameter's name; its cause is a Mismatch if the type is wrong.
func (p *Param) Check(v any) (any, error) {
	check := p.Type.Check
	if p.table != nil {
		check = p.checkTable
	}
	checked, err := check(v)
	if err == nil {
		err = p.allowed(checked)
	}
	if err == nil {
		return checked, nil
	}
	f := fault.Find(err)
	switch {
	case f != nil && p.Raises != "" && len(p.Choices) == 0:
		own := p.fault(true)
		*own.Facts() = *f.Facts()
		f = own
	case f != nil:
	case p.Secret:
		return nil, fault.Of(&fault.ParameterError{}, "%s must be %s", p.Name, p.Type.Article())
	default:
		f = p.fault(len(p.Choices) == 0)
		fault.Of(f, "%w", err)
	}
	f.Facts().Message = within(p.Name, f.Facts().Message)
	return nil, f
}

// fault returns the error for an invalid value.
func (p *Param) fault(own bool) fault.Fault {
	if own && p.Raises != "" {
		return fault.Named(p.Raises)
	}
	return &fault.ParameterError{}
}

// within prefixes a message about a value with a name.
func within(name, message string) string {
	switch {
	case strings.HasPrefix(message, "must be "):
		return name + " " + message
	case strings.HasPrefix(message, "["):
		return name + message
	}
	return name + ": " + message
}

// allowed checks a value in canonical form against choices and bounds.
func (p *Param) allowed(v any) error {
	switch v := v.(type) {
	case string:
		return p.Choose(v)
	case int64:
		return p.InRange(float64(v))
	case float64:
		return p.InRange(v)
	}
	return nil
}

// Choose refuses a string that is not one of the choices.
func (p *Param) Choose(text string) error {
	if len(p.Choices) == 0 || slices.Contains(p.Choices, text) {
		return nil
	}
	return fault.Of(p.fault(true), "must be one of %s, got %q%s", strings.Join(p.Choices, ", "), text,
		suggest.Suffix(text, p.Choices))
}

// InRange refuses a number below Min or above Max.
func (p *Param) InRange(n float64) error {
	switch {
	case (p.Min == nil || n >= *p.Min) && (p.Max == nil || n <= *p.Max):
		return nil
	case p.Min == nil:
		return fault.Of(p.fault(true), "must be at most %v, got %v", *p.Max, n)
	case p.Max == nil:
		return fault.Of(p.fault(true), "must be at least %v, got %v", *p.Min, n)
	}
	return fault.Of(p.fault(true), "must be between %v and %v, got %v", *p.Min, *p.Max, n)
}

// Missing returns the message for a missing argument.
func (p *Param) Missing() string {
	if p.Doc == "" {
		return fmt.Sprintf("%s is missing (%s)", p.Name, p.Type)
	}
	return fmt.Sprintf("%s is missing (%s: %s)", p.Name, p.Type, p.Doc)
}

// Unknown returns the error for an undeclared name. noun is its kind: argument, option, key.
func Unknown(noun, name string, params []Param) fault.Fault {
	return fault.Of(&fault.ParameterError{}, "unknown %s %s%s", noun, name, suggest.Suffix(name, Names(params)))
}
