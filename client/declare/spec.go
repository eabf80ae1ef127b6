// Package declare is the one definition of an operation: a typed field of a manager, with its
// route, effect and summary in tags, and an input struct whose tags name and describe the
// arguments. Calls from Go and from Lua, argument checks, documentation, dry runs and the local
// platform's routes all come from it. It does not depend on any manager.
package declare

import (
	"context"
	"reflect"

	"transect/client/schema"
)

// Effect is an operation's effect on the platform. Retries, dry runs and budgets depend on it.
type Effect string

// The effects.
const (
	Read   Effect = "read"   // changes nothing
	Create Effect = "create" // repeating it creates another record
	Set    Effect = "set"    // repeating it changes nothing
	Delete Effect = "delete" // removes something
)

// Repeatable reports whether a request that may have been processed can be sent
// again without harm.
func (e Effect) Repeatable() bool { return e != Create }

// Shape is the form of an operation's result.
type Shape string

// The shapes.
const (
	ShapeNone      Shape = "nothing"
	ShapeResource  Shape = "resource"
	ShapeResources Shape = "list of resources"
	ShapeSome      Shape = "resource, or list of resources for a list"
	ShapePage      Shape = "list of resources, or {total, results}"
	ShapeIterator  Shape = "iterator"
	ShapeObject    Shape = "table"
	ShapeGo        Shape = "value" // any result of a Go method
)

// Spec describes one operation completely.
type Spec struct {
	Manager    string
	Name       string
	Aliases    []string // other names of the operation
	Doc        string
	Effect     Effect
	Method     string   // HTTP method
	Routes     []string // one path; or two, for one id and for a list
	Params     []schema.Param
	Shape      Shape
	Returns    string // description of the result
	Records    bool   // an iterator's items are resources
	ResultKey  string // key of the answer that holds the result; "" for all of it
	Missing    string // error raised when that key is absent
	Rename     [2]string
	Chunk      int      // most ids in one request; 0 for no splitting
	Adds       []string // keys that are true in its requests unless extra overrides them
	Refused    []string // former arguments that a filter replaces
	Absent     []string // arguments and names of other revisions of the interface
	FilterKeys []string // documented keys of a search filter; any when empty
	NoExtra    bool     // extra arguments are refused
	ExtraWins  bool     // an extra argument overrides what the named ones put under its key
	Composed   bool     // its Go method calls operations, or proceeds to its request, which are intercepted
	Unknown    UnknownOutcome
	Makes      string       // manager of the records it creates; its own by default
	MadeID     string       // path of the new record's id in the result; "" for none
	Also       []string     // its other effects, as MANAGER.VERB or MANAGER.OPERATION
	Deprecated string       // what to use instead
	Raises     []Raise      // errors raised by the operation's code, besides those its declaration shows
	Out        reflect.Type // Go type of the result
	FirstPage  int          // first page number of a search

	Served int // most records that the platform returns without a limit; 0 if it takes none

	generatorLimit int64
	paged          bool // it iterates over the pages of a search
	verb           Verb // overrides the verb derived from the effect; "" for none

	invoke  func(ctx context.Context, a Args) (Value, error)
	proceed func(ctx context.Context, a Args) (Value, error)
	manager *Manager
}

// Raise is an error of an operation.
type Raise struct {
	Name string // of the error
	When string
}

// FullName returns the operation with its manager: "projects.create".
func (s *Spec) FullName() string { return s.Manager + "." + s.Name }

// Invoke calls the operation with arguments by name.
func (s *Spec) Invoke(ctx context.Context, a Args) (Value, error) {
	v, err := s.invoke(ctx, a)
	s.explainName(a, err)
	return v, err
}

// Transfers reports whether its Go method sends data outside of the chain.
func (s *Spec) Transfers() bool { return s.proceed != nil && !s.Composed }

// Secret reports whether its result holds a secret, which must not be kept.
func (s *Spec) Secret() bool { return s.manager.Secret != "" }

// Param finds a parameter by its name or an alias, or returns nil.
func (s *Spec) Param(name string) *schema.Param { return schema.Find(s.Params, name) }

// ParamNames lists the argument names, in documented order.
func (s *Spec) ParamNames() []string { return schema.Names(s.Params) }
