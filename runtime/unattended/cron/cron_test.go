package cron

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"transect/runtime/timetable"
)

// A job is read back from its line as it was made, also paused.
func TestJobIsReadBack(t *testing.T) {
	when, err := timetable.System("30 2 * * *").Times()
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringOf(rapid.RuneFrom([]rune(`ab %\'"$#!*&;=|<>()ü` + "`")))
		folder, env := "/srv/"+word.Draw(t, "folder"), []string{"TRANSECT_BWLIMIT=" + word.Draw(t, "value")}
		command := append([]string{"/bin/transect", "run"}, rapid.SliceOfN(word, 0, 3).Draw(t, "words")...)
		made, err := NewJob("nightly", when, folder, env, command)
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range []*Job{made, made.Paused()} {
			read := parseLine(j.Line)
			gotFolder, gotEnv, gotCommand, err := read.Words()
			if err != nil || read.Off != j.Off || gotFolder != folder || !slices.Equal(gotEnv, env) || !slices.Equal(gotCommand, command) {
				t.Fatalf("%s\nbecame %q %q %q, %v", j.Line, gotFolder, gotEnv, gotCommand, err)
			}
			if on := read.Resumed(); on.Line != made.Line {
				t.Fatalf("resumed as %s", on.Line)
			}
		}
	})
}

// Whatever an argument holds, the shell gets it back, from crons that take a
// backslash before a percent sign away and from those that do not.
func TestQuote(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want []string
		var line strings.Builder
		line.WriteString("printf '%s\\n'")
		for range rapid.IntRange(1, 3).Draw(t, "words") {
			word := rapid.StringOf(rapid.RuneFrom([]rune(`ab %\'"$#!*&;ü`+"`"))).Draw(t, "word")
			want = append(want, word)
			line.WriteString(" " + quote(word))
		}
		if strings.Contains(strings.TrimPrefix(line.String(), "printf '%s\\n'"), `\\`) {
			t.Fatalf("two backslashes meet in %s", line.String())
		}
		kept := line.String()
		stripped := strings.ReplaceAll(kept, `\%`, `%`)
		for _, command := range []string{kept, stripped} {
			out, err := exec.Command("sh", "-c", command).Output()
			if err != nil || string(out) != strings.Join(want, "\n")+"\n" {
				t.Fatalf("%s: got %q, want %q, error %v", command, out, want, err)
			}
		}
	})
}

// Adding and removing leaves everything else byte for byte.
func TestTableKeepsTheRest(t *testing.T) {
	when, _ := timetable.System("*/5 * * * *").Times()
	rapid.Check(t, func(t *rapid.T) {
		before := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{
			"# a comment\n", "MAILTO=ops@example.com\n", "\n", "0 3 * * * /usr/bin/backup 100\\%\r\n", "  \t\n", "@reboot x # not transect job\n", "* * * * * y # transect jobs z\n",
		})).Draw(t, "lines"), "")
		job, err := NewJob("nightly", when, "/srv", nil, []string{"/bin/true"})
		if err != nil {
			t.Fatal(err)
		}
		table := &Table{before}
		table.Add(job)
		table.Add(job)
		if table.text != before+job.Line+"\n" || len(table.Jobs()) != 1 {
			t.Fatalf("after adding: %q", table.text)
		}
		table.text += "# behind\n"
		table.Remove("nightly")
		if table.text != before+"# behind\n" {
			t.Fatalf("after removing: %q", table.text)
		}
	})
}

// A job is overdue once cron must have seen its time, unless it is paused.
func TestOverdue(t *testing.T) {
	when, err := timetable.System("30 2 * * *").Times()
	if err != nil {
		t.Fatal(err)
	}
	last, due := time.Date(2026, 11, 22, 2, 30, 3, 0, time.UTC), time.Date(2026, 11, 23, 2, 30, 0, 0, time.UTC)
	j := &Job{Times: when}
	for _, c := range []struct {
		job  *Job
		late time.Duration
		want time.Time
	}{{j, -time.Hour, time.Time{}}, {j, time.Minute, time.Time{}}, {j, 3 * time.Minute, due}, {j, 50 * time.Hour, due},
		{j.Paused(), 3 * time.Minute, time.Time{}}, {&Job{}, 3 * time.Minute, time.Time{}}} {
		if got := c.job.Overdue(last, due.Add(c.late)); !got.Equal(c.want) {
			t.Errorf("%s late, paused %v: overdue since %s, want %s", c.late, c.job.Off, got, c.want)
		}
	}
}
