package cron

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"transect/client/fault"
)

// longestCommand is what the common crons take; they cut off the rest.
const longestCommand = 990

// mark stands behind each command of ours: a comment for the shell.
const mark = " # transect job "

// Job is one line of a crontab that is ours.
type Job struct {
	Name     string
	Schedule *Expression // nil when the line was changed to what cron does not know
	Expr     string
	Command  string // as a shell gets it
	Line     string
	Off      bool // commented out
}

var jobName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`) })

// CheckName refuses names that could be mistaken in a line of a crontab.
func CheckName(name string) error {
	if !jobName().MatchString(name) {
		return fault.Hinted(fault.Of(&fault.UsageError{}, "%q is no name for a job", name), "use letters, digits, dots, dashes and underscores, such as nightly-ingest")
	}
	return nil
}

// NewJob makes the line of a job. Folder is where the command starts.
func NewJob(name string, when *Expression, folder string, env, command []string) (*Job, error) {
	words := make([]string, 0, len(env)+len(command))
	for _, word := range env {
		key, value, _ := strings.Cut(word, "=")
		words = append(words, key+"="+quote(value))
	}
	for _, word := range command {
		words = append(words, quote(word))
	}
	text := "cd " + quote(folder) + " && " + strings.Join(words, " ")
	if strings.ContainsAny(text, "\n\r\x00") {
		return nil, fault.Hinted(fault.Of(&fault.UsageError{}, "an argument holds a line break, and a line of a crontab cannot"), "put it into the script or into a file")
	}
	j := &Job{Name: name, Schedule: when, Expr: when.Text, Command: text}
	escaped := text + mark + name
	if len(escaped) > longestCommand {
		return nil, fault.Hinted(fault.Of(&fault.UsageError{}, "the command is %d characters long, cron takes %d", len(escaped), longestCommand),
			"put the flags into a configuration file, or the arguments into the script")
	}
	j.Line = when.Text + " " + escaped
	return j, nil
}

var plainWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_./:=@,+-]+$`) })

// quote makes a word of the shell that survives cron as well. Cron ends a
// command at a percent sign unless a backslash stands before it; some crons
// take that backslash away, and make one of two. So a percent sign stands
// outside of quotes, where the shell takes the backslash away if cron has not,
// and no two backslashes ever meet.
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

// parseLine reads a line of a crontab; nil when it is not ours.
func parseLine(line string) *Job {
	at := strings.LastIndex(line, mark)
	if at < 0 {
		return nil
	}
	name := strings.TrimSpace(line[at+len(mark):])
	if CheckName(name) != nil {
		return nil
	}
	j := &Job{Name: name, Line: line}
	rest := strings.TrimLeft(line[:at], " \t")
	if strings.HasPrefix(rest, "#") {
		j.Off, rest = true, strings.TrimLeft(rest, "# \t")
	}
	parts := 5
	if strings.HasPrefix(rest, "@") {
		parts = 1
	}
	for range parts {
		word, after, _ := strings.Cut(strings.TrimLeft(rest, " \t"), " ")
		j.Expr = strings.TrimSpace(j.Expr + " " + word)
		rest = after
	}
	j.Command = strings.TrimSpace(rest)
	j.Schedule, _ = Parse(j.Expr) // somebody may have changed it by hand
	return j
}

// String is the job for a list.
func (j *Job) String() string { return fmt.Sprintf("%s %s", j.Expr, j.Name) }
