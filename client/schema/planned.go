package schema

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// PlannedID is the id of the n-th thing of a manager that a plan would create.
func PlannedID(manager string, n int) string { return fmt.Sprintf("plan-%s-%06d", manager, n) }

var plannedID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^plan-[a-z_]+-\d{6,}$`) })

// IsPlannedID reports whether an id is that of a thing a plan would create.
func IsPlannedID(id string) bool {
	return len(id) > 5 && id[:5] == "plan-" && plannedID().MatchString(id)
}

// IsPlannedIDOf reports whether an id is that of a thing of a manager that a plan would
// create.
func IsPlannedIDOf(manager, id string) bool {
	return IsPlannedID(id) && strings.HasPrefix(id, "plan-"+manager+"-")
}

// NotKnown is the key of a record, true where a plan cannot know what it holds: an
// output of an analytic that has not run.
const NotKnown = "not_known_before_it_ran"
