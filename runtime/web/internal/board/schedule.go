package board

import (
	"context"
	"net/url"
	"time"

	"transect/runtime/jobs"
	"transect/runtime/jobs/schedule"
)

// ScheduleLink returns the address of a schedule's page.
func ScheduleLink(name string) string { return "/schedules/" + url.PathEscape(name) }

// SchedulePage is the data of a schedule's page.
type SchedulePage struct {
	*schedule.Listed
	Slots []*schedule.Fired // newest first
	Later []time.Time       // slots after the next
}

const (
	slotsOnPage = 50
	laterSlots  = 2
)

// ReadSchedule reads the data of a schedule's page.
func ReadSchedule(ctx context.Context, store *jobs.Store, name string) (*SchedulePage, error) {
	found, err := schedule.Get(ctx, store, name)
	if err != nil {
		return nil, err
	}
	p := &SchedulePage{Listed: &schedule.Listed{Schedule: found}}
	list, _, err := schedule.List(ctx, store)
	if err != nil {
		return nil, err
	}
	for _, s := range list {
		if s.Name == name {
			p.Listed = s
		}
	}
	if p.Slots, err = schedule.History(ctx, store, name, slotsOnPage); err != nil {
		return nil, err
	}
	if times, err := p.Times(); err == nil && !p.Next.IsZero() {
		p.Later = times.Next(p.Next, laterSlots)
	}
	return p, nil
}
