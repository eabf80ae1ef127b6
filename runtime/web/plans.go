package web

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"transect/client"
	"transect/client/declare"
	"transect/client/fault"
	"transect/client/geojson"
	"transect/client/human"
	"transect/client/ledger"
	"transect/client/transport"
	"transect/runtime/jobs"
	"transect/runtime/plan"
	"transect/runtime/unattended/cron"
	"transect/runtime/unattended/history"
	"transect/scripts"
)

// planRoutes registers the plans in the configured folders.
func (s *Server) planRoutes() {
	s.get("/plans", s.plansPage)
	s.livePage("/plans/{id}", "plan", livePage{section: "/plans", parts: []string{"state"}, read: s.readPlan,
		scripts: []string{"map/main.js"}})
	s.stream("/api/plans/{id}", s.planData)
	if s.Actions && s.Again != nil {
		s.post("/plans/{id}/apply", s.applyPlan)
	}
}

// planRow is a plan in a list.
type planRow struct {
	plan.Head
	File    string
	Own     bool      // made by this user on this machine, and unchanged since
	Problem string    // why it cannot be used
	Last    *runRow   // latest run that applies it, nil for none
	Job     *jobs.Job // latest job that applies it, nil for none
}

// Name returns the command that the plan was made for.
func (p *planRow) Name() string {
	return human.Line(transport.Redact(cron.Join(p.Words("run"))))
}

// Apply, Show and Refresh return commands for a shell.
func (p *planRow) Apply() string { return cron.Join([]string{"transect", "apply", p.File}) }
func (p *planRow) Show() string  { return cron.Join([]string{"transect", "plan", "show", p.File}) }
func (p *planRow) Refresh() string {
	return cron.Join([]string{"transect", "apply", "--refresh", p.File})
}

// AgreedBy returns who had the plan carried out last, "" for nobody.
func (p *planRow) AgreedBy() string {
	switch {
	case p.Last != nil:
		return p.Last.AgreedBy
	case p.Job != nil:
		return p.Job.By()
	}
	return ""
}

// going reports whether a run or a job applies the plan now, or will.
func (p *planRow) going() bool {
	return p.Last != nil && p.Last.State == history.Running || p.Job != nil && !p.Job.State.Final()
}

// maxPlans limits the plans listed.
const maxPlans = 200

// planRows returns the plans in the folders, the latest first.
func (s *Server) planRows(ctx context.Context) (list []*planRow, err error) {
	runs, err := s.runs.List()
	if err != nil {
		return nil, err
	}
	last := map[string]*history.Summary{}
	for _, run := range slices.Backward(runs) {
		last[run.RunID()] = run
	}
	carrying, err := s.carryingJobs(ctx)
	if err != nil {
		return nil, err
	}
	key, err := ledger.FindKey(s.History.Dir)
	if err != nil {
		return nil, err
	}
	for _, file := range s.planFiles() {
		row := &planRow{File: file}
		if row.Head, row.Own, err = plan.LoadHead(file, key); err != nil {
			row.Problem = err.Error()
		} else if run := last[row.ID]; run != nil {
			row.Last = s.row(run)
		}
		row.Job = carrying[row.Sum]
		list = append(list, row)
	}
	slices.SortStableFunc(list, func(a, b *planRow) int { return b.Made.Compare(a.Made) })
	return list[:min(maxPlans, len(list))], nil
}

// carryingJobs returns the latest job that applies each plan, by the plan's checksum.
func (s *Server) carryingJobs(ctx context.Context) (map[string]*jobs.Job, error) {
	if s.JobStore == nil {
		return nil, nil
	}
	list, err := s.JobStore.List(ctx, jobs.Filter{Planned: true, Limit: 10 * maxPlans})
	carrying := map[string]*jobs.Job{}
	for _, job := range slices.Backward(list) {
		carrying[job.Plan()] = job
	}
	return carrying, err
}

// planFiles lists the files of plans, without duplicates.
func (s *Server) planFiles() (files []string) {
	for _, folder := range s.Plans {
		entries, err := os.ReadDir(folder)
		if err != nil {
			continue // it was removed
		}
		for _, e := range entries {
			file := filepath.Join(absolutePath(folder), e.Name())
			if e.Type().IsRegular() && filepath.Ext(file) == ".plan" && !slices.Contains(files, file) {
				files = append(files, file)
			}
		}
	}
	return files
}

