package declare

import (
	"fmt"
	"slices"
	"strings"

	"transect/client/schema"
)

// UnknownOutcome says how to find out about a write whose answer was lost, so that
// nobody knows whether it was carried out.
type UnknownOutcome struct {
	Rule Rule
	// Keys are the arguments, by their names on the wire, that a search can find it by.
	Keys []string
	// Conditions hold for the target of a probed write once it was carried out.
	Conditions []Condition
}

// Rule is the way to find out about a write whose outcome is unknown.
type Rule string

// The rules.
const (
	Repeat    Rule = "repeat" // send it again: the state is the same
	Gone      Rule = "gone"   // send it again: what is not found is deleted
	Probe     Rule = "probe"  // read the target; send it again unless the conditions hold
	ByMarker  Rule = "marker" // search for the marker the write carried
	BySearch  Rule = "search" // search by the arguments
	ByList    Rule = "list"   // as BySearch, in the whole list of its subject
	ByKey     Rule = "key"    // send it again: the platform refuses a duplicate; then search for it
	BySteps   Rule = "steps"  // each of its steps has a rule of its own
	Ask       Rule = "ask"    // nothing shows whether it was done
	NoRequest Rule = "none"   // there is no request
)

// Rules lists them, as they are documented.
var Rules = []Rule{ByMarker, BySearch, ByList, ByKey, BySteps, Probe, Ask, Repeat, Gone, NoRequest}

// Searches reports whether a search finds what the write makes.
func (u UnknownOutcome) Searches() bool {
	switch u.Rule {
	case BySearch, ByList, ByMarker, ByKey:
		return true
	}
	return u.Rule == Ask && len(u.Keys) > 0
}

// Condition is what a record holds under a key.
type Condition struct {
	Key string
	// Value is "" for the argument of that name, "none" for nothing, "new" for the id of
	// a thing made since the write was sent, else a text, which may end with an asterisk.
	Value string
}

// parseUnknown reads the tag unknown:"RULE key,key", or unknown:"probe key=value".
// Sets are repeated and deletions gone unless it says otherwise; a creation must say.
func (s *Spec) parseUnknown(tag string) error {
	rule, keys, _ := strings.Cut(tag, " ")
	s.Unknown = UnknownOutcome{Rule: Rule(rule)}
	switch {
	case tag == "" && s.Effect == Set:
		s.Unknown.Rule = Repeat
		return nil
	case tag == "" && s.Effect == Delete:
		s.Unknown.Rule = Gone
		return nil
	case tag == "" && s.Effect == Create:
		return fmt.Errorf("a create needs the tag unknown: one of %v", Rules)
	case tag == "":
		return nil
	case !slices.Contains(Rules, s.Unknown.Rule):
		return fmt.Errorf("tag unknown: there is no rule %q", rule)
	case s.Unknown.Rule != Probe:
		s.Unknown.Keys = schema.Words(keys)
		return nil
	}
	for _, condition := range schema.Words(keys) {
		key, value, _ := strings.Cut(condition, "=")
		s.Unknown.Conditions = append(s.Unknown.Conditions, Condition{key, value})
	}
	return nil
}
