package lookup

import (
	"context"
	"log/slog"
	"strings"
	"sync"

	"transect/client"
	"transect/client/declare"
	"transect/client/fault"
	"transect/client/schema"
)

// Names resolves names of projects and missions given in place of ids: as arguments of operations,
// and in filters. Each is looked up once. It is safe for concurrent use.
type Names struct {
	finder Finder
	log    *slog.Logger

	mu    sync.Mutex
	found map[[2]string]*found // by kind and name
}

type found struct {
	mu sync.Mutex
	id string
}

// NewNames returns a resolver for a client's platform.
func NewNames(c *client.Client, log *slog.Logger) *Names {
	return &Names{finder: In(c), log: log, found: map[[2]string]*found{}}
}

// Resolve replaces names in the arguments of an operation by ids.
func (n *Names) Resolve(ctx context.Context, s *declare.Spec, values map[string]any) (err error) {
	for key, value := range values {
		p := s.Param(key)
		switch {
		case p == nil:
		case p.Name == "filter":
			err = n.filter(ctx, value)
		case p.Name == "inputs": // of an order, by their names
			inputs, _ := value.(map[string]any)
			for name, input := range inputs {
				if inputs[name], err = n.named(ctx, name, input); err != nil {
					return err
				}
			}
		case strings.Contains(string(p.Type), "id"):
			values[key], err = n.named(ctx, p.Name, value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// named replaces names in the value of an argument that is called after what it takes.
func (n *Names) named(ctx context.Context, argument string, value any) (any, error) {
	if kind := declare.Singular(argument); kind == "project" || kind == "mission" {
		return n.value(ctx, kind, value)
	}
	return value, nil
}

// filter replaces names in the conditions of a filter.
func (n *Names) filter(ctx context.Context, filter any) (err error) {
	conditions, _ := filter.(map[string]any)
	for key, value := range conditions {
		if list, ok := value.([]any); ok && strings.HasPrefix(key, "$") {
			for _, one := range list {
				if err := n.filter(ctx, one); err != nil {
					return err
				}
			}
			continue
		}
		if key != "project" && key != "mission" {
			continue
		}
		operators, ok := value.(map[string]any)
		if !ok {
			if conditions[key], err = n.value(ctx, key, value); err != nil {
				return err
			}
		}
		for operator, operand := range operators {
			switch operator {
			case "$eq", "$ne", "$in", "$nin":
				if operators[operator], err = n.value(ctx, key, operand); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// value replaces a name, or the names in a list.
func (n *Names) value(ctx context.Context, kind string, value any) (any, error) {
	switch v := value.(type) {
	case string:
		return n.ID(ctx, kind, v)
	case []any:
		for i, one := range v {
			var err error
			if v[i], err = n.value(ctx, kind, one); err != nil {
				return nil, err
			}
		}
	}
	return value, nil
}

// ID returns the id of the project or mission with a name; a text in the form of an id is returned unchanged.
func (n *Names) ID(ctx context.Context, kind, name string) (string, error) {
	if name == "" || declare.IsIdentifier(name) || schema.IsPlannedID(name) {
		return name, nil
	}
	n.mu.Lock()
	f := n.found[[2]string{kind, name}]
	if f == nil {
		f = new(found)
		n.found[[2]string{kind, name}] = f
	}
	n.mu.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.id != "" {
		return f.id, nil
	}
	find := n.finder.AnyMission
	if kind == "project" {
		find = func(ctx context.Context, name string) (*Record, error) { return n.finder.Project(ctx, name, Options{}) }
	}
	r, err := find(ctx, name)
	if usage, ok := fault.Find(err).(*fault.UsageError); ok { // a mistake in the script, not on the command line
		facts := usage.Facts()
		err = fault.Hinted(fault.Of(&fault.ParameterError{}, "%s", facts.Message), "%s", facts.Hint)
	}
	if err != nil {
		return "", err
	}
	f.id = r.ID()
	n.log.Debug("found by its name", "kind", kind, "name", name, "id", f.id)
	return f.id, nil
}