// plansView is the data of the page of all plans.
type plansView struct {
	Plans   []*planRow
	Folders []string
}

func (s *Server) plansPage(w http.ResponseWriter, r *http.Request) error {
	list, err := s.planRows(r.Context())
	if err != nil {
		return err
	}
	v := plansView{Plans: list}
	for _, folder := range s.Plans {
		v.Folders = append(v.Folders, absolutePath(folder))
	}
	return s.render(w, r, "plans.html", view{Title: "Plans", Section: "/plans", Data: v})
}

// planView is the data of a plan's page.
type planView struct {
	*planRow
	Plan      *plan.Plan
	Lines     []plan.Line
	More      int
	Done      *plan.Result // nil for a plan that was not started
	Changes   []string     // since the plan was made
	Trouble   string       // why the changes are unknown
	Compared  bool         // Changes includes the platform
	Complete  bool         // everything in it is done
	Startable bool         // by a button
	Started   bool         // by that button, just now
	Canvas    canvas
}

const (
	maxPlanLines = 500
	maxCompared  = 200 // writes compared with the platform without a request
)

// findPlan returns a plan by its id.
func (s *Server) findPlan(ctx context.Context, id string) (*planRow, *plan.Plan, error) {
	list, err := s.planRows(ctx)
	if err != nil {
		return nil, nil, err
	}
	at := slices.IndexFunc(list, func(row *planRow) bool { return row.ID == id && row.Own })
	if at < 0 {
		at = slices.IndexFunc(list, func(row *planRow) bool { return row.ID == id && row.Problem == "" })
	}
	if at < 0 {
		return nil, nil, notFound("there is no plan %s in the folders of this page", id)
	}
	row := list[at]
	info, err := os.Stat(row.File)
	if err != nil {
		return nil, nil, notFound("the plan %s is no longer there", row.File)
	}
	p, err := s.plan.get(fmt.Sprint(row.File, info.Size(), info.ModTime()), time.Hour, func() (*plan.Plan, error) {
		key, err := ledger.FindKey(s.History.Dir)
		if err != nil {
			return nil, err
		}
		return plan.Load(row.File, key)
	})
	if err != nil {
		return nil, nil, notFound("%s", describe(err).Message)
	}
	row.Own = p.Own
	return row, p, nil
}

func (s *Server) readPlan(ctx context.Context, id string, values url.Values) (liveView, error) {
	row, p, err := s.findPlan(ctx, id)
	if err != nil {
		return liveView{}, err
	}
	v := &planView{planRow: row, Plan: p, Started: values.Get("started") != "",
		Startable: s.Actions && s.Again != nil && p.Own && !row.going(),
		Canvas:    canvas{Source: "/api/plans/" + id, Empty: [2]string{"Nothing that the plan creates has a position.", ""}}}
	if v.Done, err = s.planResult(ctx, row, p); fault.Find(err) != nil { // another plan has the same id
		v.Trouble, v.Startable = describe(err).Message, false
	} else if err != nil {
		return liveView{}, err
	}
	v.Complete = v.Done != nil && len(v.Done.Missing)+len(v.Done.Lost) == 0
	if values != nil {
		v.Lines, v.More = p.Lines(maxPlanLines)
		if v.Done == nil && p.Own && v.Trouble == "" {
			v.Compared = len(p.Reads) <= maxCompared && p.Totals.Change+p.Totals.Delete <= maxCompared || values.Has("compare")
			err := s.planChanges(ctx, p, v.Compared)
			if drift, ok := errors.AsType[*plan.Drift](err); ok {
				v.Changes = drift.Changes
			} else if err != nil {
				v.Trouble = describe(err).Message
			}
		}
	}
	ended := v.Complete && !row.going()
	return liveView{title: "Plan " + row.Name(), data: v, ended: ended}, nil
}

