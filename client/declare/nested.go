package declare

import (
	"reflect"

	"transect/client/fault"
)

// Body is Bodies for one table: an argument of a known form, declared like the
// input of an operation.
func Body[In any](argument string, table Object) (map[string]any, error) {
	s := &Spec{Method: "POST", Routes: []string{"/"}}
	var err error
	if s.Params, err = params(reflect.TypeFor[In](), nil); err != nil {
		return nil, err
	}
	var req Request
	args, in, err := readTable[In](s, table)
	if err == nil {
		req, err = s.request(args, in, false)
	}
	if err != nil {
		f := fault.Find(fault.In("", err))
		f.Facts().Operation = "" // the operation with the argument is meant
		f.Facts().Message = argument + ": " + f.Facts().Message
		return nil, f
	}
	return req.Body, nil
}
