package timetable

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"pgregory.net/rapid"

	"transect/client/fault"
)

func TestRefuses(t *testing.T) {
	for text, column := range map[string]int{
		"": 1, "* * * *": 8, "* * * * * *": 11, "60 * * * *": 1, "0 24 * * *": 3, "0 0 0 * *": 5, "0 0 32 * *": 5, "0 0 * 13 *": 7, "0 0 * * 8": 9,
		"5/10 * * * *": 2, "*/0 * * * *": 3, "*/61 * * * *": 3, "5-1 * * * *": 1, "1- * * * *": 3, "1,,2 * * * *": 3, "a * * * *": 1, "0 0 * foo *": 7,
		"0 0 L * *": 5, "0 0 * * mon#2": 12, "0 0 ? * *": 5, "~ * * * *": 1, "0 0 31 feb *": 1, "0 0 30 2 *": 1, "0 0 31 4,6 *": 1, "1 * * * */": 11, "* * * * fri-mon": 9,
	} {
		_, err := Parse(text)
		var usage *fault.UsageError
		if !errors.As(err, &usage) || !strings.Contains(usage.Message, fmt.Sprintf("column %d:", column)) || usage.Hint == "" || strings.Contains(usage.Message, usage.Hint) {
			t.Errorf("%q: got %v, want column %d", text, err, column)
		}
	}
	if _, err := Parse("@dayly"); err == nil || fault.Find(err).Facts().Hint != "did you mean @daily?" {
		t.Errorf("got %v", err)
	}
}

func TestNext(t *testing.T) {
	for _, c := range []struct{ zone, text, from, want string }{
		{"UTC", "*/20 * * * *", "2026-03-01 10:00", "10:20 10:40 11:00"},
		{"UTC", "30 2 * * *", "2026-12-30 02:30", "12-31 02:30, 01-01 02:30"},
		{"UTC", "0 0 29 2 *", "2026-01-01 00:00", "2028-02-29, 2032-02-29"},
		{"UTC", "0 0 13 * fri", "2026-11-21 00:00", "11-27, 12-04, 12-11, 12-13"}, // either day is enough
		{"UTC", "0 0 */10 * fri", "2026-11-21 00:00", "2026-12-11, 2027-01-01"},   // both, for one begins with *
		{"UTC", "0 0 * * 7", "2026-11-21 00:00", "11-22, 11-29"},                  // 7 is Sunday
		{"UTC", "@weekly", "2026-11-21 00:00", "11-22, 11-29"},
		{"UTC", "0-30/15,45 9 * jan mon-tue", "2026-11-21 00:00", "01-04 09:00, 01-04 09:15, 01-04 09:30, 01-04 09:45, 01-05 09:00"},
		{"Europe/Berlin", "30 2 * * *", "2026-03-28 12:00", "03-29 03:00 CEST, 03-30 02:30 CEST"},                        // the hour is lost
		{"Europe/Berlin", "30 2 * * *", "2026-10-24 12:00", "10-25 02:30 CEST, 10-26 02:30 CET"},                         // it comes twice
		{"Europe/Berlin", "*/30 * * * *", "2026-10-25 01:40", "02:00 CEST, 02:30 CEST, 02:00 CET, 02:30 CET, 03:00 CET"}, // that follows the clock
		{"Europe/Berlin", "*/30 * * * *", "2026-03-29 01:10", "01:30 CET, 03:00 CEST"},
		{"America/Sao_Paulo", "0 0 * * *", "2018-11-03 12:00", "2018-11-04 01:00"}, // midnight is lost
		{"Australia/Lord_Howe", "15 2 * * *", "2026-10-03 12:00", "10-04 02:30"},   // half an hour is
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		e, err := Parse(c.text)
		if err != nil {
			t.Fatal(err)
		}
		from, _ := time.ParseInLocation("2006-01-02 15:04", c.from, zone)
		want := strings.Split(c.want, ", ")
		if !strings.Contains(c.want, ",") && strings.Count(c.want, ":") > 1 {
			want = strings.Fields(c.want)
		}
		got := e.Next(from, len(want))
		if len(got) != len(want) {
			t.Errorf("%s from %s: got %v", c.text, c.from, got)
			continue
		}
		for i := range want {
			if text := got[i].Format("2006-01-02 15:04 MST"); !strings.Contains(text, want[i]) {
				t.Errorf("%s in %s from %s: time %d is %s, want %s", c.text, c.zone, c.from, i+1, text, want[i])
			}
		}
	}
}

// expression draws texts that are often right, and sometimes nearly so.
func expression(t *rapid.T) string {
	var words []string
	for _, f := range fields {
		value := func() string {
			if f.names != nil && rapid.IntRange(0, 3).Draw(t, "named") == 0 {
				return rapid.SampledFrom(f.names).Draw(t, "name")
			}
			return fmt.Sprint(rapid.IntRange(f.min, f.max).Draw(t, "value"))
		}
		var parts []string
		for range rapid.IntRange(1, 3).Draw(t, "parts") {
			part := "*"
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 1:
				part = value()
			case 2:
				part = value() + "-" + value()
			case 3:
				part = "*/" + fmt.Sprint(rapid.IntRange(1, f.max).Draw(t, "step"))
			}
			parts = append(parts, part)
		}
		words = append(words, strings.Join(parts, ","))
	}
	return strings.Join(words, " ")
}

// What is accepted fires, at moments its fields allow, one after the other.
func TestFiresWhereItSays(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		e, err := Parse(expression(t))
		if err != nil {
			return
		}
		from := time.Date(2026, 11, 21, 0, 0, 0, 0, zone).Add(time.Duration(rapid.IntRange(0, 400*24*60).Draw(t, "from")) * time.Minute)
		last := from
		for _, at := range e.Next(from, 5) {
			if !at.After(last) {
				t.Fatalf("%s: %s is not after %s", e.Text, at, last)
			}
			last = at
			_, set := at.ZoneBounds()
			_ = set
			start, _ := at.ZoneBounds()
			if at.Equal(start) {
				continue // jobs of the lost hour
			}
			if e.minute&(1<<at.Minute()) == 0 || e.hour&(1<<at.Hour()) == 0 || e.month&(1<<at.Month()) == 0 || !e.onDay(time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)) {
				t.Fatalf("%s does not fire at %s", e.Text, at)
			}
		}
		if last.Equal(from) {
			t.Fatalf("%s never fires", e.Text)
		}
	})
}

// What is accepted here, the crontab program of this machine accepts too.
func TestCrontabAgrees(t *testing.T) {
	if _, err := exec.LookPath("crontab"); err != nil {
		t.Skip("there is no crontab program here")
	}
	if exec.Command("sh", "-c", "echo '* * * * * true' | crontab -n -").Run() != nil {
		t.Skip("this crontab program cannot check without installing")
	}
	var lines []string
	rapid.Check(t, func(t *rapid.T) {
		if text := expression(t); len(lines) < 800 {
			if _, err := Parse(text); err == nil {
				lines = append(lines, text+" true")
			}
		}
	})
	cmd := exec.Command("crontab", "-n", "-")
	cmd.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	t.Logf("%d expressions", len(lines))
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"* * * * *", "1-5/2,7 * 1 jan mon", "@daily", "*/5 é * * *", "0 0 31 2 *"} {
		f.Add(text)
	}
	from := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		if e, err := Parse(text); err == nil && !e.Reboot && len(e.Next(from, 1)) == 0 {
			t.Errorf("%q never fires", text)
		}
	})
}
