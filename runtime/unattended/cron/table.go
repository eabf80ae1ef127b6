package cron

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"time"

	"transect/client/fault"
	"transect/client/suggest"
)

// Table is a user's crontab.
type Table struct {
	text string
}

// Jobs lists our lines.
func (t *Table) Jobs() []*Job {
	var jobs []*Job
	for line := range strings.Lines(t.text) {
		if j := parseLine(strings.TrimRight(line, "\r\n")); j != nil {
			jobs = append(jobs, j)
		}
	}
	return jobs
}

// Find returns the job with a name.
func (t *Table) Find(name string) (*Job, error) {
	var names []string
	for _, j := range t.Jobs() {
		if j.Name == name {
			return j, nil
		}
		names = append(names, j.Name)
	}
	hint := "there are none; transect cron add adds one"
	if near := suggest.Nearest(name, names); near != "" {
		hint = "did you mean " + near + "?"
	} else if len(names) > 0 {
		hint = "the jobs are " + strings.Join(names, ", ")
	}
	return nil, fault.Hinted(fault.Of(&fault.UsageError{}, "there is no job %s", name), "%s", hint)
}

// Add adds a job, or replaces the one with its name.
func (t *Table) Add(j *Job) {
	if !t.replace(j.Name, j.Line+"\n") {
		if t.text != "" && !strings.HasSuffix(t.text, "\n") {
			t.text += "\n"
		}
		t.text += j.Line + "\n"
	}
}

// Environment lists the variables that the table sets before the job's line, as
// NAME=value.
func (t *Table) Environment(name string) []string {
	var env []string
	for line := range strings.Lines(t.text) {
		line = strings.TrimSpace(line)
		if j := parseLine(line); j != nil && j.Name == name {
			break
		}
		if key, value, found := strings.Cut(line, "="); found && variableName().MatchString(strings.TrimSpace(key)) {
			env = append(env, strings.TrimSpace(key)+"="+strings.Trim(strings.TrimSpace(value), `"'`))
		}
	}
	return env
}

var variableName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`) })

// Remove removes the job with a name.
func (t *Table) Remove(name string) { t.replace(name, "") }

// replace puts a text in place of the job with a name.
func (t *Table) replace(name, text string) (found bool) {
	var b strings.Builder
	for line := range strings.Lines(t.text) {
		if j := parseLine(strings.TrimRight(line, "\r\n")); j == nil || j.Name != name {
			b.WriteString(line)
			continue
		}
		if !found {
			b.WriteString(text)
		}
		found = true
	}
	t.text = b.String()
	return found
}

// Program is the crontab program.
type Program struct {
	Path string // default: crontab
}

// Missing reports whether this machine lacks the program.
func (p Program) Missing() bool {
	_, err := exec.LookPath(cmp.Or(p.Path, "crontab"))
	return err != nil
}

// timeout is far more than the program needs.
const timeout = 30 * time.Second

func (p Program) run(ctx context.Context, input string, args ...string) (out, message string, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, cmp.Or(p.Path, "crontab"), args...)
	cmd.Stdin = strings.NewReader(input)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	if errors.Is(err, exec.ErrNotFound) {
		err = fault.Hinted(fault.Of(&fault.ConfigError{}, "cannot find the program crontab"),
			"install cron (Debian: apt install cron), or name the program in TRANSECT_CRONTAB; without cron, call "+
				"transect run from the scheduler of the system")
	}
	return stdout.String(), strings.TrimSpace(stderr.String()), err
}

// Read reads the user's crontab; a missing one is empty.
func (p Program) Read(ctx context.Context) (*Table, error) {
	text, message, err := p.run(ctx, "", "-l")
	_, failed := errors.AsType[*exec.ExitError](err)
	switch {
	case failed && (strings.Contains(message, "no crontab for") ||
		strings.Contains(message, "can't open") && strings.Contains(message, "No such file or directory")): // BusyBox
		return &Table{}, nil
	case err != nil:
		return nil, problem("cannot read the crontab", message, err)
	}
	return &Table{text}, nil
}

// Write replaces the user's crontab and reads it back. An empty one is removed, to restore the state before
// the first job.
func (p Program) Write(ctx context.Context, t *Table) error {
	if t.text == "" {
		_, _, _ = p.run(ctx, "", "-r") // if that fails, an empty one is written
		if now, err := p.Read(ctx); err == nil && now.text == "" {
			return nil
		}
	}
	if _, message, err := p.run(ctx, t.text, "-"); err != nil {
		return problem("the crontab was not changed", message, err)
	}
	now, err := p.Read(ctx)
	if err == nil && now.text != t.text {
		err = fault.Hinted(fault.Of(&fault.FileError{},
			"the crontab is not what was written: it may have been changed concurrently"), "check it with crontab -l")
	}
	return err
}

func problem(what, message string, err error) error {
	if fault.Find(err) != nil {
		return err
	}
	if message != "" {
		err = errors.New(message)
	}
	return fault.Hinted(fault.Of(&fault.ConfigError{}, "%s: %w", what, err),
		"try crontab -l yourself; cron may not be allowed for this user")
}