// planResult returns the result of applying a plan, nil when it was not started.
func (s *Server) planResult(ctx context.Context, row *planRow, p *plan.Plan) (*plan.Result, error) {
	notes, err := ledger.OpenToRead(s.History.Dir, p.ID)
	if errors.Is(err, os.ErrNotExist) && row.Job != nil {
		notes, err = ledger.OpenRemoteToEdit(jobs.RunID(row.Job.ID), s.JobStore.Ledger(ctx, row.Job.ID, 0))
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	defer notes.Close()
	gate := plan.Gate{Plan: p}
	if first, err := gate.Open(notes); first || err != nil {
		return nil, err
	}
	gate.Complete()
	result := gate.Result()
	return &result, nil
}

// planChanges returns what has changed since a plan was made: a plan.Drift.
func (s *Server) planChanges(ctx context.Context, p *plan.Plan, compare bool) error {
	err := (&plan.Gate{Plan: p}).CheckFiles(func(name string) ([]byte, error) {
		if code := scripts.Source(name); code != nil {
			return code, nil
		}
		return os.ReadFile(name)
	})
	for _, login := range p.Platforms {
		if err == nil && compare && s.shows(login) {
			err = p.Check(ctx, s.Client, login.URL)
		}
	}
	return err
}

// shows reports whether the page shows the platform of a login.
func (s *Server) shows(login plan.Login) bool {
	return s.Client != nil && strings.TrimSuffix(login.URL, "/") == strings.TrimSuffix(s.Client.BaseURL(), "/")
}

// applyPlan applies the plan that its page has shown, but not a later one in the same file.
func (s *Server) applyPlan(w http.ResponseWriter, r *http.Request) error {
	row, p, err := s.findPlan(r.Context(), r.PathValue("id"))
	switch {
	case err != nil:
		return err
	case !p.Own:
		return &refusal{"the plan was not made by you on this machine, or was changed since"}
	case p.Sum != r.PostForm.Get("checksum"):
		return &refusal{"the plan was made again since it was shown: review it again"}
	case row.going():
		return &refusal{"the plan is being carried out already"}
	}
	words := []string{"apply"}
	if r.PostForm.Get("effects") != "" {
		words = append(words, "--allow-effects")
	}
	if !slices.ContainsFunc(p.Platforms, func(login plan.Login) bool { return !s.shows(login) }) {
		words = append(words, s.Login...)
	}
	words = append(words, row.File)
	s.Logger.Info("the page was asked to carry out a plan", "plan", p.ID, "file", row.File)
	if err := s.Again(p.Folder, words); err != nil {
		return err
	}
	http.Redirect(w, r, "/plans/"+p.ID+"?started=1", http.StatusSeeOther)
	return nil
}

// planData streams what a plan creates for the map.
func (s *Server) planData(w http.ResponseWriter, r *http.Request) error {
	_, p, err := s.findPlan(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	out := newLineStream(w)
	all, shapes := newSurvey(s.Now(), out.send), 0
	defer all.close()
	for _, write := range p.Writes {
		if write.Kind != plan.Create {
			continue
		}
		one, fields := plannedShape(write)
		switch {
		case one.Geometry == nil:
		case one.Of == "image" && all.sent < maxPhotos:
			photo := photoOf(client.Dataset{Name: one.Name, Geometry: one.Geometry,
				AcquisitionDate: fields.Get("acquisition_date").String(), Flight: fields.Get("flight").String()})
			photo.id, photo.state = one.ID, photoGood
			err = all.add(all.part(fields.Get("mission").String()), photo)
		case shapes < maxDrawings:
			shapes++
			err = out.send(one)
		}
		if err != nil {
			return err
		}
	}
	result, err := all.finish(r.Context())
	if err != nil {
		return err
	}
	result.Text = human.Count(all.sent, "photo") + ", " + human.Count(shapes, "shape")
	return out.send(result)
}

// plannedShape returns the shape that a write creates, and its fields; without a geometry if a map cannot
// show it.
func plannedShape(w *plan.Write) (one shape, fields gjson.Result) {
	fields, thing := w.Fields(), declare.Singular(w.Things)
	one = shape{Kind: "shape", Of: thing, ID: fmt.Sprint("write-", w.Number), Name: cmp.Or(w.Name, thing),
		Facts: rowsOf("In", w.In, "From", filepath.Base(w.Position))}
	if w.Things == "datasets" {
		one.Of = cmp.Or(fields.Get("type").String(), thing)
	}
	text := fields.Get("geometry").Raw
	if outline := fields.Get("coordinates"); text == "" && outline.IsArray() { // of a mission
		text = `{"type":"Polygon","coordinates":[` + outline.Raw + `]}`
	}
	object, _ := gjson.Parse(text).Value().(map[string]any)
	if object != nil && geojson.Geometry(object, geojson.Options{}) == nil {
		one.Geometry = firstGeometry(json.RawMessage(text))
	}
	return one, fields
}
