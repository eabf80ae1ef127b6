package declare

import (
	"errors"
	"fmt"
	"regexp"
	"sync"

	"transect/client/fault"
)

var identifier = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-fA-F-]{24,36}$`) })

// IsIdentifier reports whether a text has the form of an id, not of a name.
func IsIdentifier(text string) bool { return identifier().MatchString(text) }

// explainName adds a hint to an error when the platform refused a name in place of an id.
func (s *Spec) explainName(a Args, err error) {
	refused, ok := errors.AsType[*fault.ResponseError](err)
	if !ok || s.Composed || refused.Status != 400 && refused.Status != 404 && refused.Status != 422 {
		return
	}
	for key, value := range a.Values {
		p := s.Param(key)
		if p == nil || p.Type != "id" && p.Type != "id|[]id" {
			continue
		}
		list, ok := value.([]any)
		if !ok {
			list = []any{value}
		}
		for _, one := range list {
			if name, ok := one.(string); ok && !IsIdentifier(name) {
				refused.Hint = NameHint(s.Manager, p.Name, name)
				return
			}
		}
	}
}

// NameHint returns the hint for a name where the id of a parameter is expected.
func NameHint(manager, parameter, name string) string {
	if Singular(manager) != parameter {
		manager = parameter + "s"
	}
	return fmt.Sprintf(`%q is not an id; if it is a name, %s.search{ filter = { name = { ["$eq"] = %q } } } finds it`,
		name, manager, name)
}
