package scan

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"transect/client/fault"
)

// filter selects files by name.
type filter struct{ include, exclude []string }

func newFilter(s Source) (filter, error) {
	var f filter
	for _, list := range []struct {
		from []string
		to   *[]string
		name string
	}{{s.Include, &f.include, "include"}, {s.Exclude, &f.exclude, "exclude"}} {
		for _, pattern := range list.from {
			if !doublestar.ValidatePattern(pattern) {
				return f, fault.Hinted(fault.Of(&fault.ParameterError{}, "%s: %q is not a pattern", list.name, pattern),
					`patterns can use *, **, ?, [a-z] and {a,b}`)
			}
			*list.to = append(*list.to, strings.ToLower(pattern))
		}
	}
	if s.Kind != "" && !slices.Contains(Kinds(), s.Kind) {
		return f, fault.Hinted(fault.Of(&fault.ParameterError{}, "%q is not a type of dataset", s.Kind),
			"the types are %s", strings.Join(Kinds(), ", "))
	}
	return f, nil
}

// passes reports whether the filter accepts a path within the source.
func (f filter) passes(name string) bool {
	if len(f.include)+len(f.exclude) == 0 {
		return true
	}
	name = strings.ToLower(name)
	return (len(f.include) == 0 || matchAny(f.include, name)) && !matchAny(f.exclude, name)
}

// prunes reports whether a folder is excluded with all its content.
func (f filter) prunes(name string) bool {
	return len(f.exclude) > 0 &&
		(matchAny(f.exclude, strings.ToLower(name)) || matchAny(f.exclude, strings.ToLower(name)+"/"))
}

func matchAny(patterns []string, name string) bool {
	for _, p := range patterns {
		subject := name
		if !strings.Contains(p, "/") {
			subject = path.Base(name)
		}
		if doublestar.MatchUnvalidated(p, subject) {
			return true
		}
	}
	return false
}
