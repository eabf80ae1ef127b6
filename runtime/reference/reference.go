// Package reference is one view of everything scripts can use: the managers
// with their operations, the modules with their functions. All of it is read
// off the declarations that calls are checked by, so nothing written from it,
// help, reference, definitions for editors, can say something else than what
// the program does.
package reference

import (
	"slices"

	"transect/bindings"
	"transect/client"
	"transect/stdlib"
)

// Reference lists everything that is documented, in reading order.
type Reference struct {
	Managers []*Group `json:"managers"`
	Modules  []*Group `json:"modules"` // sdk first
}

// Group is a manager or a module.
type Group struct {
	Name       string   `json:"name"`
	Aliases    []string `json:"aliases,omitempty"`
	Doc        string   `json:"doc"`
	Operations []*Entry `json:"operations,omitempty"` // of a manager
	Functions  []*Entry `json:"functions,omitempty"`  // of a module, and methods of its objects
	Fields     []Field  `json:"fields,omitempty"`
	Objects    []Object `json:"objects,omitempty"`

	preamble string // what the examples begin with
}

// Field is a value of a module.
type Field struct {
	Name string `json:"name"`
	Doc  string `json:"doc"`
}

// Object is a kind of object that functions of a module make.
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
	Object     string      `json:"object,omitempty"` // whose method it is
	Aliases    []string    `json:"aliases,omitempty"`
	Doc        string      `json:"doc"`
	Signature  string      `json:"signature"`
	Effect     string      `json:"effect,omitempty"` // read, create, set or delete
	Method     string      `json:"method,omitempty"` // of HTTP
	Paths      []string    `json:"paths,omitempty"`
	Parameters []Parameter `json:"parameters"`
	Extra      bool        `json:"extra,omitempty"` // takes further keys in a table named extra
	Returns    string      `json:"returns"`         // in words
	Raises     []Raise     `json:"raises"`
	Deprecated string      `json:"deprecated,omitempty"` // what to use instead
	Example    string      `json:"example,omitempty"`    // runs by itself

	section string // the example without what it begins with
	result  results
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
	Options    []Parameter `json:"options,omitempty"` // what a table of options may hold

	lua string // its type in definitions for editors
}

// Raise is an error and when it is raised.
type Raise struct {
	Name string `json:"name"`
	When string `json:"when"`
}

// New reads the declarations.
func New() *Reference {
	c := &Reference{}
	types := resultTypes()
	for _, m := range client.Declarations() {
		c.Managers = append(c.Managers, manager(m, types))
	}
	c.Modules = append(c.Modules, modulePage(bindings.Declaration()))
	for _, m := range slices.Concat(bindings.Modules(), stdlib.Modules()) {
		c.Modules = append(c.Modules, modulePage(m))
	}
	return c
}

// Groups lists managers, then modules.
func (c *Reference) Groups() []*Group {
	return append(append([]*Group{}, c.Managers...), c.Modules...)
}

// Entries lists what a group offers.
func (g *Group) Entries() []*Entry {
	return append(append([]*Entry{}, g.Operations...), g.Functions...)
}

// IsManager tells managers from modules.
func (g *Group) IsManager() bool { return g.Operations != nil }

// FullName is how an entry is named everywhere: projects.create, task:await.
func (e *Entry) FullName() string {
	switch {
	case e.Manager != "":
		return e.Manager + "." + e.Operation
	case e.Object != "":
		return e.Object + ":" + e.Function
	}
	return e.Module + "." + e.Function
}

// Name is the entry's name within its group.
func (e *Entry) Name() string { return e.Operation + e.Function }
