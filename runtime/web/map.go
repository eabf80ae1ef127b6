package web

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"transect/client"
	"transect/client/human"
)

// mapRoutes registers the map and its data.
func (s *Server) mapRoutes() {
	s.get("/map", s.connected(s.mapPage))
	s.stream("/api/map", s.connected(s.mapData))
	s.topic("map", s.watchMap)
	s.stream("/report", s.connected(s.reportPage))
	s.get("/tiles/{dataset}/{z}/{x}/{y}", s.tile)
}

// canvas is the data of a map's template.
type canvas struct {
	Source     string // address of its data
	Thumb      string // template of a photo's picture, with {id} and {kind}: tiny or small
	Page       string // template of a photo's page, with {id}
	Background string // template of background tiles
	Topic      string // that triggers reloading
	Empty      [2]string
}

// mapView is the page of the map.
type mapView struct {
	Canvas   canvas
	Target   target
	Projects []client.Project
	Missions []client.Mission
	Groups   []missionGroup // the missions by project
	Choices  []missionChoice
	Find     string // the mission shown, or the text that was searched
	Unknown  string // says that no mission is meant by it, "" when one is
	Cut      string // says that there are more missions, "" when there are not
	Report   string // address of the flight report
}

// missionGroup is the missions of one project.
type missionGroup struct {
	Project  string // its name
	Missions []client.Mission
}

