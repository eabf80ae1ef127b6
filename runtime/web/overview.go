package web

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"transect/client"
	"transect/client/human"
	"transect/runtime/unattended/history"
	"transect/runtime/web/internal/board"
)

// overviewRoutes registers the start page, with problems first, and the pages of projects.
func (s *Server) overviewRoutes() {
	s.get("/", s.overview)
	s.get("/projects/{project}", s.connected(s.projectPage))
}

const (
	projectsOnPage = 25
	missionsOnPage = 12
	maxFailed      = 1000 // failed datasets up to which they are counted here, not by the platform
	askedAtOnce    = 8
	troubleWithin  = 7 * 24 * time.Hour // older failures are not shown
)

// group is a project or a mission with its contents.
type group struct {
	ID, Name           string
	Project, InProject string // of a mission: id and name
	Date               string
	Missions           int
	Datasets, Failed   int64
	Products           int64
}

type overview struct {
	Connected bool
	Troubles  []board.Problem
	Projects  []group
	Missions  []group
	Values    url.Values
	Name      string
	pager
}

func (s *Server) overview(w http.ResponseWriter, r *http.Request) error {
	values := r.URL.Query()
	v := overview{Connected: s.Client != nil, Values: values, Name: values.Get("name"), pager: pagerOf(values)}
	if c := s.Client; c != nil {
		failed, err := s.failedDatasets(r.Context(), c)
		if err != nil {
			return err
		}
		group, ctx := errgroup.WithContext(r.Context())
		group.Go(func() (err error) { return s.fillProjects(ctx, c, &v, failed) })
		group.Go(func() (err error) {
			v.Missions, err = s.missions(ctx, c, nil, missionsOnPage, failed)
			return err
		})
		group.Go(func() (err error) {
			v.Troubles, err = s.platformTroubles(ctx, c, failed)
			return err
		})
		if err := group.Wait(); err != nil {
			return err
		}
	}
	runs, err := s.runTroubles()
	if err != nil {
		return err
	}
	queued, err := s.jobProblems(r.Context())
	if err != nil {
		return err
	}
	v.Troubles = slices.Concat(v.Troubles, runs, queued)
	slices.SortStableFunc(v.Troubles, func(a, b board.Problem) int { return trueFirst(a.Bad, b.Bad) })
	return s.render(w, r, "overview.html", view{Title: "Overview", Section: "/", Data: v,
		Topics: []string{"platform", "products"}})
}

// failures counts failed datasets.
type failures struct {
	total int64
	all   bool             // counts has all of them
	count map[string]int64 // by the id of the project, and of the mission
	first client.Dataset
}

// in counts the failed datasets of a project or a mission.
func (f *failures) in(ctx context.Context, c *client.Client, key, id string) (int64, error) {
	if f.all {
		return f.count[id], nil
	}
	filter := equals("ingestion.status", "failed")
	maps.Copy(filter, equals(key, id))
	return datasetsIn(ctx, c, filter)
}

func (s *Server) failedDatasets(ctx context.Context, c *client.Client) (*failures, error) {
	page, err := c.Datasets.Search.Page(ctx,
		client.DatasetQuery{Query: client.Query{Filter: equals("ingestion.status", "failed"),
			Limit: new(maxFailed), Fields: only("name", "project", "mission", "ingestion")}})
	if err != nil {
		return nil, err
	}
	found := int64(len(page.Results))
	f := &failures{total: max(page.Total, found), all: page.Total <= found && found < maxFailed, count: map[string]int64{}}
	for i, d := range page.Results {
		if i == 0 {
			f.first = d
		}
		f.count[d.Project]++
		f.count[d.Mission]++
	}
	return f, nil
}

// datasetsIn counts the datasets that match a filter.
func datasetsIn(ctx context.Context, c *client.Client, filter client.Filter) (int64, error) {
	page, err := c.Datasets.Search.Page(ctx, client.DatasetQuery{Query: counting(filter)})
	return max(page.Total, int64(len(page.Results))), err
}

