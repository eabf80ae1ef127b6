// Package lookup finds the record that a user names: a project, a mission, a dataset, a product or
// an analytic, by its id, its name or a path such as PROJECT/MISSION. Commands, scripts and the
// completion of the shell use it.
//
// Users consider names unique; the platform does not. An ambiguous name is refused with the
// candidates, never guessed. Names may contain slashes, so a path is first split at the last slash.
package lookup

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"transect/client"
	"transect/client/declare"
	"transect/client/fault"
	"transect/client/human"
	"transect/client/suggest"
)

const (
	maxListed   = 10   // candidates in a message
	maxSearched = 1000 // names to search for a similar one
)

// Finder looks up names on a platform.
type Finder struct{ client *client.Client }

// In returns a finder for the platform of a client.
func In(c *client.Client) Finder { return Finder{c} }

// Record is a record found.
type Record struct {
	Kind string // project, mission, dataset, product or analytic
	JSON []byte
}

// ID returns the identifier of the record.
func (r *Record) ID() string { return r.get("_id") }

// Name returns the name of the record; products have none.
func (r *Record) Name() string { return r.get("name") }

func (r *Record) get(field string) string { return gjson.GetBytes(r.JSON, field).String() }

// IsID reports whether a text has the form of an identifier.
func IsID(text string) bool {
	_, err := hex.DecodeString(text)
	return err == nil && len(text) == 24
}

// Options define what to do with an unknown name.
type Options struct {
	MissingOK bool   // it is not an error
	Otherwise string // an alternative, for the hint of the error
}

// Project finds a project by its name or id; nil for an unknown one if opts allow that.
func (f Finder) Project(ctx context.Context, text string, opts Options) (*Record, error) {
	if r, err := f.byID(ctx, text, "project"); r != nil || err != nil {
		return r, err
	}
	found, err := f.byName(ctx, "project", text, nil)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 && opts.MissingOK {
		return nil, refuseFilePath(text)
	}
	return f.single(ctx, found, missing{kind: "project", name: text, otherwise: opts.Otherwise})
}

// Mission finds a mission of a project by its name or id.
func (f Finder) Mission(ctx context.Context, project *Record, text, otherwise string) (*Record, error) {
	if r, err := f.byID(ctx, text, "mission"); r != nil || err != nil {
		return r, err
	}
	within := equal("project", project.ID())
	found, err := f.byName(ctx, "mission", text, within)
	if err != nil {
		return nil, err
	}
	return f.single(ctx, found, missing{kind: "mission", name: text, where: " in the project " + project.Name(),
		within: within, otherwise: otherwise})
}

// byID describes the record of one of several kinds; nil when the text is not an id or nothing has it.
func (f Finder) byID(ctx context.Context, text string, kinds ...string) (*Record, error) {
	if !IsID(text) {
		return nil, nil
	}
	for _, kind := range kinds {
		value, err := f.call(ctx, kind, "describe", map[string]any{kind: text})
		if err == nil && len(value.JSON) > 0 {
			return &Record{kind, value.JSON}, nil
		}
		if err != nil && fault.Status(err) != http.StatusNotFound {
			return nil, err
		}
	}
	return nil, nil
}

// byName searches for records with an exact name.
func (f Finder) byName(ctx context.Context, kind, name string, within map[string]any) ([]*Record, error) {
	find := func() ([]*Record, error) {
		return f.search(ctx, kind, map[string]any{"filter": both(within, equal("name", name)), "limit": maxListed + 1})
	}
	if kind == "project" || kind == "mission" && within != nil { // runs find or create these
		return client.Settled(ctx, f.client, find, func(r *Record) []byte { return r.JSON })
	}
	return find()
}

func (f Finder) search(ctx context.Context, kind string, query map[string]any) ([]*Record, error) {
	value, err := f.call(ctx, kind, "search", query)
	if err != nil {
		return nil, err
	}
	found := make([]*Record, len(value.Items))
	for i, item := range value.Items {
		found[i] = &Record{kind, item}
	}
	return found, nil
}

func (f Finder) call(ctx context.Context, kind, operation string, arguments map[string]any) (declare.Value, error) {
	return f.client.Manager(kind+"s").Op(operation).Invoke(ctx, declare.Args{Values: arguments})
}