// grouped sorts missions into their projects, in the order of these.
func grouped(missions []client.Mission, projects []client.Project) (groups []missionGroup) {
	byProject := map[string][]client.Mission{}
	for _, m := range missions {
		byProject[m.Project] = append(byProject[m.Project], m)
	}
	for _, p := range projects {
		if len(byProject[p.ID]) > 0 {
			groups = append(groups, missionGroup{cmp.Or(p.Name, p.ID), byProject[p.ID]})
			delete(byProject, p.ID)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(byProject)) {
		groups = append(groups, missionGroup{id, byProject[id]})
	}
	return groups
}

// missionChoice is a mission with a text that no other has.
type missionChoice struct{ Text, ID string }

// choices names the missions: by project where there are several, by day and id where names are the same.
func choices(groups []missionGroup) (all []missionChoice) {
	seen := map[string]int{}
	text := func(g missionGroup, m client.Mission) string {
		if len(groups) > 1 {
			return g.Project + "/" + cmp.Or(m.Name, m.ID)
		}
		return cmp.Or(m.Name, m.ID)
	}
	for _, g := range groups {
		for _, m := range g.Missions {
			seen[text(g, m)]++
		}
	}
	for _, g := range groups {
		for _, m := range g.Missions {
			c := missionChoice{text(g, m), m.ID}
			if seen[c.Text] > 1 {
				c.Text += " (" + strings.TrimPrefix(day(m.SurveyDate)+", ", ", ") + m.ID + ")"
			}
			all = append(all, c)
		}
	}
	return all
}

// meant returns the mission of a text, or of a part of one when no other has it, and how many it fits.
func meant(all []missionChoice, text string) (id string, fits int) {
	text = strings.ToLower(strings.TrimSpace(text))
	for _, c := range all {
		switch name := strings.ToLower(c.Text); {
		case name == text:
			return c.ID, 1
		case strings.Contains(name, text):
			id, fits = c.ID, fits+1
		}
	}
	return id, fits
}

func (s *Server) mapPage(w http.ResponseWriter, r *http.Request, _ *client.Client) error {
	ctx, t := r.Context(), targetOf(r.URL.Query())
	v := mapView{Target: t, Canvas: canvas{Source: "/api/map" + t.query(), Thumb: "/picture/{id}?kind={kind}&else=text",
		Page: "/datasets/{id}", Background: s.Tiles, Topic: "map:" + t.values().Encode(),
		Empty: [2]string{"Nothing here has a position yet.",
			"Upload a flight, for example with: transect put FOLDER 'Project/Mission' --create"}}}
	var err error
	if v.Projects, err = s.projectsOf(ctx, target{}); err != nil {
		return err
	}
	if t.Mission != "" && t.Project == "" { // the lists depend on the mission
		found, err := s.missionsOf(ctx, t)
		if err != nil {
			return err
		}
		if len(found) > 0 {
			v.Target.Project = found[0].Project
		}
	}
	if v.Missions, err = s.missionsOf(ctx, target{Project: v.Target.Project}); err != nil {
		return err
	}
	v.Groups = grouped(v.Missions, v.Projects)
	v.Choices = choices(v.Groups)
	if v.Find = r.URL.Query().Get("find"); v.Find != "" {
		id, fits := meant(v.Choices, v.Find)
		if fits == 1 {
			http.Redirect(w, r, "/map?mission="+url.QueryEscape(id), http.StatusSeeOther)
			return nil
		}
		v.Unknown = "No mission here has “" + v.Find + "” in its name: choose another project, or empty the field for all."
		if fits > 1 {
			v.Unknown = human.Count(fits, "mission") + " have “" + v.Find + "” in their names: choose one."
		}
	}
	for _, c := range v.Choices {
		if c.ID == t.Mission {
			v.Find = c.Text
		}
	}
	if len(v.Projects) == maxMapProjects {
		v.Cut = "The first " + human.Number(maxMapProjects) + " projects: the search at the top finds others. "
	}
	if len(v.Missions) == maxMapMissions {
		v.Cut += "The first " + human.Number(maxMapMissions) + " missions: choose a project to see all of its own."
	}
	if t != (target{}) {
		v.Report = "/report" + t.query()
	}
	return s.render(w, r, "map.html", view{Title: "Map", Section: "/map", Data: v, Scripts: []string{"map/main.js"},
		Wide: true})
}

// mapData streams the data of the map. An error after the first line is sent as a line of its own.
func (s *Server) mapData(w http.ResponseWriter, r *http.Request, _ *client.Client) error {
	ctx, t := r.Context(), targetOf(r.URL.Query())
	out := newLineStream(w)
	if err := s.sendMap(ctx, t, out.send); err != nil {
		if ctx.Err() != nil {
			return err
		}
		p := describe(err)
		return out.send(map[string]any{"kind": "problem", "message": cmp.Or(p.Message, p.Title), "hint": p.Hint,
			"away": p.Away})
	}
	return nil
}

func (s *Server) sendMap(ctx context.Context, t target, send func(any) error) error {
	var cut []string
	if err := s.shapesOf(ctx, t, func(v any) error {
		if c, ok := v.(cutOff); ok {
			cut = append(cut, string(c))
			return nil
		}
		return send(v)
	}); err != nil {
		return err
	}
	result, more, err := s.photosOf(ctx, t.filter(), send)
	if err != nil {
		return err
	}
	result.Text = result.summary(s.Now().Location())
	if t == (target{}) && result.images() > 0 {
		result.Text = human.Count(result.images(), "photo")
	}
	if more {
		cut = append(cut, human.Number(maxPhotos)+" photos")
	}
	if len(cut) > 0 {
		result.Text = "the first " + strings.Join(cut, ", ") + ": choose a project or a mission · " + result.Text
	}
	return send(result)
}

// mapPollInterval is how often an open page polls for changes of the map.
const mapPollInterval = 5 * time.Second

// watchMap emits a version of the target whenever its datasets change.
func (s *Server) watchMap(ctx context.Context, arg, last string, emit emitter) error {
	c, err := s.platform()
	if err != nil {
		return nil
	}
	values, _ := url.ParseQuery(arg)
	return follow(ctx, last, mapPollInterval, emit, func() (version string, news any, ended bool, err error) {
		for _, order := range []string{"ingestion.date", "creation_date"} {
			page, err := c.Datasets.Search.Page(ctx, client.DatasetQuery{Query: client.Query{
				Filter: targetOf(values).filter(), Limit: new(1), ReturnTotal: true,
				Sort: client.Sort{{Attribute: order, Direction: -1}}, Fields: only("_id", "creation_date", "ingestion.date")}})
			if err != nil {
				return "", nil, false, err
			}
			version += human.Number(page.Total)
			for _, d := range page.Results {
				version += " " + d.ID + " " + d.Ingestion.Date
			}
		}
		return version, map[string]any{"version": version}, false, nil
	})
}

// onlyRecord returns the only record of a result.
func onlyRecord[T any](found client.Some[T], err error) (one T, _ error) {
	if err != nil {
		return one, err
	}
	if len(found) == 0 {
		return one, notFound("the platform does not have it")
	}
	return found[0], nil
}
