package declare

import (
	"fmt"
	"strings"

	"transect/client/schema"
)

// Lost says what becomes of a write whose answer was lost, so that nobody knows
// whether it was done.
type Lost struct {
	Rule Rule
	Keys []string // the arguments, by their names on the wire, that a search can find it by
}

// Rule is how a lost write is dealt with.
type Rule string

// The rules.
const (
	Safe   Rule = "safe"   // send it again: the state is the same
	Look   Rule = "look"   // read the target; send it unless it is as it was to be
	Gone   Rule = "gone"   // send it again: what is not found is deleted
	Mark   Rule = "mark"   // search for the marker the write carried
	Adopt  Rule = "adopt"  // search by the arguments
	Key    Rule = "key"    // send it again: the platform refuses a double; then search for it
	List   Rule = "list"   // as Adopt, on the whole list of its subject
	Status Rule = "state"  // the state of its subject shows whether it was done
	Steps  Rule = "steps"  // each of its steps has a rule of its own
	Ask    Rule = "ask"    // nothing shows whether it was done
	Absent Rule = "absent" // there is no request
)

var rules = []Rule{Safe, Look, Gone, Mark, Adopt, Key, List, Status, Steps, Ask, Absent}

// parseLost reads the tag lost:"RULE key,key". Sets are safe and deletions gone
// unless it says otherwise; a creation must say.
func (s *Spec) parseLost(tag string) error {
	rule, keys, _ := strings.Cut(tag, " ")
	s.Lost = Lost{Rule: Rule(rule), Keys: schema.Words(keys)}
	switch {
	case tag == "" && s.Effect == Set:
		s.Lost.Rule = Safe
	case tag == "" && s.Effect == Delete:
		s.Lost.Rule = Gone
	case tag == "" && s.Effect == Create:
		return fmt.Errorf("a create needs the tag lost: %v", rules)
	case tag == "":
		return nil
	}
	for _, known := range rules {
		if s.Lost.Rule == known {
			return nil
		}
	}
	return fmt.Errorf("tag lost: there is no rule %q", rule)
}
