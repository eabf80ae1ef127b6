// Package declare is the one definition of an operation: a typed field of a
// manager, with its route, effect and summary in tags, and an input struct
// whose tags name and describe the arguments. Calls from Go and from Lua,
// argument checks, documentation, dry runs and the local platform's routes
// all come from it. It knows no manager.
package declare

import (
	"context"
	"reflect"

	"transect/client/schema"
)

// Effect says what an operation does to the platform. Retries, dry runs and
// budgets follow from it.
type Effect string

// The effects.
const (
	Read   Effect = "read"   // changes nothing
	Create Effect = "create" // repeating it makes a second thing
	Set    Effect = "set"    // repeating it changes nothing more
	Delete Effect = "delete" // takes something away
)

// Repeatable reports whether a request that may have been processed can be sent
// again without harm.
func (e Effect) Repeatable() bool { return e != Create }

// Shape says what form an operation's result has.
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
	ShapeGo        Shape = "value" // whatever a Go method returns
)

// Spec describes one operation completely.
type Spec struct {
	Manager    string
	Name       string
	Aliases    []string // other names the operation is called by
	Doc        string
	Effect     Effect
	Method     string   // HTTP method
	Routes     []string // one path; or two, for one id and for a list
	Params     []schema.Param
	Shape      Shape
	Returns    string // what comes back, in words
	Records    bool   // an iterator's items are resources
	ResultKey  string // key of the answer that holds the result; "" for the whole body
	Missing    string // error raised when that key is absent
	Rename     [2]string
	Chunk      int      // most ids in one request; 0 for no cutting
	Adds       []string // keys that are true in its requests unless extra says otherwise
	Refused    []string // arguments of old that a filter replaces
	Absent     []string // arguments and names of other revisions of the interface
	FilterKeys []string // what a search can filter by, where that is documented; anything when empty
	NoExtra    bool     // extra arguments are refused
	ExtraWins  bool     // an extra argument replaces what the named ones put under its key
	Composed   bool     // its Go method calls operations, or proceeds to its request; those are intercepted
	Unknown    UnknownOutcome
	Makes      string       // the manager of what it makes; its own, unless declared otherwise
	MadeID     string       // where the result holds the id of what it makes; "" where it does not
	Also       []string     // what else it does, as MANAGER.VERB or MANAGER.OPERATION
	Deprecated string       // what to use instead
	Raises     []Raise      // errors that the code of the operation raises, beside those its declaration shows
	Out        reflect.Type // Go type of the result
	FirstPage  int          // first page number of a search

	Served int // records that the platform returns at most without a limit; 0 where none is taken

	generatorLimit int64
	paged          bool // it goes through the pages of a search
	does           Verb // in place of what the effect says; "" for that

	invoke  func(ctx context.Context, a Args) (Value, error)
	proceed func(ctx context.Context, a Args) (Value, error)
	manager *Manager
}

// Raise is an error of an operation.
type Raise struct {
	Name string // of the error
	When string
}

// FullName is the operation with its manager: "projects.create".
func (s *Spec) FullName() string { return s.Manager + "." + s.Name }

// Invoke calls the operation with arguments by name.
func (s *Spec) Invoke(ctx context.Context, a Args) (Value, error) {
	v, err := s.invoke(ctx, a)
	s.explainName(a, err)
	return v, err
}

// Transfers reports whether its Go method sends without passing the chain's end.
func (s *Spec) Transfers() bool { return s.proceed != nil && !s.Composed }

// Secret reports whether its result holds a secret, which must not be kept.
func (s *Spec) Secret() bool { return s.manager.Secret != "" }

// Param finds a parameter by its name or an alias, or returns nil.
func (s *Spec) Param(name string) *schema.Param { return schema.Find(s.Params, name) }

// ParamNames lists the argument names, in documented order.
func (s *Spec) ParamNames() []string { return schema.Names(s.Params) }
