package reference

import (
	"slices"
	"strings"

	"transect/client/fault"
	"transect/client/suggest"
)

// Lookup finds the page for a name: a guide, a record, a recipe, or a result of Find. The value is the same
// for programs.
func (r *Reference) Lookup(name string) (*Document, any, error) {
	p := r.page(name)
	if g := r.group(name); p != nil && g == nil {
		return p.Document(), p, nil
	}
	g, e, err := r.Find(name)
	switch {
	case err != nil:
		if field := r.recordField(name); field != nil {
			return field.Document(), field, nil
		}
		return nil, nil, err
	case e != nil:
		return e.Document(), e, nil
	}
	return g.Document(), g, nil
}

// recordField returns the record in a name such as Dataset.geometry.
func (r *Reference) recordField(name string) *Page {
	record, field, dotted := strings.Cut(name, ".")
	if p := r.page(record); dotted && p != nil && p.Record != nil && p.Record.Field(field) != nil {
		return p
	}
	return nil
}

// Find returns a manager or a module, or one of their entries, by name or alias: projects, projects.create,
// sdk.projects.create, json.encode, task:await. The entry is nil for a whole group. An unknown name is a
// UsageError with the nearest name as its hint.
func (r *Reference) Find(name string) (*Group, *Entry, error) {
	if rest, ok := strings.CutPrefix(name, "sdk."); ok && r.group(groupName(rest)) != nil {
		name = rest
	}
	g := r.group(groupName(name))
	if g != nil && groupName(name) == name {
		return g, nil, nil
	}
	for _, g := range r.Groups() {
		for _, e := range g.Entries() {
			if e.FullName() == name {
				return g, e, nil
			}
		}
	}
	if g != nil {
		for _, e := range g.Entries() {
			if e.named(name[len(groupName(name))+1:]) {
				return g, e, nil
			}
		}
	}
	return nil, nil, r.unknown(name, g)
}

// FindOperation returns an operation by its full name or an alias.
func (r *Reference) FindOperation(name string) (*Entry, error) {
	_, e, err := r.Find(name)
	if err == nil && (e == nil || e.Manager == "") {
		err = fault.Hinted(fault.Of(&fault.UsageError{}, "%s is not an operation", name),
			"such as projects.search; transect doc lists them")
	}
	return e, err
}

func (e *Entry) named(name string) bool { return e.Name() == name || slices.Contains(e.Aliases, name) }

// groupName returns the part of a name before its dot or colon.
func groupName(name string) string {
	if i := strings.IndexAny(name, ".:"); i >= 0 {
		return name[:i]
	}
	return name
}

func (r *Reference) group(name string) *Group {
	for _, g := range r.Groups() {
		if g.Name == name || slices.Contains(g.Aliases, name) {
			return g
		}
	}
	return nil
}

// Names lists every name that Lookup accepts, without aliases.
func (r *Reference) Names() []string {
	var names []string
	for _, p := range r.Pages {
		names = append(names, p.Name)
	}
	for _, g := range r.Groups() {
		names = append(append(names, g.Name), g.entryNames()...)
	}
	return names
}

// Operations lists the full names of the operations.
func (r *Reference) Operations() []string {
	var names []string
	for _, g := range r.Managers {
		names = append(names, g.entryNames()...)
	}
	return names
}

func (g *Group) entryNames() []string {
	var names []string
	for _, e := range g.Entries() {
		names = append(names, e.FullName())
	}
	return names
}

// unknown suggests the nearest name, or the full name of an entry that was given without its group.
func (r *Reference) unknown(name string, g *Group) error {
	err := fault.Of(&fault.UsageError{}, "there is nothing named %s", name)
	var within, candidates []string
	for _, g := range r.Groups() {
		for _, e := range g.Entries() {
			if e.named(name) {
				within = append(within, e.FullName())
			}
		}
	}
	if len(within) > 0 {
		return fault.Hinted(err, "there is %s", strings.Join(within, ", "))
	}
	if g != nil {
		if candidates = g.entryNames(); suggest.Nearest(name, candidates) == "" {
			return fault.Hinted(err, "transect doc %s lists its entries", g.Name)
		}
	} else {
		for _, candidate := range r.Names() {
			if groupName(candidate) == candidate == (groupName(name) == name) { // groups for a group
				candidates = append(candidates, candidate)
			}
		}
	}
	if hint := suggest.Hint(name, candidates); hint != "" {
		return fault.Hinted(err, "%s", hint)
	}
	return fault.Hinted(err, "transect doc lists all names")
}
