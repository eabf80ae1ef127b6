package client

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"transect/client/declare"
)

// eachOperation calls a test with every operation of the interface.
func eachOperation(t *testing.T, f func(*testing.T, *declare.Spec)) {
	for _, m := range Declarations() {
		for _, s := range m.Ops() {
			t.Run(s.FullName(), func(t *testing.T) { f(t, s) })
		}
	}
}

var (
	removing = regexp.MustCompile(`(^|_)(delete|remove|revoke|unassign|unexpose|disable|unshare|detach|clear|drop)(_|$)`)
	creating = regexp.MustCompile(`(^|_)(create|order|share_tiles|find_or_create|add_mission)(_|$)`)
	reading  = regexp.MustCompile(`^(search|describes?|download|retrieve|follow|list|export|wait)(_|$)`)
)

// The names of operations are the interface's own. They bear witness to what the
// declarations say: whoever adds an operation that removes something must declare it.
func TestVerbsFitTheNames(t *testing.T) {
	unlike := map[string]declare.Verb{ // what the name does not say
		"collection_tasks.create_flight_log": declare.Changes, // of a task, create or update
		"analytics.share_with_company":       declare.Changes,
	}
	eachOperation(t, func(t *testing.T, s *declare.Spec) {
		want, ok := unlike[s.FullName()]
		switch {
		case ok:
		case removing.MatchString(s.Name):
			want = declare.Deletes
		case creating.MatchString(s.Name):
			want = declare.Creates
		case reading.MatchString(s.Name):
			if got := s.Verb(); s.Effect != declare.Read || got != declare.Reads && got != declare.Searches && got != declare.Describes {
				t.Errorf("the verb is %s", got)
			}
			return
		default:
			want = declare.Changes
		}
		if s.Verb() != want || s.Effect == declare.Read {
			t.Errorf("the verb is %s, the effect %s: the tag does:%q may be missing", s.Verb(), s.Effect, want)
		}
		for _, route := range s.Routes {
			route = strings.ReplaceAll(route[strings.LastIndex(route, "/")+1:], "-", "_")
			if removing.MatchString(route) && s.Verb() != declare.Deletes {
				t.Errorf("%s removes, the verb is %s", route, s.Verb())
			}
		}
		if s.Verb() == declare.Deletes && !slices.Contains(s.DeniedBy(), s.Manager+".delete") {
			t.Errorf("%s.delete does not deny it", s.Manager)
		}
	})
}

// An operation that has the name of a verb does what the verb says.
func TestOperationsNamedAsVerbs(t *testing.T) {
	eachOperation(t, func(t *testing.T, s *declare.Spec) {
		if slices.Contains(declare.Verbs, declare.Verb(s.Name)) && s.Verb() != declare.Verb(s.Name) {
			t.Errorf("the verb is %s", s.Verb())
		}
		if !slices.Contains(declare.Verbs, s.Verb()) {
			t.Errorf("there is no verb %s", s.Verb())
		}
		for _, deed := range s.Also {
			manager, name, _ := strings.Cut(deed, ".")
			i := slices.IndexFunc(Declarations(), func(m *declare.Manager) bool { return m.Name == manager })
			if i < 0 || !slices.Contains(declare.Verbs, declare.Verb(name)) && Declarations()[i].Op(name) == nil {
				t.Errorf("the tag does names %s, which is neither an operation nor a verb of a manager", deed)
			}
		}
	})
}

// What lists the records of a kind is denied with everything else that lists them.
func TestSearchesAreDeniedTogether(t *testing.T) {
	lists := map[string][]*declare.Spec{}
	eachOperation(t, func(t *testing.T, s *declare.Spec) {
		if s.Verb() == declare.Searches {
			lists[s.Manager] = append(lists[s.Manager], s)
		}
		denied := s.DeniedBy()
		for _, name := range []string{s.Manager + ".*", s.FullName()} {
			if name == s.FullName() && (!slices.Contains(denied, name) || !slices.Contains(s.AllowedBy(), name)) {
				t.Errorf("its name %s neither allows nor denies it", name)
			}
		}
		for _, name := range s.AllowedBy() {
			if !slices.Contains(denied, name) {
				t.Errorf("%s allows it and does not deny it", name)
			}
		}
	})
	if len(lists) < 30 {
		t.Fatalf("only %d kinds of records are listed", len(lists))
	}
	for manager, all := range lists {
		for _, s := range all {
			for _, other := range append(all, listedElsewhere(manager)...) {
				if !slices.Contains(other.DeniedBy(), s.FullName()) {
					t.Errorf("denying %s leaves %s", s.FullName(), other.FullName())
				}
			}
		}
	}
}

// listedElsewhere lists the operations of other managers that list records of a type.
func listedElsewhere(manager string) (all []*declare.Spec) {
	for _, m := range Declarations() {
		for _, s := range m.Ops() {
			if m.Name != manager && s.Verb() == declare.Searches && slices.ContainsFunc(recordsIn(s.Out), func(record reflect.Type) bool {
				return ManagerOf(record) == manager
			}) {
				all = append(all, s)
			}
		}
	}
	return all
}

// Whoever may not describe records of a kind does not get them as the answer of
// something else, but for what makes them.
func TestDeniedRecordsAreNotAnswered(t *testing.T) {
	eachOperation(t, func(t *testing.T, s *declare.Spec) {
		if s.Composed {
			return // its steps are asked about
		}
		for _, record := range recordsIn(s.Out) {
			kind, denied := ManagerOf(record), s.DeniedBy()
			if kind != "" && !slices.Contains(denied, kind+".describe") && !slices.Contains(denied, kind+".create") &&
				s.Verb() != declare.Deletes {
				t.Errorf("it answers with records of %s, and %s.describe does not deny it", kind, kind)
			}
		}
	})
}

// What can do all that another operation can is denied by all that denies the other.
func TestDenialIsTransitive(t *testing.T) {
	byName := map[string]*declare.Spec{}
	for _, m := range Declarations() {
		for _, s := range m.Ops() {
			byName[s.FullName()] = s
		}
	}
	eachOperation(t, func(t *testing.T, s *declare.Spec) {
		denied := s.DeniedBy()
		for _, name := range denied {
			if other := byName[name]; other != nil {
				for _, further := range other.DeniedBy() {
					if !slices.Contains(denied, further) {
						t.Errorf("%s denies it and %s, %s only the latter", name, name, further)
					}
				}
			}
		}
	})
}
