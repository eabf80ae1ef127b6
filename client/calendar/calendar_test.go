package calendar_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"transect/client/calendar"
)

func noEnv(string) (string, bool) { return "", false }

func zone(t *rapid.T) *time.Location {
	name := rapid.SampledFrom([]string{"UTC", "+05:45", "-09:30", "Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe", "Pacific/Apia"}).Draw(t, "zone")
	loc, err := calendar.Zone(name, noEnv)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

// TestTimesComeBackAsTheyWere: a time formatted by a complete layout is parsed as the same time, in every zone.
func TestTimesComeBackAsTheyWere(t *testing.T) {
	layouts := []string{"datetime", "%Y%m%d%H%M%S%L%z", "%s.%L", "%j %Y %I:%M:%S.%L %p %:z", "%G-W%V-%u %T.%L %z", "%A %d %B %Y %R:%S,%L%:z"}
	rapid.Check(t, func(t *rapid.T) {
		at := time.UnixMilli(rapid.Int64Range(-3_000_000_000_000, 4_000_000_000_000).Draw(t, "millis"))
		layout, loc := rapid.SampledFrom(layouts).Draw(t, "layout"), zone(t)
		if _, offset := at.In(loc).Zone(); offset%60 != 0 {
			t.Skip("text has no seconds in offsets; some places had them until 1935")
		}
		text, err := calendar.Format(at.In(loc), layout)
		if err != nil {
			t.Fatal(err)
		}
		got, err := calendar.Read(text, layout, time.UTC)
		if err != nil || !got.Equal(at) {
			t.Fatalf("%v by %s in %s is %s, and came back as %v: %v", at, layout, loc, text, got, err)
		}
		// A zone's clock time is that time, or is shown twice.
		if back := calendar.Wall(at.In(loc), loc); !back.Equal(at) && at.Sub(back) > 2*time.Hour {
			t.Fatalf("%v in %s came back as %v", at, loc, back)
		}
	})
}

// TestStepsThroughTheCalendar: a number of days there and back is the same day, and a number of
// months keeps the day or the last of the month.
func TestStepsThroughTheCalendar(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := time.UnixMilli(rapid.Int64Range(0, 4_000_000_000_000).Draw(t, "millis"))
		loc, n := zone(t), rapid.IntRange(-40, 40).Draw(t, "n")
		days, err := calendar.Step{Days: 1}.From(at.In(loc), n)
		if err != nil {
			t.Fatal(err)
		}
		back, err := calendar.Step{Days: -1}.From(days, n)
		if gap := back.Sub(at).Abs(); err != nil || gap > 25*time.Hour { // a day that was not, or hours clocks jump over
			t.Fatalf("%d days from %v in %s and back is %v: %v", n, at, loc, back, err)
		}
		months, err := calendar.Step{Months: 1}.From(at.In(loc), n)
		if err != nil {
			t.Fatal(err)
		}
		from, to := at.In(loc), months.In(loc)
		if m := int(from.Month()) - 1 + n; ((m%12)+12)%12 != int(to.Month())-1 && to.Day() != 1 {
			t.Fatalf("%d months from %v is %v", n, from, to)
		}
	})
}
