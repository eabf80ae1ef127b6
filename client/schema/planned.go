package schema

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// PlannedID returns the id of the n-th record of a manager that a plan would create.
func PlannedID(manager string, n int) string { return fmt.Sprintf("plan-%s-%06d", manager, n) }

var plannedID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^plan-[a-z_]+-\d{6,}$`) })

// IsPlannedID reports whether an id is of a record that a plan would create.
func IsPlannedID(id string) bool {
	return len(id) > 5 && id[:5] == "plan-" && plannedID().MatchString(id)
}

// IsPlannedIDOf reports whether an id is of a manager's record that a plan would create.
func IsPlannedIDOf(manager, id string) bool {
	return IsPlannedID(id) && strings.HasPrefix(id, "plan-"+manager+"-")
}

// NotKnown is a key of a record, true if a plan cannot determine its content: the output of an
// analytic that has not run.
const NotKnown = "not_known_before_it_ran"
