package schedule

import (
	"encoding/binary"
	"hash/fnv"
	"time"

	"transect/client/calendar"
	"transect/client/fault"
	"transect/runtime/unattended/cron"
)

// MaxSlots is how many missed slots are caught up, and how many may wait.
const MaxSlots = 1000

// onTime is how late a slot may be fired and still count as fired in time.
const onTime = 5 * time.Minute

// Rule says when a schedule is due.
type Rule struct {
	Name    string
	Expr    *cron.Expression
	Zone    *time.Location
	Jitter  time.Duration // each slot is fired up to this much later
	CatchUp string        // None, Last or All
}

// What becomes of slots that nobody fired in time.
const (
	None = "none" // they are recorded as missed
	Last = "last" // the newest is fired
	All  = "all"  // all are fired, the newest MaxSlots of them
)

// parseRule checks an expression and its zone: a name of the IANA database, such as
// Europe/Paris or UTC.
func parseRule(name, expr, zone string) (*Rule, error) {
	e, err := cron.Parse(expr)
	if err != nil {
		return nil, err
	}
	if e.Reboot {
		return nil, fault.Hinted(fault.Of(&fault.UsageError{}, "a schedule has no @reboot: it belongs to no machine"), "start the script with the machine's own service manager, or use transect cron")
	}
	where, err := Zone(zone)
	if err != nil {
		return nil, err
	}
	return &Rule{Name: name, Expr: e, Zone: where, CatchUp: Last}, nil
}

// Zone finds a time zone by its name, the same on each machine.
func Zone(name string) (*time.Location, error) {
	if name == "" || name == "local" {
		name = "Local"
	}
	where, err := calendar.Zone(name, nil)
	if err != nil {
		return nil, fault.Hinted(fault.Of(&fault.UsageError{}, "%s", fault.Find(err).Facts().Message), "write a name such as Europe/Paris or UTC, or an offset such as +02:00")
	}
	return where, nil
}

// SetJitter refuses a jitter by which a slot could be fired after the next one.
func (r *Rule) SetJitter(d time.Duration, now time.Time) error {
	slots := r.Next(now, 200)
	for i := 1; i < len(slots); i++ {
		if gap := slots[i].Sub(slots[i-1]); d < 0 || d >= gap {
			return fault.Hinted(fault.Of(&fault.UsageError{}, "a jitter of %s is too long: slots of %s are only %s apart", d, r.Expr.Text, gap), "give less than %s", gap)
		}
	}
	r.Jitter = d
	return nil
}

// Next lists the next n slots after t. When clocks are set forward, a slot at a
// fixed time that does not exist is due when they are set; when they are set
// back, one at a time that comes twice is due the first time. Slots with * for
// minute or hour follow the clock: those of a skipped hour are left out, those of
// a repeated hour are due twice.
func (r *Rule) Next(t time.Time, n int) []time.Time { return r.Expr.Next(t.In(r.Zone), n) }

// FireAt is when a slot is fired: the same time on each machine.
func (r *Rule) FireAt(slot time.Time) time.Time {
	if r.Jitter <= 0 {
		return slot
	}
	h := fnv.New64a()
	_, _ = h.Write(binary.BigEndian.AppendUint64([]byte(r.Name), uint64(slot.UnixMilli()))) // never fails
	return slot.Add(time.Duration(mix(h.Sum64())%uint64(r.Jitter.Milliseconds()+1)) * time.Millisecond)
}

// mix spreads the difference of two names or slots over all bits.
func mix(x uint64) uint64 {
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// Due is what is to be done about the slots that have come due.
type Due struct {
	Fire   []time.Time // to be fired, oldest first
	Late   int         // how many of them are caught up, the first ones
	Missed int         // left out
	First  time.Time   // of the missed ones
	Last   time.Time
	Next   time.Time // the slot after them; zero when there is none
}

// Due sorts the slots from next on, those that are to be fired by now: a slot is
// in one answer only when each call gets the Next of the one before.
func (r *Rule) Due(next, now time.Time) (d Due) {
	var due []time.Time // the newest
	miss := func(slots ...time.Time) {
		for _, slot := range slots {
			if d.Missed++; d.Missed == 1 {
				d.First = slot
			}
			d.Last = slot
		}
	}
	batch := []time.Time{next.In(r.Zone)}
	for d.Next.IsZero() && len(batch) > 0 {
		for _, slot := range batch {
			if r.FireAt(slot).After(now) {
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
	late := now.Sub(r.FireAt(newest)) > onTime
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

// Between lists the slots from one time up to, and without, another one; at most
// MaxSlots and one more.
func (r *Rule) Between(from, to time.Time) []time.Time {
	slots := r.Next(from.Add(-time.Millisecond), MaxSlots+1)
	for i, slot := range slots {
		if !slot.Before(to) {
			return slots[:i]
		}
	}
	return slots
}
