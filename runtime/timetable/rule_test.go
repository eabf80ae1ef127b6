package timetable

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func rule(t testing.TB, expr, zone string) *Times {
	t.Helper()
	r, err := Rule{Expr: expr, Zone: zone}.Times()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// at reads a time of a zone.
func at(t testing.TB, r *Times, text string) time.Time {
	t.Helper()
	when, err := time.ParseInLocation("2006-01-02 15:04", text, r.Zone)
	if err != nil {
		t.Fatal(err)
	}
	return when
}

// The rules of docs/schedules.md for the days on which clocks are set.
func TestDaylightSaving(t *testing.T) {
	for _, c := range []struct{ what, zone, expr, from, want string }{
		{"fixed, skipped: when the clock is set", "Europe/Paris", "30 2 * * *", "2027-03-27 12:00", "03-28 03:00 CEST, 03-29 02:30 CEST"},
		{"fixed, both in the skipped hour: once", "Europe/Paris", "15,45 2 * * *", "2027-03-27 12:00", "03-28 03:00 CEST, 03-29 02:15 CEST"},
		{"fixed, skipped and the time it becomes: once", "Europe/Paris", "0 2,3 * * *", "2027-03-27 12:00", "03-28 03:00 CEST, 03-29 02:00 CEST"},
		{"fixed, twice: the first time", "Europe/Paris", "30 2 * * *", "2027-10-30 12:00", "10-31 02:30 CEST, 11-01 02:30 CET"},
		{"each hour follows the clock, skipped", "Europe/Paris", "30 * * * *", "2027-03-28 01:00", "03-28 01:30 CET, 03-28 03:30 CEST"},
		{"each hour follows the clock, twice", "Europe/Paris", "30 * * * *", "2027-10-31 01:45", "10-31 02:30 CEST, 10-31 02:30 CET, 10-31 03:30 CET"},
		{"each minute of the skipped hour: not that day", "Europe/Paris", "*/30 2 * * *", "2027-03-27 12:00", "03-29 02:00 CEST, 03-29 02:30 CEST"},
		{"each minute of the hour that comes twice", "Europe/Paris", "*/30 2 * * *", "2027-10-30 12:00", "10-31 02:00 CEST, 10-31 02:30 CEST, 10-31 02:00 CET, 10-31 02:30 CET"},
		{"the other half of the world", "Australia/Sydney", "30 2 * * *", "2027-10-02 12:00", "10-03 03:00 AEDT, 10-04 02:30 AEDT"},
		{"half an hour", "Australia/Lord_Howe", "45 1 * * *", "2027-04-03 12:00", "04-04 01:45 +11, 04-05 01:45 +1030"},
		{"midnight is skipped", "America/Santiago", "0 0 * * *", "2027-09-04 12:00", "09-05 01:00 -03, 09-06 00:00 -03"},
		{"a day is skipped", "Pacific/Apia", "0 5 * * *", "2011-12-29 06:00", "12-31 00:00 +14, 12-31 05:00 +14"},
		{"no change in UTC", "UTC", "30 2 * * *", "2027-03-27 12:00", "03-28 02:30 UTC, 03-29 02:30 UTC"},
	} {
		t.Run(c.what, func(t *testing.T) {
			r := rule(t, c.expr, c.zone)
			want := strings.Split(c.want, ", ")
			var got []string
			for _, slot := range r.Next(at(t, r, c.from), len(want)) {
				got = append(got, slot.Format("01-02 15:04 MST"))
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s in %s: got %q, want %q", c.expr, c.zone, got, want)
			}
		})
	}
}

func TestRefusedRules(t *testing.T) {
	for _, c := range []struct{ expr, zone, want string }{
		{"61 * * * *", "UTC", "column 1"}, {"@daily", "Europe/Pariss", `"Europe/Pariss" is not a time zone (did you mean Europe/Paris?)`},
		{"@daily", "Local", "is not a time zone"}, {"@daily", "../etc/passwd", "is not a time zone"},
	} {
		if _, err := (Rule{Expr: c.expr, Zone: c.zone}).Times(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s in %s: got %v, want %s", c.expr, c.zone, err, c.want)
		}
	}
}

func TestDue(t *testing.T) {
	for _, c := range []struct{ expr, catchUp, now, fire, missed, next string }{
		{"0 * * * *", None, "10:00", "10:00", "", "11:00"},
		{"0 * * * *", None, "10:05", "10:00", "", "11:00"},
		{"0 * * * *", None, "10:06", "", "10:00", "11:00"},
		{"0 * * * *", None, "13:02", "13:00", "10:00 12:00", "14:00"},
		{"0 * * * *", Last, "12:30", "12:00", "10:00 11:00", "13:00"},
		{"0 * * * *", All, "12:30", "10:00 11:00 12:00", "", "13:00"},
		{"0 * * * *", All, "09:59", "", "", "10:00"},
	} {
		r := rule(t, c.expr, "UTC")
		r.CatchUp = c.catchUp
		d := r.Due(at(t, r, "2027-01-01 10:00"), at(t, r, "2027-01-01 "+c.now))
		var fire []string
		for _, slot := range d.Fire {
			fire = append(fire, slot.Format("15:04"))
		}
		missed := ""
		if d.Missed == 1 {
			missed = d.First.Format("15:04")
		} else if d.Missed > 1 {
			missed = d.First.Format("15:04") + " " + d.Last.Format("15:04")
		}
		if strings.Join(fire, " ") != c.fire || missed != c.missed || d.Next.Format("15:04") != c.next {
			t.Errorf("%s by %s: fires %q, misses %q, next %s; want %q, %q, %s", c.catchUp, c.now, fire, missed, d.Next.Format("15:04"), c.fire, c.missed, c.next)
		}
	}
}

// A year without a worker.
func TestCatchUpIsBounded(t *testing.T) {
	r := rule(t, "* * * * *", "Europe/Paris")
	r.CatchUp = All
	next, now := at(t, r, "2026-01-01 00:00"), at(t, r, "2027-01-01 00:00")
	d := r.Due(next, now)
	if len(d.Fire) != MaxSlots || d.Missed != 365*24*60+1-MaxSlots || !d.First.Equal(next) || !d.Fire[MaxSlots-1].Equal(now) ||
		!d.Last.Add(time.Minute).Equal(d.Fire[0]) || !d.Next.Equal(now.Add(time.Minute)) {
		t.Errorf("fires %d, misses %d from %s to %s, next %s", len(d.Fire), d.Missed, d.First, d.Last, d.Next)
	}
}

// Whenever schedulers look, each slot is in one answer only, and in order.
func TestDueDividesTheSlots(t *testing.T) {
	zones := []string{"UTC", "Europe/Paris", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Asia/Kathmandu"}
	exprs := []string{"* * * * *", "*/7 * * * *", "30 2 * * *", "0 */3 * * *", "15,45 1-3 * * sun", "@hourly", "0 2,3 * * *", "59 23 28-31 * *"}
	rapid.Check(t, func(t *rapid.T) {
		r, err := Rule{Expr: rapid.SampledFrom(exprs).Draw(t, "expr"), Zone: rapid.SampledFrom(zones).Draw(t, "zone")}.Times()
		if err != nil {
			t.Fatal(err)
		}
		r.CatchUp = rapid.SampledFrom([]string{None, Last, All}).Draw(t, "catch-up")
		start := time.Date(2026, time.Month(rapid.IntRange(1, 12).Draw(t, "month")), rapid.IntRange(1, 28).Draw(t, "day"), 0, 0, 30, 0, time.UTC)
		first := r.Next(start, 1)[0]
		next, now, count := first, first, 0
		for range rapid.IntRange(1, 6).Draw(t, "looks") {
			now = now.Add(time.Duration(rapid.IntRange(0, 400).Draw(t, "minutes")) * time.Minute)
			d := r.Due(next, now)
			count += d.Missed + len(d.Fire)
			if d.Missed > 0 && d.First.Before(next) || !slices.IsSortedFunc(d.Fire, time.Time.Compare) || d.Late > len(d.Fire) || r.CatchUp == All && d.Missed > 0 {
				t.Fatalf("at %s: %+v", now, d)
			}
			for _, slot := range d.Fire {
				if slot.Before(next) || !slot.Before(d.Next) || slot.After(now) {
					t.Fatalf("%s fires %s before %s, next %s", now, slot, next, d.Next)
				}
			}
			next = d.Next
		}
		want := 0
		for _, slot := range append([]time.Time{first}, r.Next(first, count+1)...) {
			if !slot.After(now) {
				want++
			}
		}
		if count != want {
			t.Fatalf("%d slots by %s, want %d", count, now, want)
		}
	})
}

func TestBetween(t *testing.T) {
	r := rule(t, "30 2 * * *", "Europe/Paris")
	slots := r.Between(at(t, r, "2027-03-27 02:30"), at(t, r, "2027-03-30 02:30"))
	if len(slots) != 3 || slots[1].Format("15:04") != "03:00" {
		t.Errorf("got %v", slots)
	}
}
