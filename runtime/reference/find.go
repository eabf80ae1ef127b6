package reference

import (
	"slices"
	"strings"

	"transect/client/fault"
	"transect/client/suggest"
)

// Find finds a manager or a module, or one of their entries, by name or alias:
// projects, projects.create, sdk.projects.create, json.encode, task:await. The
// entry is nil for a whole group. A name that does not exist is a UsageError
// that names the nearest.
func (c *Reference) Find(name string) (*Group, *Entry, error) {
	if rest, ok := strings.CutPrefix(name, "sdk."); ok && c.group(before(rest)) != nil {
		name = rest
	}
	g := c.group(before(name))
	if g != nil && before(name) == name {
		return g, nil, nil
	}
	for _, e := range c.entries() {
		if e.FullName() == name {
			return c.group(e.Manager + e.Module), e, nil
		}
	}
	if g != nil {
		for _, e := range g.Entries() {
			if e.is(name[len(before(name))+1:]) {
				return g, e, nil
			}
		}
	}
	return nil, nil, c.unknown(name)
}

// FindOperation finds an operation by its full name or an alias.
func (c *Reference) FindOperation(name string) (*Entry, error) {
	_, e, err := c.Find(name)
	if err == nil && (e == nil || e.Manager == "") {
		err = fault.Hinted(fault.Of(&fault.UsageError{}, "%s is no operation", name), "write it like projects.search; transect doc lists them")
	}
	return e, err
}

func (e *Entry) is(name string) bool { return e.Name() == name || slices.Contains(e.Aliases, name) }

// before is a name up to its dot or colon.
func before(name string) string {
	if i := strings.IndexAny(name, ".:"); i >= 0 {
		return name[:i]
	}
	return name
}

func (c *Reference) group(name string) *Group {
	for _, g := range c.Groups() {
		if g.Name == name || slices.Contains(g.Aliases, name) {
			return g
		}
	}
	return nil
}

func (c *Reference) entries() []*Entry {
	var all []*Entry
	for _, g := range c.Groups() {
		all = append(all, g.Entries()...)
	}
	return all
}

// Names lists every name Find takes, aliases left out.
func (c *Reference) Names() []string {
	var names []string
	for _, g := range c.Groups() {
		names = append(names, g.Name)
		for _, e := range g.Entries() {
			names = append(names, e.FullName())
		}
	}
	return names
}

// unknown says what was probably meant: the nearest name, or where there is
// something of that name without its group.
func (c *Reference) unknown(name string) error {
	err := fault.Of(&fault.UsageError{}, "there is nothing named %s", name)
	var within []string
	for _, e := range c.entries() {
		if e.is(name) {
			within = append(within, e.FullName())
		}
	}
	if len(within) > 0 {
		return fault.Hinted(err, "there is %s", strings.Join(within, ", "))
	}
	var candidates []string
	for _, known := range c.Names() {
		if before(known) == known == (before(name) == name) { // a group for a group
			candidates = append(candidates, known)
		}
	}
	if g := c.group(before(name)); g != nil {
		candidates = nil
		for _, e := range g.Entries() {
			candidates = append(candidates, e.FullName())
		}
		if suggest.Nearest(name, candidates) == "" {
			return fault.Hinted(err, "transect doc %s lists what there is", g.Name)
		}
	}
	if hint := suggest.Hint(name, candidates); hint != "" {
		return fault.Hinted(err, "%s", hint)
	}
	return fault.Hinted(err, "transect doc lists what there is")
}

// Operations lists the full names of the operations.
func (c *Reference) Operations() []string {
	var names []string
	for _, g := range c.Managers {
		for _, e := range g.Operations {
			names = append(names, e.FullName())
		}
	}
	return names
}
