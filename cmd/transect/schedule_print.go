package main

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"transect/client/calendar"
	"transect/runtime/jobs/schedule"
)

func (a *app) printSchedule(s *schedule.Schedule, times int) {
	for _, line := range scheduleLines(s) {
		if line.shown != "" {
			fmt.Fprintf(a.stdout, "%-11s %s\n", line.name, line.shown)
		}
	}
	a.printNext(s, times)
}

// printChanges prints what an edit has changed.
func (a *app) printChanges(before, after *schedule.Schedule) {
	old, changed := scheduleLines(before), ""
	for i, now := range scheduleLines(after) {
		if old[i].value != now.value {
			changed += fmt.Sprintf("  %-10s %s → %s\n", now.name, cmp.Or(old[i].shown, "none"), cmp.Or(now.shown, "none"))
		}
	}
	if changed == "" {
		fmt.Fprintf(a.stdout, "%s is unchanged\n", after.Name)
		return
	}
	fmt.Fprintf(a.stdout, "changed %s\n%s", after.Name, changed)
}

// scheduleLine is a setting of a schedule; shown is its value without secrets, ""
// for none.
type scheduleLine struct{ name, value, shown string }

func scheduleLines(s *schedule.Schedule) (lines []scheduleLine) {
	line := func(name, value string) { lines = append(lines, scheduleLine{name, value, value}) }
	duration := func(d time.Duration) string {
		if d == 0 {
			return ""
		}
		return calendar.FormatDuration(d.Seconds())
	}
	spec := s.Spec
	line("schedule", s.Name)
	line("when", s.Expr+" in "+s.Zone)
	line("catch-up", s.CatchUp)
	line("overlap", s.Overlap)
	line("script", spec.Title())
	line("flags", strings.Join(append(append([]string{}, spec.Env...), spec.Run...), " "))
	line("folder", spec.Folder)
	line("content", fmt.Sprintf("%.12s", spec.Bundle))
	line("queue", fmt.Sprintf("%s, priority %d", spec.Queue, spec.Priority))
	line("key", spec.Key)
	line("timeout", duration(spec.Timeout))
	line("retries", strconv.Itoa(spec.Retries))
	lines = append(lines, scheduleLine{"on failure", spec.OnFailure, hideTarget(spec.OnFailure)})
	if spec.OnFailure == "" {
		spec.Late = 0
	}
	line("late after", duration(spec.Late))
	lines = append(lines, scheduleLine{"ping", spec.Ping, hideTarget(spec.Ping)})
	line("by", spec.User)
	return lines
}
