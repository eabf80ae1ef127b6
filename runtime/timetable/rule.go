package timetable

import (
	"regexp"
	"sync"
	"time"

	"transect/client/calendar"
	"transect/client/fault"
)

// MaxSlots limits the missed slots that are caught up, and the slots that may wait.
const MaxSlots = 1000

// onTime is how late a slot may be fired to count as on time.
const onTime = 5 * time.Minute

// Rule defines when something is due, as users write it. See setting.Of for the tags.
type Rule struct {
	Expr    string `flag:"when" kind:"EXPR" doc:"the new times, a cron expression"`
	Zone    string `flag:"zone" kind:"ZONE" doc:"the time zone of the expression, such as Europe/Paris; this machine's if left out"`
	CatchUp string `flag:"catch-up" kind:"none|last|all" start:"last" check:"choice" doc:"which slots that passed while no worker was running are fired; all fires at most 1000"`
	Overlap string `flag:"overlap" kind:"skip|queue|cancel" start:"skip" check:"choice" doc:"when the job of a slot still runs at the next one: skip that slot, queue it, or cancel the job"`
}

// Policies for missed slots.
const (
	None = "none" // they are recorded as missed
	Last = "last" // the newest is fired
	All  = "all"  // all are fired, the newest MaxSlots of them
)

// Policies for a slot that comes while the job of an earlier one runs.
const (
	Skip   = "skip"   // it is left out
	Queue  = "queue"  // it waits
	Cancel = "cancel" // the running job is cancelled
)

// System returns the rule for a line of a crontab: cron uses the clock of the machine and catches nothing up,
// and a lock prevents concurrent runs.
func System(expr string) Rule { return Rule{Expr: expr, CatchUp: None, Overlap: Skip} }

// Times computes the slots of a rule.
type Times struct {
	Rule
	*Expression
	Zone *time.Location // nil for the zone of the given times
}

// Times validates a rule.
func (r Rule) Times() (*Times, error) {
	e, err := Parse(r.Expr)
	if err != nil || r.Zone == "" {
		return &Times{r, e, nil}, err
	}
	zone, err := Zone(r.Zone)
	return &Times{r, e, zone}, err
}

// Zone returns a time zone by its name, the same on each machine.
func Zone(name string) (*time.Location, error) {
	if name == "" || name == "local" {
		name = "Local"
	}
	where, err := calendar.Zone(name, nil)
	if err != nil {
		return nil, fault.Hinted(fault.Of(&fault.UsageError{}, "%s", fault.Find(err).Facts().Message),
			"write a name such as Europe/Paris or UTC, or an offset such as +02:00")
	}
	return where, nil
}

var validName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`) })

// CheckName refuses names that would be ambiguous in a crontab or on a command line.
func CheckName(name string) error {
	if !validName().MatchString(name) {
		return fault.Hinted(fault.Of(&fault.UsageError{}, "%q is not a valid name", name),
			"use letters, digits, dots, dashes and underscores, such as nightly-ingest")
	}
	return nil
}

// Next returns the next n slots after t. When clocks are set forward, a slot at a fixed time that is skipped
// is due when they are set; when they are set back, one at a repeated time is due the first time. Slots with
// * for minute or hour follow the clock: in a skipped hour they are dropped, in a repeated hour they are due
// twice.
func (r *Times) Next(t time.Time, n int) []time.Time { return r.Expression.Next(r.in(t), n) }

func (r *Times) in(t time.Time) time.Time {
	if r.Zone == nil {
		return t
	}
	return t.In(r.Zone)
}

// Due lists what to do with the slots that are due.
type Due struct {
	Fire   []time.Time // to fire, oldest first
	Late   int         // number of the first ones that are caught up
	Missed int         // number of dropped ones
	First  time.Time   // of the missed slots
	Last   time.Time
	Next   time.Time // the next slot; zero when there is none
}

// Due classifies the slots from next that are due by now. Each slot is returned once if each call gets the
// Next of the previous one.
func (r *Times) Due(next, now time.Time) (d Due) {
	var due []time.Time // the newest
	miss := func(slots ...time.Time) {
		for _, slot := range slots {
			if d.Missed++; d.Missed == 1 {
				d.First = slot
			}
			d.Last = slot
		}
	}
	batch := []time.Time{r.in(next)}
	for d.Next.IsZero() && len(batch) > 0 {
		for _, slot := range batch {
			if slot.After(now) {
				d.Next = slot
				break
			}
			due = append(due, slot)
		}
		if more := len(due) - MaxSlots; more > 0 {
			miss(due[:more]...)
			due = append(due[:0:0], due[more:]...)
		}
		if d.Next.IsZero() {
			batch = r.Next(batch[len(batch)-1], len(batch)*4%1024+1)
		}
	}
	if len(due) == 0 {
		return d
	}
	newest := due[len(due)-1]
	late := now.Sub(newest) > onTime
	switch {
	case r.CatchUp == All:
		d.Fire = due
	case r.CatchUp == Last || !late:
		d.Fire = due[len(due)-1:]
	}
	miss(due[:len(due)-len(d.Fire)]...)
	if d.Late = len(d.Fire); d.Late > 0 && !late {
		d.Late--
	}
	return d
}

// Between returns the slots from one time up to, excluding, another one; at most MaxSlots+1.
func (r *Times) Between(from, to time.Time) []time.Time {
	slots := r.Next(from.Add(-time.Millisecond), MaxSlots+1)
	for i, slot := range slots {
		if !slot.Before(to) {
			return slots[:i]
		}
	}
	return slots
}
