// Package api is the contract of the service as the client declares it: which
// operations there are, under which method and path, and which arguments their
// requests carry. The platform registers a handler for each operation; this
// package checks a request before its handler sees it, so that handlers hold
// only what the service means.
//
// Operations reads the declarations (begin there); Check is called with every
// request's arguments. Nothing in here knows a resource, a database or HTTP.
// The reviewed contract in testdata/contract.txt, which the declarations are
// tested against, keeps the two sides from drifting together.
package api

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"transect/client/declare"
	"transect/client/schema"
	"transect/client/suggest"
)

// Operation is one method and path of the service.
type Operation struct {
	Manager, Name string
	Method        string
	Path          string // begins with a slash; {name} is an argument
	Effect        declare.Effect
	Shape         declare.Shape
	ResultKey     string // key of the answer that holds the result; "" for the whole body
	FirstPage     int64  // number of a search's first page
	Params        []Param
}

// Param is one argument as it travels.
type Param struct {
	schema.Param
	Key      string // dotted key of the body or the query
	Required bool
	form     form
	max      int // longest list of identifiers
}

// form reports whether an argument of one or several identifiers is a list on
// this path.
type form int

const (
	either form = iota
	single
	list
)

// Longest lists of identifiers where no declaration cuts them into chunks.
const (
	maxRead    = 1000
	maxWritten = 100_000
)

// Error says what is wrong with an argument.
type Error struct{ Key, Message string }

func (e *Error) Error() string { return e.Key + ": " + e.Message }

// Operations lists the operations that the managers declare, each method and
// path once. Operations that share one accept each other's arguments, and
// require those that all of them require.
func Operations(managers []*declare.Manager) []*Operation {
	var all []*Operation
	known := map[string]*Operation{}
	for _, m := range managers {
		for _, s := range m.Ops {
			if s.Shape == declare.ShapeIterator && s.Name != "search_generator" {
				continue // made of requests that other operations declare
			}
			for i, path := range s.Routes {
				op := newOperation(s, path, i)
				if first := known[op.Method+" "+path]; first != nil {
					first.merge(op)
					continue
				}
				known[op.Method+" "+path] = op
				all = append(all, op)
			}
		}
	}
	return all
}

// newOperation reads a declaration for one of its paths: those come in pairs,
// for one identifier and for a list.
func newOperation(s *declare.Spec, path string, i int) *Operation {
	op := &Operation{Manager: s.Manager, Name: s.Name, Method: s.Method, Path: path, Effect: s.Effect,
		Shape: s.Shape, ResultKey: s.ResultKey, FirstPage: int64(s.FirstPage)}
	limit := s.Chunk
	switch {
	case limit > 1:
	case s.Effect == declare.Read:
		limit = maxRead
	default:
		limit = maxWritten
	}
	for j := range s.Params {
		p := Param{Param: s.Params[j], Key: s.Params[j].Key, Required: s.Params[j].Required(), max: limit}
		if p.In == schema.NotSent || strings.Contains(p.Key, "$") {
			continue
		}
		paired := p.KeyMany != "" && len(s.Routes) > 1
		switch {
		case p.In == schema.InPath:
			p.Key = p.Name
		case paired && i%2 == 1:
			p.Key, p.form = p.KeyMany, list
		case p.Wrap:
			p.form = list
		case paired || s.Chunk == 1:
			p.form = single
		}
		if head, _, inList := strings.Cut(p.Key, "["); inList {
			p.Key, p.Type = head, "[]object"
		}
		if op.Param(p.Key) == nil {
			op.Params = append(op.Params, p)
		}
	}
	if s.Effect == declare.Read && s.Method == "POST" && op.Param("fields") == nil {
		op.Params = append(op.Params, Param{Param: schema.Param{Name: "fields", Type: "object"}, Key: "fields"})
	}
	return op
}

// merge adds the arguments of another declaration of the same method and path.
func (o *Operation) merge(other *Operation) {
	for i := range o.Params {
		p := &o.Params[i]
		twin := other.Param(p.Key)
		p.Required = p.Required && twin != nil && twin.Required
		if twin != nil && twin.Type != p.Type {
			p.Type = "any"
		}
	}
	for _, p := range other.Params {
		if o.Param(p.Key) == nil {
			p.Required = false
			o.Params = append(o.Params, p)
		}
	}
}

// Override leaves the types of arguments to the service: those that travel in
// another form than callers give them in, and those with narrower rules.
func (o *Operation) Override(keys []string) {
	for _, key := range keys {
		if p := o.Param(key); p != nil {
			p.Type = "any"
		}
	}
}

// Param finds an argument by its key, or returns nil.
func (o *Operation) Param(key string) *Param {
	for i := range o.Params {
		if o.Params[i].Key == key {
			return &o.Params[i]
		}
	}
	return nil
}

// Creates reports whether the operation makes one of the things that an argument
// called name would identify.
func (o *Operation) Creates(name string) bool {
	p := o.Param(name)
	return o.Effect == declare.Create && o.Shape == declare.ShapeResource && (p == nil || p.Type != "id")
}

// List returns the key under which the operation takes a list of identifiers
// of what it works on, or "".
func (o *Operation) List() string {
	for _, p := range o.Params {
		isList := p.form == list || o.Effect == declare.Read && p.Type == "[]id"
		if isList && p.Required {
			return p.Key
		}
	}
	return ""
}

// Check tells what is wrong with the arguments of a request, or nil.
func (o *Operation) Check(args map[string]any) error {
	for i := range o.Params {
		p := &o.Params[i]
		v, err := lookup(args, p.Key)
		switch {
		case err != nil:
			return err
		case v == nil && p.Required:
			return &Error{p.Key, "is required"}
		case v == nil:
			continue
		}
		if err := p.check(v); err != nil {
			return &Error{p.Key, err.Error()}
		}
	}
	return nil
}

// CheckKeys refuses keys that look like misspelt arguments. Others that the
// operation does not know are let pass: clients may send arguments of their own.
func (o *Operation) CheckKeys(args map[string]any, more []string) error {
	known := slices.Clone(more)
	for _, p := range o.Params {
		head, _, _ := strings.Cut(p.Key, ".")
		known = append(known, head)
	}
	return CheckKeys(args, known)
}

// Declared are the arguments of a request that the operation declares.
func (o *Operation) Declared(args map[string]any) map[string]any {
	declared := map[string]any{}
	for _, p := range o.Params {
		head, _, _ := strings.Cut(p.Key, ".")
		if v, given := args[head]; given {
			declared[head] = v
		}
	}
	return declared
}

// CheckKeys refuses keys that are close to a known one.
func CheckKeys(args map[string]any, known []string) error {
	for _, key := range slices.Sorted(maps.Keys(args)) {
		if slices.Contains(known, key) {
			continue
		}
		if hint := suggest.Hint(key, known); hint != "" {
			return &Error{key, "is not an argument of this request; " + hint}
		}
	}
	return nil
}

// lookup follows a dotted key. What is on the way must be an object.
func lookup(args map[string]any, key string) (any, error) {
	path := ""
	for {
		head, rest, nested := strings.Cut(key, ".")
		v := args[head]
		if !nested || v == nil {
			return v, nil
		}
		object, ok := v.(map[string]any)
		if !ok {
			return nil, &Error{path + head, fmt.Sprintf("must be an object, not %v", kind(v))}
		}
		args, key, path = object, rest, path+head+"."
	}
}
