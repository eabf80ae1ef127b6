package cli

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"transect/client/human"
	"transect/client/human/tabular"
	"transect/runtime/timetable"
	"transect/runtime/unattended/cron"
	"transect/runtime/unattended/history"
)

// Planned is a schedule or a cron job, as --json prints it.
type Planned struct {
	Name    string      `json:"name"`
	When    string      `json:"when"`
	Zone    string      `json:"zone"` // "" is the machine's
	By      string      `json:"by"`   // cron or worker
	CatchUp string      `json:"catch_up"`
	Overlap string      `json:"overlap"`
	Paused  bool        `json:"paused"`
	Overdue bool        `json:"overdue"`
	Next    []time.Time `json:"next"`
	Waiting int         `json:"waiting"`           // slots
	Last    any         `json:"last"`              // run of cron or slot of a worker, or null
	Command string      `json:"command,omitempty"` // of cron
	Job     any         `json:"job,omitempty"`     // of a worker: what it submits

	NextText, LastText, Title string `json:"-"` // as the table prints them
}

// SlotsOf returns the entry of a rule.
func SlotsOf(name string, rule timetable.Rule) *Planned {
	return &Planned{Name: name, When: rule.Expr, Zone: rule.Zone, CatchUp: rule.CatchUp, Overlap: rule.Overlap,
		Next: []time.Time{}}
}

// ofCron converts a crontab line.
func (a *App) ofCron(j *cron.Job) *Planned {
	now := a.Process.Now()
	p := SlotsOf(j.Name, timetable.System(j.Expr))
	p.By, p.Paused, p.Command = "cron", j.Off, j.Command
	p.NextText, p.LastText, p.Title = "paused", "never ran", j.Command
	if !j.Off {
		if p.NextText = strings.Join(nextTimes(j.Times, now, 1), ""); j.Times != nil {
			p.Next = append(p.Next, j.Times.Next(now, ShowTimes)...)
		}
	}
	for _, run := range a.jobRuns(j.Name, 1) {
		p.Overdue = run.State != history.Running && !j.Overdue(run.Started, now).IsZero()
		p.Last, p.LastText = run, run.Started.In(now.Location()).Format("2006-01-02 15:04")+"  "+outcome(run)
	}
	if folder, env, words, err := j.Words(); err == nil {
		if job, _, err := a.parseRun(a.CronProcess(folder, env), words[2:]); err == nil {
			words = append([]string{shorter(folder, job.Script)}, job.Args...)
			p.Title = human.Shorten(human.Line(strings.Join(words, " ")), 200)
		}
	}
	return p
}

// shorter shortens a path relative to its folder.
func shorter(folder, path string) string {
	if near, err := filepath.Rel(folder, path); err == nil && filepath.IsLocal(near) {
		return near
	}
	return path
}

// PrintPlanned lists what runs at fixed times.
func (a *App) PrintPlanned(list []*Planned, asJSON bool, none string) error {
	return Listing[*Planned]{
		Header: tabular.Row{"name", "when", "zone", "by", "next", "last", "script"},
		Row: func(p *Planned) tabular.Row {
			return tabular.Row{p.Name, p.When, p.Zone, p.By, p.NextText, p.LastText, p.Title}
		},
		None: none,
	}.Print(a, list, asJSON)
}

// CronPlanned lists the jobs of the crontab.
func (a *App) CronPlanned(ctx context.Context) (list []*Planned, err error) {
	table, err := a.Crontab().Read(ctx)
	if err != nil {
		return nil, err
	}
	for _, j := range table.Jobs() {
		list = append(list, a.ofCron(j))
	}
	return list, nil
}

func (a *App) cronList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "List the jobs",
		Long:    "List the jobs of transect in the user's crontab with their next times and the outcome of their last runs.",
		Example: "  transect cron list", Args: ExactArgs(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := a.CronPlanned(cmd.Context())
			if err != nil {
				return err
			}
			return a.PrintPlanned(list, asJSON, "no cron jobs; add one with transect cron add")
		},
	}
	JSONFlag[Planned](cmd, &asJSON, "print one JSON object per job")
	return cmd
}