func equal(field, value string) map[string]any {
	return map[string]any{field: map[string]any{"$eq": value}}
}

func both(a, b map[string]any) map[string]any {
	if a == nil {
		return b
	}
	return map[string]any{"$and": []any{a, b}}
}

// missing describes the search, for the message about no result or several.
type missing struct {
	kind, name string
	where      string         // such as " in the project North quarry"
	within     map[string]any // the filter for that place
	otherwise  string
}

// single returns the single record found, or the error about none or several.
func (f Finder) single(ctx context.Context, found []*Record, m missing) (*Record, error) {
	switch len(found) {
	case 0:
		return nil, f.notFound(ctx, m)
	case 1:
		return found[0], nil
	}
	hint := "give the id instead of the name"
	if m.kind == "mission" && m.where == "" {
		hint = "give the id, or a path such as PROJECT/MISSION"
	}
	return nil, fault.Hinted(fault.Of(&fault.UsageError{}, "several %ss are named %s%s:\n%s", m.kind, m.name, m.where,
		f.candidates(ctx, found, false)), "%s", hint)
}

func (f Finder) notFound(ctx context.Context, m missing) error {
	names, err := f.names(ctx, m.kind, m.within)
	if err != nil {
		return err
	}
	hint, near := "", suggest.Nearest(m.name, names)
	if i := slices.IndexFunc(names, func(name string) bool { return strings.HasSuffix(name, "/"+m.name) }); i >= 0 {
		near = names[i] // the path within the sent folder
	}
	switch {
	case near != "":
		hint = "did you mean " + human.Line(near) + "?"
	case len(names) == 0:
		hint = fmt.Sprintf("there is no %s%s yet", m.kind, m.where)
	case len(names) <= maxListed:
		slices.Sort(names)
		hint = fmt.Sprintf("the %ss are: %s", m.kind, human.Line(strings.Join(names, ", ")))
	}
	if m.otherwise != "" {
		separator := "; "
		if near != "" {
			separator = " "
		}
		hint = strings.TrimPrefix(hint+separator+m.otherwise, "; ")
	}
	return fault.Hinted(fault.Of(&fault.UsageError{}, "there is no %s %s%s", m.kind, m.name, m.where), "%s", hint)
}

// names lists the distinct names of a kind.
func (f Finder) names(ctx context.Context, kind string, within map[string]any) (names []string, err error) {
	query := map[string]any{"fields": map[string]any{"include": []any{"name"}}, "limit": maxSearched}
	if within != nil {
		query["filter"] = within
	}
	found, err := f.search(ctx, kind, query)
	for _, r := range found {
		if !slices.Contains(names, r.Name()) {
			names = append(names, r.Name())
		}
	}
	return names, err
}

// candidates formats records as lines of a message.
func (f Finder) candidates(ctx context.Context, found []*Record, kinds bool) string {
	var lines []string
	for i, r := range found {
		if i == maxListed {
			lines = append(lines, "…")
			break
		}
		parts := []string{r.ID(), r.Name()}
		if kinds {
			parts = []string{r.ID(), r.Kind, r.Name()}
		} else if kind := r.get("type"); kind != "" {
			parts = append(parts, kind)
		}
		for _, field := range []string{"version", "survey_date", "creation_date", "created"} {
			if text := r.get(field); text != "" {
				parts = append(parts, fmt.Sprintf("%.10s", text))
				break
			}
		}
		if place := f.place(ctx, r); place != "" {
			parts = append(parts, "in "+place)
		}
		lines = append(lines, human.Line(strings.Join(parts, "  ")))
	}
	return strings.Join(lines, "\n")
}

// place returns the project, or the project and mission, of a record; "" when unknown.
func (f Finder) place(ctx context.Context, r *Record) string {
	var names []string
	for _, kind := range []string{"project", "mission"} {
		id := r.get(kind)
		if id == "" || kind == "mission" && r.Kind != "dataset" {
			continue
		}
		if in, err := f.byID(ctx, id, kind); err == nil && in != nil {
			names = append(names, in.Name())
		}
	}
	return strings.Join(names, "/")
}
