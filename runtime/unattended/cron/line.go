// Package cron makes the system's cron run scripts: it adds, lists and removes marked lines of the user's
// crontab and keeps all others byte for byte. Package timetable computes when they are due.
//
// Begin reading with Table (table.go), then Job (line.go).
package cron

import (
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/mattn/go-shellwords"

	"transect/client/fault"
	"transect/runtime/timetable"
)

// maxCommand is the longest command that common crons accept; they truncate it.
const maxCommand = 990

// mark follows the command of each of our lines: a comment for the shell.
const mark = " # transect job "

// Job is one of our lines in a crontab.
type Job struct {
	Name    string
	Times   *timetable.Times // nil when the line was edited to an invalid expression
	Expr    string
	Command string // as passed to the shell
	Line    string
	Off     bool // commented out
}

// NewJob returns a job whose command runs in folder.
func NewJob(name string, when *timetable.Times, folder string, env, command []string) (*Job, error) {
	text := Command(folder, env, command)
	if strings.ContainsAny(text, "\n\r\x00") {
		return nil, fault.Hinted(fault.Of(&fault.UsageError{}, "an argument contains a line break, which a crontab cannot"),
			"put it into the script or a file")
	}
	j := &Job{Name: name, Times: when, Expr: when.Text, Command: text}
	escaped := text + mark + name
	if len(escaped) > maxCommand {
		return nil, fault.Hinted(fault.Of(&fault.UsageError{}, "the command has %d characters, the limit of cron is %d",
			len(escaped), maxCommand),
			"put the flags into a configuration file, or the arguments into the script")
	}
	j.Line = when.Text + " " + escaped
	return j, nil
}

var plainWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_./:=@,+-]+$`) })

// quote quotes a word for the shell and for cron. Cron ends a command at a
// percent sign unless a backslash precedes it; some crons remove that backslash,
// and replace two by one. So percent signs are put outside of quotes, where the
// shell removes the backslash if cron has not, and two backslashes never meet.
func quote(word string) string {
	if plainWord().MatchString(word) {
		return word
	}
	var b strings.Builder
	b.WriteByte('\'')
	for _, c := range []byte(word) {
		switch c {
		case '\'':
			b.WriteString(`'"'"'`)
		case '%':
			b.WriteString(`'\%'`)
		case '\\':
			b.WriteString(`\''`)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('\'')
	return b.String()
}

// startLate is how late cron may start a job: it reads its table once a minute.
const startLate = 2 * time.Minute

// Overdue returns when the job should have started since its last start; zero when it is not overdue.
func (j *Job) Overdue(last, now time.Time) (due time.Time) {
	if j.Times == nil || j.Off {
		return due
	}
	if next := j.Times.Next(last.In(now.Location()), 1); len(next) > 0 && now.Sub(next[0]) > startLate {
		due = next[0]
	}
	return due
}

// paused is the prefix of the line of a paused job.
const paused = "# "

// Paused returns the job as a comment, which cron skips.
func (j *Job) Paused() *Job {
	off := *j
	if !j.Off {
		off.Off, off.Line = true, paused+j.Line
	}
	return &off
}

// Resumed returns the job without the comment sign.
func (j *Job) Resumed() *Job {
	on := *j
	on.Off, on.Line = false, strings.TrimLeft(j.Line, "# \t")
	return &on
}

// Words splits the command: the folder it runs in, its variables as NAME=value,
// and the program with its arguments.
func (j *Job) Words() (folder string, env, command []string, err error) {
	change, rest, found := strings.Cut(j.Command, " && ")
	words, err := shellwords.Parse(change)
	if err == nil && found && len(words) == 2 && words[0] == "cd" {
		folder = words[1]
		command, err = shellwords.Parse(rest)
	}
	for len(command) > 0 && isVariable(command[0]) {
		env, command = append(env, command[0]), command[1:]
	}
	if err != nil || len(command) < 2 {
		return "", nil, nil, fault.Hinted(fault.Of(&fault.UsageError{},
			"the line of the job %s was edited to something else", j.Name),
			"correct it with crontab -e, or add it again with transect cron add --replace %s", j.Name)
	}
	return folder, env, command, nil
}

var variable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Z_][A-Z0-9_]*=`) })

func isVariable(word string) bool { return variable().MatchString(word) }

// Split splits a shell command into words.
func Split(text string) ([]string, error) {
	words, err := shellwords.Parse(text)
	if err != nil {
		return nil, fault.Hinted(fault.Of(&fault.UsageError{}, "%q cannot be split into words", text),
			"a quote may be missing")
	}
	return words, nil
}

// Join quotes words for a shell.
func Join(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quote(w)
	}
	return strings.Join(quoted, " ")
}

// Command returns a shell command that sets the variables, each NAME=value, and runs the words in a folder.
func Command(folder string, env, words []string) string {
	text := "cd " + quote(folder) + " && "
	for _, word := range env {
		name, value, _ := strings.Cut(word, "=")
		text += name + "=" + quote(value) + " "
	}
	return text + Join(words)
}

// CutExpr splits a line into its expression and what follows.
func CutExpr(line string) (expr, rest string) {
	parts := 5
	if rest = strings.TrimLeft(line, " \t"); strings.HasPrefix(rest, "@") {
		parts = 1
	}
	for range parts {
		end := strings.IndexAny(rest+" ", " \t")
		expr, rest = expr+" "+rest[:end], strings.TrimLeft(rest[end:], " \t")
	}
	return strings.TrimSpace(expr), strings.TrimSpace(rest)
}

// parseLine parses a line of a crontab; nil when it is not ours.
func parseLine(line string) *Job {
	at := strings.LastIndex(line, mark)
	if at < 0 {
		return nil
	}
	name := strings.TrimSpace(line[at+len(mark):])
	if timetable.CheckName(name) != nil {
		return nil
	}
	j := &Job{Name: name, Line: line}
	rest := strings.TrimLeft(line[:at], " \t")
	if strings.HasPrefix(rest, "#") {
		j.Off, rest = true, strings.TrimLeft(rest, "# \t")
	}
	j.Expr, j.Command = CutExpr(rest)
	if times, err := timetable.System(j.Expr).Times(); err == nil { // fails if it was edited by hand
		j.Times = times
	}
	return j
}