func (s *Server) fillProjects(ctx context.Context, c *client.Client, v *overview, failed *failures) error {
	filter := client.Filter{}
	if v.Name != "" {
		filter["name"] = map[string]any{"$match": v.Name}
	}
	page, err := c.Projects.Search.Page(ctx, client.Query{Filter: filter, Limit: new(projectsOnPage), Page: new(v.Page),
		Sort:   client.Sort{{Attribute: "created", Direction: -1}, {Attribute: "_id", Direction: -1}},
		Fields: only("name", "created", "missions")})
	if err != nil {
		return err
	}
	v.found(page.Total, projectsOnPage, len(page.Results))
	v.Projects = make([]group, len(page.Results))
	asking, ctx := errgroup.WithContext(ctx)
	asking.SetLimit(askedAtOnce)
	for i, p := range page.Results {
		g := &v.Projects[i]
		*g = group{ID: p.ID, Name: p.Name, Date: cmp.Or(p.Created, p.CreationDate)}
		asking.Go(func() (err error) {
			g.Failed, err = failed.in(ctx, c, "project", g.ID)
			return err
		})
		asking.Go(func() (err error) {
			g.Datasets, err = datasetsIn(ctx, c, equals("project", g.ID))
			return err
		})
		asking.Go(func() error {
			found, err := c.Missions.Search.Page(ctx, counting(equals("project", g.ID)))
			g.Missions = int(max(found.Total, int64(len(found.Results))))
			return err
		})
	}
	return asking.Wait()
}

// missions returns the latest missions that match a filter, with their contents.
func (s *Server) missions(ctx context.Context, c *client.Client, filter client.Filter, limit int,
	failed *failures) ([]group, error) {
	page, err := c.Missions.Search.Page(ctx, client.Query{Filter: filter, Limit: new(limit),
		Sort:   client.Sort{{Attribute: "survey_date", Direction: -1}, {Attribute: "_id", Direction: -1}},
		Fields: only("name", "project", "survey_date", "created")})
	if err != nil {
		return nil, err
	}
	var projects []string
	for _, m := range page.Results {
		projects = append(projects, m.Project)
	}
	names, err := s.names(ctx, projects, nil)
	if err != nil {
		return nil, err
	}
	list := make([]group, len(page.Results))
	asking, ctx := errgroup.WithContext(ctx)
	asking.SetLimit(askedAtOnce)
	for i, m := range page.Results {
		g := &list[i]
		*g = group{ID: m.ID, Name: m.Name, Project: m.Project, InProject: names[m.Project], Date: m.SurveyDate}
		asking.Go(func() (err error) {
			g.Failed, err = failed.in(ctx, c, "mission", g.ID)
			return err
		})
		asking.Go(func() (err error) {
			g.Datasets, err = datasetsIn(ctx, c, equals("mission", g.ID))
			return err
		})
		asking.Go(func() error {
			found, err := c.Products.Search.Page(ctx, client.ProductQuery{Query: counting(equals("mission", g.ID))})
			g.Products = max(found.Total, int64(len(found.Results)))
			return err
		})
	}
	return list, asking.Wait()
}

