package board

import (
	"context"
	"net/url"
	"time"

	"transect/runtime/jobs"
	"transect/runtime/jobs/schedule"
)

// Scheduled is a schedule with its newest slot.
type Scheduled struct {
	*schedule.Listed
}

// Class is the colour of the last outcome.
func (s Scheduled) Class() string {
	if s.Last == nil {
		return ""
	}
	return Slot{s.Last}.Class()
}

// Link is the page of the schedule.
func (s Scheduled) Link() string { return ScheduleLink(s.Name) }

// ScheduleLink is the page of a schedule.
func ScheduleLink(name string) string { return "/schedules/" + url.PathEscape(name) }

// Slot is a due time of a schedule, and what became of it.
type Slot struct{ *schedule.Fired }

// Class is the colour of the outcome.
func (s Slot) Class() string {
	if s.Job == 0 {
		return "warn"
	}
	return class(jobs.State(s.Outcome))
}

// Took is how long its job took; 0 for none that ended.
func (s Slot) Took() time.Duration {
	if s.Started.IsZero() || s.Ended.Before(s.Started) {
		return 0
	}
	return s.Ended.Sub(s.Started)
}

// SchedulePage is one schedule.
type SchedulePage struct {
	Scheduled
	Slots []Slot      // newest first
	Later []time.Time // slots after the next
}

const (
	slotsOnPage = 50
	laterSlots  = 2
)

// ReadSchedule reads the page of a schedule.
func ReadSchedule(ctx context.Context, store *jobs.Store, name string) (*SchedulePage, error) {
	found, err := schedule.Get(ctx, store, name)
	if err != nil {
		return nil, err
	}
	p := &SchedulePage{Scheduled: Scheduled{&schedule.Listed{Schedule: found}}}
	list, _, err := schedule.List(ctx, store)
	if err != nil {
		return nil, err
	}
	for _, s := range list {
		if s.Name == name {
			p.Scheduled = Scheduled{s}
		}
	}
	slots, err := schedule.History(ctx, store, name, slotsOnPage)
	if err != nil {
		return nil, err
	}
	for _, s := range slots {
		p.Slots = append(p.Slots, Slot{s})
	}
	if times, err := p.Times(); err == nil && !p.Next.IsZero() {
		p.Later = times.Next(p.Next, laterSlots)
	}
	return p, nil
}
