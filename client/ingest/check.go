package ingest

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"transect/client"
	"transect/client/fault"
	"transect/client/preflight"
	"transect/client/scan"
)

// Preflight checks all files like a run, but sends nothing and needs no connection.
func Preflight(ctx context.Context, o Options) (*preflight.Report, error) {
	if o.Company == "" && o.Project == "" {
		o.Project = "none" // the check needs no target
	}
	if err := o.complete(); err != nil {
		return nil, err
	}
	r := &run{options: o,
		checker: preflight.New(preflight.Options{Tree: o.Source.Tree, Expected: o.Expected, Dir: tempDir(o.StateDir)})}
	defer r.checker.Close()
	return r.check(ctx)
}

// check reads all files.
func (r *run) check(ctx context.Context) (*preflight.Report, error) {
	err := r.readAll(ctx, &Progress{}, func(s *scan.Skipped) error {
		r.checker.Add(scan.Item{}, nil, s)
		return nil
	}, func(ctx context.Context, it *item) error {
		err := r.sample(it)
		r.addToCheck(ctx, it, cmp.Or(err, it.photoError))
		return nil
	})
	return r.checker.Report(ctx), err
}

// addToCheck checks an item to the depth set in the options; err is why it could not be read.
func (r *run) addToCheck(ctx context.Context, it *item, err error) *preflight.Problem {
	if r.options.Deep {
		return r.checker.AddDecoded(ctx, it.Item, it.photo, err)
	}
	return r.checker.Add(it.Item, it.photo, err)
}

// checkAll checks all files before the run, and fails if any has an error.
func (r *run) checkAll(ctx context.Context) error {
	report, err := r.check(ctx)
	if err != nil || report.Errors == 0 {
		return err
	}
	const most = 3
	var list []string
	for _, p := range report.Problems {
		if p.Severity == preflight.Error && len(list) < most {
			list = append(list, strings.TrimPrefix(p.Name+": ", ": ")+p.Message)
		}
	}
	if more := report.Errors - len(list); more > 0 {
		list = append(list, fmt.Sprintf("%d more", more))
	}
	return fault.Hinted(fault.Of(&fault.FileError{}, "nothing was sent: the check of the files found errors: %s",
		strings.Join(list, "; ")),
		"correct them, or send the good files without check = \"strict\"; a report = \"….json\" lists all of them")
}

// compareMission passes the mission's date and area to the checker, to detect photos of another flight. If the
// mission cannot be read, the photos are sent all the same.
func (r *run) compareMission(ctx context.Context) {
	if r.options.Mission == "" {
		return
	}
	missions, err := r.client.Missions.Describe(ctx, client.Refs{IDs: client.IDs{r.options.Mission}})
	if err != nil || len(missions) == 0 {
		r.options.Logger.Debug("the photos are not compared with the mission", "mission", r.options.Mission, "reason", err)
		return
	}
	fields := gjson.GetManyBytes(missions.One().JSON(), "geometry", "survey_date", "name")
	r.mu.Lock()
	r.mission = fields[2].String()
	r.mu.Unlock()
	date, _ := time.Parse(time.RFC3339, fields[1].String()) // zero when unknown
	r.checker.Compare(preflight.RingOf(fields[0].Raw), date)
}

// nameProject looks up the name of the project, for the summary.
func (r *run) nameProject(ctx context.Context) {
	if r.options.Project == "" {
		return
	}
	projects, err := r.client.Projects.Describe(ctx, client.Refs{IDs: client.IDs{r.options.Project}})
	if err != nil || len(projects) == 0 {
		r.options.Logger.Debug("the name of the project is not known", "project", r.options.Project, "reason", err)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.project = projects.One().Name
}
