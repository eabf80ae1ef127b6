// Package reference is the documentation of everything scripts can use: managers
// with their operations, modules with their functions. It is read from the
// declarations that also check calls, so it cannot disagree with the program.
//
// New makes the model from the declarations (declarations.go, results.go).
// Find looks up a name for transect doc and the prompt. A document is a page of
// text or Markdown; Definitions are stubs for editors; JSON is the model itself.
// Begin reading with the types below.
package reference

import (
	"transect/bindings"
	"transect/bindings/ingest"
	"transect/bindings/lookup"
	"transect/client"
	"transect/client/declare"
	"transect/runtime/examples"
	"transect/runtime/lint"
	"transect/runtime/module"
	"transect/stdlib"
)

// Reference lists everything that is documented, in reading order.
type Reference struct {
	Managers []*Group `json:"managers"`
	Modules  []*Group `json:"modules"` // sdk first
	Pages    []*Page  `json:"pages"`   // guides, recipes, records
}

// Group is a manager or a module.
type Group struct {
	Name       string   `json:"name"`
	Aliases    []string `json:"aliases,omitempty"`
	Doc        string   `json:"doc"`
	Operations []*Entry `json:"operations,omitempty"` // of a manager
	Functions  []*Entry `json:"functions,omitempty"`  // of a module, with the methods of its objects
	Fields     []Field  `json:"fields,omitempty"`
	Objects    []Object `json:"objects,omitempty"`
}

// Field is a constant of a module.
type Field struct {
	Name string `json:"name"`
	Doc  string `json:"doc"`
}

// Object is a type of objects made by a module.
type Object struct {
	Name string `json:"name"`
	Doc  string `json:"doc"`
}

// Entry is an operation of a manager, a function of a module, or a method.
type Entry struct {
	Manager    string      `json:"manager,omitempty"`
	Operation  string      `json:"operation,omitempty"`
	Module     string      `json:"module,omitempty"`
	Function   string      `json:"function,omitempty"`
	Object     string      `json:"object,omitempty"` // of a method
	Aliases    []string    `json:"aliases,omitempty"`
	Doc        string      `json:"doc"`
	Signature  string      `json:"signature"`
	Effect     string      `json:"effect,omitempty"` // read, create, set or delete
	Method     string      `json:"method,omitempty"` // of HTTP
	Paths      []string    `json:"paths,omitempty"`
	Parameters []Parameter `json:"parameters"`
	Extra      bool        `json:"extra,omitempty"` // accepts further keys in a table named extra
	Returns    string      `json:"returns"`         // in words
	Raises     []Raise     `json:"raises"`
	Deprecated string      `json:"deprecated,omitempty"` // what to use instead
	Example    string      `json:"example,omitempty"`    // complete

	Spec *declare.Spec `json:"-"` // of an operation

	example examples.Example
	result  results
	byName  bool // a module's function whose arguments may be named, in one table
}

// Parameter is an argument, or an option in a table of options.
type Parameter struct {
	Name       string      `json:"name"`
	Aliases    []string    `json:"aliases,omitempty"`
	Type       string      `json:"type"`
	Doc        string      `json:"doc"`
	Required   bool        `json:"required"`
	Positional bool        `json:"positional"`
	Default    any         `json:"default,omitempty"`
	Choices    []string    `json:"choices,omitempty"`
	Secret     bool        `json:"secret,omitempty"`
	Options    []Parameter `json:"options,omitempty"` // keys of a table of options

	lua string // type in definitions for editors
}

// Raise is an error and its cause.
type Raise struct {
	Name string `json:"name"`
	When string `json:"when"`
}

// New reads the declarations, with more modules of the program; see lint.Modules.
func New(more ...*module.Module) *Reference {
	r := &Reference{Pages: allPages()}
	for _, m := range client.Declarations() {
		r.Managers = append(r.Managers, managerGroup(m))
	}
	r.Modules = append(r.Modules, moduleGroup(bindings.Declaration()))
	for _, m := range lint.Modules(more...) {
		r.Modules = append(r.Modules, moduleGroup(m.Declare()))
	}
	known := examples.Of(bindings.Examples, ingest.Examples, lookup.Examples, stdlib.Examples)
	for _, g := range r.Groups() {
		for _, e := range g.Entries() {
			e.example = known[e.FullName()]
			e.Example = e.example.Text()
		}
	}
	r.page(pythonPage).Calls = r.pythonCalls()
	r.page(permissionsPage).Permissions = r.permissions()
	return r
}

// Groups lists managers, then modules.
func (r *Reference) Groups() []*Group {
	return append(append([]*Group{}, r.Managers...), r.Modules...)
}

// Entries lists the operations or functions of a group.
func (g *Group) Entries() []*Entry {
	return append(append([]*Entry{}, g.Operations...), g.Functions...)
}

// IsManager distinguishes managers from modules.
func (g *Group) IsManager() bool { return g.Operations != nil }

// FullName returns the full name of an entry: projects.create, task:await.
func (e *Entry) FullName() string {
	switch {
	case e.Manager != "":
		return e.Manager + "." + e.Operation
	case e.Object != "":
		return e.Object + ":" + e.Function
	}
	return e.Module + "." + e.Function
}

// Name returns the name within the group.
func (e *Entry) Name() string { return e.Operation + e.Function }
