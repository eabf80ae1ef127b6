package declare

import (
	"fmt"
	"maps"
	"reflect"

	"transect/client/fault"
	"transect/client/suggest"
)

// Bodies is for operations that take a list of tables, each with the arguments
// of the operation whose input is In: every table is checked as a call would
// be, and becomes the body such a call sends. Keys that are no argument travel
// unchanged, unless they look like a misspelt one. The tables stay as they are.
func Bodies[In any](argument string, tables []Object) ([]any, error) {
	bodies := make([]any, len(tables))
	return bodies, eachTable(argument, tables, func(i int, s *Spec, a Args, in In) error {
		req, err := s.request(a, in, false)
		bodies[i] = req.Body
		return err
	})
}

// Inputs checks tables as Bodies does and gives them as filled inputs.
func Inputs[In any](argument string, tables []Object) ([]In, error) {
	inputs := make([]In, len(tables))
	return inputs, eachTable(argument, tables, func(i int, _ *Spec, _ Args, in In) error {
		inputs[i] = in
		return nil
	})
}

func eachTable[In any](argument string, tables []Object, use func(i int, s *Spec, a Args, in In) error) error {
	s := &Spec{Method: "POST", Routes: []string{"/"}}
	var err error
	if s.Params, err = params(reflect.TypeFor[In](), nil); err != nil {
		return err
	}
	for i, table := range tables {
		a, in, err := readTable[In](s, table)
		if err == nil {
			err = use(i, s, a, in)
		}
		if err != nil {
			f := fault.Find(fault.In("", err))
			f.Facts().Operation = "" // the operation with the list is meant
			f.Facts().Message = fmt.Sprintf("%s[%d]: %s", argument, i+1, f.Facts().Message)
			return f
		}
	}
	return nil
}

func readTable[In any](s *Spec, table Object) (a Args, in In, err error) {
	if a, err = s.sorted(table); err != nil {
		return a, in, err
	}
	if a, err = s.Checked(a); err != nil {
		return a, in, err
	}
	if err = s.Fill(&in, a); err != nil {
		return a, in, err
	}
	if v, ok := any(in).(Validator); ok {
		err = v.Validate()
	}
	return a, in, err
}

// sorted tells the arguments in a table from what travels unchanged.
func (s *Spec) sorted(table Object) (Args, error) {
	a := Args{Values: map[string]any{}, Extra: map[string]any{}}
	for _, key := range sortedKeys(table) {
		v := table[key]
		if v != nil {
			v = plain(reflect.ValueOf(v))
		}
		further, isTable := asObject(v)
		switch {
		case s.Param(key) != nil:
			a.Values[key] = v
		case key == "extra" && isTable:
			maps.Copy(a.Extra, further)
		case suggest.Nearest(key, s.ParamNames()) != "":
			return a, fault.Hinted(fault.Of(&fault.ParameterError{}, "unknown key %s", key),
				"%s to send it as it is, put it in extra = { %s = … }", suggest.Hint(key, s.ParamNames()), key)
		default:
			a.Extra[key] = v
		}
	}
	return a, nil
}
