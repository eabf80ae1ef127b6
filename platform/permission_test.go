package platform

import (
	"slices"
	"testing"

	"transect/client"
	"transect/client/declare"
)

// What the platform deletes along with a record is denied with it: the references
// between records bear witness to what the declarations say.
func TestDeletionsAreDeniedWithWhatTheyTakeAlong(t *testing.T) {
	allRoutes() // declares the resources
	managers := map[*resource]string{}
	for name, s := range services {
		if s.resource != nil {
			managers[s.resource] = name
		}
	}
	taken := 0
	for _, m := range client.Declarations() {
		for _, s := range m.Ops() {
			if s.Effect != declare.Delete {
				continue
			}
			for child, manager := range managers {
				if !takenAlong(child, services[m.Name].resource) {
					continue
				}
				taken++
				if !slices.Contains(s.DeniedBy(), manager+".delete") {
					t.Errorf("%s deletes %s, and %s.delete does not deny it", s.FullName(), manager, manager)
				}
			}
		}
	}
	if taken < 10 {
		t.Errorf("only %d kinds of records are deleted along with others", taken)
	}
}

// takenAlong reports whether records are deleted along with others that they refer to.
func takenAlong(child, parent *resource) bool {
	return parent != nil && slices.ContainsFunc(child.refs, func(r ref) bool {
		return r.then == cascade && (r.to == parent || r.to != child && takenAlong(r.to, parent))
	})
}
