package declare

import (
	"slices"
	"strings"
)

// Verb is a kind of access to records. Permission rules append it to the records' manager: projects.search,
// datasets.delete.
type Verb string

// The verbs. A search grants all that a describe does, and a describe all that a read does.
const (
	Reads     Verb = "read"     // changes nothing
	Searches  Verb = "search"   // lists records whose ids need not be known
	Describes Verb = "describe" // returns records by their ids
	Creates   Verb = "create"   // makes records
	Changes   Verb = "change"   // overwrites or adds something in records
	Deletes   Verb = "delete"   // removes records, or parts of them
)

// Verbs lists the verbs in the order they are documented.
var Verbs = []Verb{Reads, Searches, Describes, Creates, Changes, Deletes}

// implies maps a verb to the one whose denial denies it as well.
var implies = map[Verb]Verb{Searches: Describes, Describes: Reads}

// Verb returns the operation's verb, derived from effect and result unless a tag sets it.
func (s *Spec) Verb() Verb {
	switch {
	case s.verb != "":
		return s.verb
	case s.Effect == Create:
		return Creates
	case s.Effect == Set:
		return Changes
	case s.Effect == Delete:
		return Deletes
	case s.lists():
		return Searches
	case s.answersWithRecords():
		return Describes
	}
	return Reads
}

// lists reports whether the result has records that no argument names.
func (s *Spec) lists() bool {
	switch s.Shape {
	case ShapePage:
		return true
	case ShapeIterator:
		return s.Records
	case ShapeResources:
		return !slices.ContainsFunc(s.ParamNames(), func(name string) bool { return s.Param(name).Type == "[]id" })
	}
	return false
}

func (s *Spec) answersWithRecords() bool {
	return s.Shape == ShapeResource || s.Shape == ShapeResources || s.Shape == ShapeSome
}

// AllowedBy lists the names in rules that allow the operation: its own, and its verb on records of its manager.
func (s *Spec) AllowedBy() []string {
	names := s.names()
	if s.Verb() == Creates && s.Makes != s.Manager {
		return names
	}
	names = append(names, s.manager.fullNames(string(s.Verb()))...)
	if s.Effect == Read {
		names = append(names, s.manager.fullNames(string(Reads))...)
	}
	if s.Verb() == Searches {
		names = append(names, s.manager.withVerb(Searches)...)
	}
	return names
}

// DeniedBy lists the names in rules that deny the operation: all names for something it can do.
// They include other operations that do the same, so that none of them circumvents the rule.
func (s *Spec) DeniedBy() []string {
	names := s.names()
	can := func(manager string, verb Verb) {
		m := s.manager.sibling(manager)
		for ; verb != ""; verb = implies[verb] {
			names = append(names, m.fullNames(string(verb))...)
			if verb == Searches || verb == Describes {
				names = append(names, m.withVerb(verb)...)
			}
		}
	}
	if s.Verb() == Creates {
		can(s.Makes, Creates)
	} else {
		can(s.Manager, s.Verb())
	}
	if s.Effect == Read {
		can(s.Manager, Reads)
	} else if s.Effect == Set || s.Verb() == Changes {
		can(s.Manager, Changes)
		if s.answersWithRecords() {
			can(s.Manager, Describes)
		}
	}
	if s.Effect == Delete {
		for _, held := range s.manager.Holds {
			can(held, Deletes)
		}
	}
	for _, deed := range s.Also {
		manager, verb, _ := strings.Cut(deed, ".")
		can(manager, Verb(verb))
	}
	for _, other := range s.manager.declared() {
		if s.Verb() == other.Verb() && s.sendsAs(other) {
			names = append(names, other.names()...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// sendsAs reports whether the operation can send all requests of another one.
func (s *Spec) sendsAs(other *Spec) bool {
	return s.Method == other.Method && len(other.Routes) > 0 && !slices.ContainsFunc(other.Routes,
		func(route string) bool {
			return !slices.ContainsFunc(s.Routes, func(own string) bool { return plural(own) == plural(route) })
		})
}

// plural returns a route without the endings that distinguish one record from several:
// create-feature and create-features are the same.
func plural(route string) string { return strings.ReplaceAll(route+"-", "s-", "-") }

// names lists the full names of the operation, with its aliases and its manager's.
func (s *Spec) names() (names []string) {
	for _, name := range append([]string{s.Name}, s.Aliases...) {
		names = append(names, s.manager.fullNames(name)...)
	}
	return names
}

// fullNames lists the full names for a name within the manager.
func (m *Manager) fullNames(name string) (names []string) {
	for _, manager := range append([]string{m.Name}, m.Aliases...) {
		names = append(names, manager+"."+name)
	}
	return names
}

// withVerb lists the names of the operations with a verb on the manager's records.
func (m *Manager) withVerb(verb Verb) (names []string) {
	for _, s := range m.declared() {
		if s.Verb() == verb {
			names = append(names, s.names()...)
		}
	}
	return names
}

// declared lists all operations, including those that the interface's revision lacks.
func (m *Manager) declared() []*Spec {
	m.Ops()
	return m.ops
}

// sibling returns another manager of the same client.
func (m *Manager) sibling(name string) *Manager {
	for _, other := range m.all {
		if other.Name == name {
			return other
		}
	}
	return m
}
