package declare

import (
	"fmt"
	"slices"
	"strings"

	"transect/client/schema"
)

// UnknownOutcome describes how to determine whether a write was processed when its answer was lost.
type UnknownOutcome struct {
	Rule Rule
	// Keys are the arguments, by wire name, to search for its result by.
	Keys []string
	// Conditions are met by the target of a probed write once it was processed.
	Conditions []Condition
}

// Rule is the way to determine a write's unknown outcome.
type Rule string

// The rules.
const (
	Repeat    Rule = "repeat" // send it again: the state stays the same
	Gone      Rule = "gone"   // send it again: a missing record counts as deleted
	Probe     Rule = "probe"  // read the target; send it again unless the conditions hold
	BySearch  Rule = "search" // search by the arguments
	ByList    Rule = "list"   // like BySearch, in the complete list of its subject
	ByKey     Rule = "key"    // send it again: the platform refuses a duplicate; then search for it
	BySteps   Rule = "steps"  // each of its steps has its own rule
	Ask       Rule = "ask"    // nothing shows whether it was processed
	NoRequest Rule = "none"   // there is no request
)

// Rules lists the rules in documented order.
var Rules = []Rule{BySearch, ByList, ByKey, BySteps, Probe, Ask, Repeat, Gone, NoRequest}

// Searches reports whether a search finds what the write creates.
func (u UnknownOutcome) Searches() bool {
	switch u.Rule {
	case BySearch, ByList, ByKey:
		return true
	}
	return u.Rule == Ask && len(u.Keys) > 0
}

// Condition is the value expected under a key of a record.
type Condition struct {
	Key string
	// Value is "" for the argument of that name, "none" for nothing, "new" for the id of a record
	// created since the write was sent, else a text, which may end with an asterisk.
	Value string
}

// parseUnknown parses the tag unknown:"RULE key,key", or unknown:"probe key=value". The default is
// Repeat for sets and Gone for deletions; creations need the tag.
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