// platformTroubles returns failed datasets and products, and pending ones.
func (s *Server) platformTroubles(ctx context.Context, c *client.Client, failed *failures) (list []board.Problem,
	err error) {
	if failed.total > 0 {
		list = append(list, board.Problem{Bad: true, Text: "The platform could not read " +
			human.Count(failed.total, "dataset"), Link: "/datasets?state=failed", More: failed.first.Ingestion.Error.Message})
	}
	products, err := c.Products.Search.Page(ctx, client.ProductQuery{Query: client.Query{Limit: new(5), Sort: newestFirst,
		Filter: client.Filter{"status": map[string]any{"$in": []any{"failed", "rejected"}},
			"creation_date": map[string]any{"$gte": platformDate(s.Now().Add(-troubleWithin))}}}})
	if err != nil {
		return nil, err
	}
	for _, p := range products.Results {
		rows, err := s.productRows(ctx, []client.Product{p})
		if err != nil {
			return nil, err
		}
		list = append(list, board.Problem{Bad: true, Text: "The product " + rows[0].Title + " " + p.Status,
			Link: "/products/" + p.ID, More: rows[0].Problem})
	}
	if more := products.Total - int64(len(products.Results)); more > 0 {
		list = append(list, board.Problem{Bad: true, Text: human.Count(more, "more product") +
			" failed in the last 7 days", Link: "/products?state=failed"})
	}
	waiting, err := datasetsIn(ctx, c, equals("ingestion.status", "pending"))
	if err != nil {
		return nil, err
	}
	if waiting > 0 {
		list = append(list, board.Problem{Text: human.Count(waiting, "dataset") +
			" waiting for files to be uploaded, or to be read by the platform", Link: "/datasets?state=pending"})
	}
	return list, nil
}

// runTroubles returns the scripts whose last run on this machine failed.
func (s *Server) runTroubles() (list []board.Problem, err error) {
	runs, err := s.History.List(200, nil) // jobs have lines of their own
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, run := range runs {
		key := subjectKey(run)
		if seen[key] || run.State == history.Running || run.DryRun {
			continue
		}
		seen[key] = true
		if !run.Failed() || s.Now().Sub(run.Started) > troubleWithin {
			continue
		}
		more := ""
		switch e := run.End; {
		case e != nil && e.Error != nil:
			more = e.Error.Message
		case e != nil && e.ItemsFailed > 0:
			more = fmt.Sprintf("%s of %s failed", human.Number(e.ItemsFailed), human.Count(e.ItemsDone+e.ItemsFailed, "item"))
		}
		list = append(list, board.Problem{Bad: true, Text: "The last run of " + cmp.Or(run.Job, scriptName(run.Script)) +
			": " + run.Outcome(), Link: "/runs/" + run.ID, More: more})
	}
	return list, nil
}

// projectView is the data of a project's page.
type projectView struct {
	client.Project
	Missions         []group
	Datasets, Failed int64
	Products         []productRow
	WithoutMission   int64
	Record           string
	MissionsLeftOut  bool
}

const maxMissions = 100

func (s *Server) projectPage(w http.ResponseWriter, r *http.Request, c *client.Client) error {
	p, err := onlyRecord(c.Projects.Describe(r.Context(), client.Refs{IDs: client.IDs{r.PathValue("project")}}))
	if err != nil {
		return err
	}
	v := projectView{Project: p, Record: indented(p.JSON())}
	failed, err := s.failedDatasets(r.Context(), c)
	if err != nil {
		return err
	}
	asking, ctx := errgroup.WithContext(r.Context())
	asking.Go(func() (err error) {
		v.Failed, err = failed.in(ctx, c, "project", p.ID)
		return err
	})
	asking.Go(func() (err error) {
		v.Missions, err = s.missions(ctx, c, equals("project", p.ID), maxMissions, failed)
		v.MissionsLeftOut = len(v.Missions) == maxMissions
		return err
	})
	asking.Go(func() (err error) {
		v.Datasets, err = datasetsIn(ctx, c, equals("project", p.ID))
		return err
	})
	asking.Go(func() (err error) {
		filter := equals("project", p.ID)
		filter["mission"] = map[string]any{"$exists": false}
		v.WithoutMission, err = datasetsIn(ctx, c, filter)
		return err
	})
	asking.Go(func() error {
		page, err := c.Products.Search.Page(ctx, client.ProductQuery{Query: client.Query{Filter: equals("project", p.ID),
			Limit: new(10),
			Sort:  newestFirst}})
		if err != nil {
			return err
		}
		v.Products, err = s.productRows(ctx, page.Results)
		return err
	})
	if err := asking.Wait(); err != nil {
		return err
	}
	return s.render(w, r, "project.html", view{Title: p.Name, Section: "/", Data: v,
		Topics: []string{"platform", "products"}})
}
