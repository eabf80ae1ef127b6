package cron

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"transect/client/fault"
	"transect/client/suggest"
)

// Table is a user's crontab as it stands.
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

// Find gives the job of a name.
func (t *Table) Find(name string) (*Job, error) {
	var names []string
	for _, j := range t.Jobs() {
		if j.Name == name {
			return j, nil
		}
		names = append(names, j.Name)
	}
	hint := "there are none; transect cron add makes one"
	if near := suggest.Nearest(name, names); near != "" {
		hint = "did you mean " + near + "?"
	} else if len(names) > 0 {
		hint = "the jobs are " + strings.Join(names, ", ")
	}
	return nil, fault.Hinted(fault.Of(&fault.UsageError{}, "there is no job %s", name), "%s", hint)
}

// Add adds a job, in the place of one of its name.
func (t *Table) Add(j *Job) {
	var b strings.Builder
	placed := false
	for line := range strings.Lines(t.text) {
		if old := parseLine(strings.TrimRight(line, "\r\n")); old == nil || old.Name != j.Name {
			b.WriteString(line)
			continue
		}
		if !placed {
			b.WriteString(j.Line + "\n")
			placed = true
		}
	}
	if !placed {
		if b.Len() > 0 && !strings.HasSuffix(b.String(), "\n") {
			b.WriteByte('\n')
		}
		b.WriteString(j.Line + "\n")
	}
	t.text = b.String()
}

// Remove removes the job of a name.
func (t *Table) Remove(name string) {
	var b strings.Builder
	for line := range strings.Lines(t.text) {
		if j := parseLine(strings.TrimRight(line, "\r\n")); j == nil || j.Name != name {
			b.WriteString(line)
		}
	}
	t.text = b.String()
}

// Program is the program that keeps crontabs.
type Program struct {
	Path string // crontab when empty
}

// patience is far more than the program takes.
const patience = 30 * time.Second

func (p Program) run(ctx context.Context, input string, args ...string) (out, told string, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	path := p.Path
	if path == "" {
		path = "crontab"
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stdin = strings.NewReader(input)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	if errors.Is(err, exec.ErrNotFound) {
		err = fault.Hinted(fault.Of(&fault.ConfigError{}, "there is no program crontab here"),
			"install cron (Debian: apt install cron), or name the program in TRANSECT_CRONTAB; where there is no cron, call transect run from what the system has instead")
	}
	return stdout.String(), strings.TrimSpace(stderr.String()), err
}

// Read reads the user's crontab; one that does not exist is empty.
func (p Program) Read(ctx context.Context) (*Table, error) {
	text, told, err := p.run(ctx, "", "-l")
	var failed *exec.ExitError
	switch {
	case errors.As(err, &failed) && (strings.Contains(told, "no crontab for") ||
		strings.Contains(told, "can't open") && strings.Contains(told, "No such file or directory")): // BusyBox
		return &Table{}, nil
	case err != nil:
		return nil, problem("cannot read the crontab", told, err)
	}
	return &Table{text}, nil
}

// Write puts a crontab in the place of the user's, and looks whether it is
// there. An empty one is no crontab at all, as before the first job.
func (p Program) Write(ctx context.Context, t *Table) error {
	if t.text == "" {
		_, _, _ = p.run(ctx, "", "-r") // where it cannot, it is written empty
		if now, err := p.Read(ctx); err == nil && now.text == "" {
			return nil
		}
	}
	if _, told, err := p.run(ctx, t.text, "-"); err != nil {
		return problem("the crontab was not changed", told, err)
	}
	now, err := p.Read(ctx)
	if err == nil && now.text != t.text {
		err = fault.Hinted(fault.Of(&fault.FileError{}, "the crontab is not what was written: somebody else may have changed it meanwhile"), "look at it with crontab -l")
	}
	return err
}

func problem(what, told string, err error) error {
	if fault.Find(err) != nil {
		return err
	}
	if told != "" {
		err = fmt.Errorf("%s", told)
	}
	return fault.Hinted(fault.Of(&fault.ConfigError{}, "%s: %w", what, err), "try crontab -l yourself; cron may not be allowed for this user")
}
