package calendar_test

import (
	"testing"
	"time"

	"transect/client/calendar"
)

func TestMomentsAsPeopleWriteThem(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 3, 30, 12, 0, 0, 0, berlin) // the day after clocks went forward
	const past, future = calendar.Past, calendar.Future
	for _, c := range []struct {
		text      string
		direction calendar.Direction
		want      string
	}{
		{"now", past, "2026-03-30T12:00:00+02:00"},
		{"today", past, "2026-03-30T00:00:00+02:00"},
		{"Yesterday", past, "2026-03-29T00:00:00+01:00"},
		{"tomorrow", future, "2026-03-31T00:00:00+02:00"},
		{"06:00", past, "2026-03-30T06:00:00+02:00"},
		{"13:00", past, "2026-03-29T13:00:00+02:00"},
		{"13:00", future, "2026-03-30T13:00:00+02:00"},
		{"06:00", future, "2026-03-31T06:00:00+02:00"},
		{"2h", past, "2026-03-30T10:00:00+02:00"},
		{"90m", future, "2026-03-30T13:30:00+02:00"},
		{"2d", past, "2026-03-28T12:00:00+01:00"}, // by the calendar
		{"48h", past, "2026-03-28T11:00:00+01:00"},
		{"36h", past, "2026-03-28T23:00:00+01:00"},
		{"7d ago", past, "2026-03-23T12:00:00+01:00"},
		{"2h ago", future, "2026-03-30T10:00:00+02:00"},
		{"2026-03-20", past, "2026-03-20T00:00:00+01:00"},
		{"20260320", past, "2026-03-20T00:00:00+01:00"},
		{"2026-03-20 06:30", past, "2026-03-20T06:30:00+01:00"},
		{"2026-03-20T06:30:00Z", past, "2026-03-20T06:30:00Z"},
	} {
		got, err := calendar.Moment(c.text, now, c.direction)
		if err != nil || got.Format(time.RFC3339) != c.want {
			t.Errorf("%s: got %s, %v, want %s", c.text, got.Format(time.RFC3339), err, c.want)
		}
	}
	for _, text := range []string{"", "someday", "5", "-2h", "2026-02-30", "25:00", "1y"} {
		if got, err := calendar.Moment(text, now, past); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
	if day, err := calendar.Day("2026-03-20T23:30:00Z", now); err != nil || day.Format(time.RFC3339) != "2026-03-21T00:00:00+01:00" {
		t.Errorf("the day is %v, %v", day, err)
	}
}
