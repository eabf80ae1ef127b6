package main

import (
	"cmp"
	"fmt"
	"strings"

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
	line("schedule", s.Name)
	line("script", s.Spec.Title())
	line("flags", strings.Join(append(append([]string{}, s.Spec.Env...), s.Spec.Run...), " "))
	line("folder", s.Spec.Folder)
	line("content", fmt.Sprintf("%.12s", s.Spec.Bundle))
	for _, d := range s.Settings() {
		shown := d.String()
		if d.Secret() {
			shown = hideTarget(shown)
		}
		lines = append(lines, scheduleLine{d.Name, d.String(), shown})
	}
	line("by", s.Spec.User)
	return lines
}
