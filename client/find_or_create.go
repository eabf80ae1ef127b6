package client

import (
	"context"
	"strings"
	"time"

	"transect/client/declare"
	"transect/client/fault"
	"transect/client/schema"
)

// Inputs of the operations that find a resource by name or create it.
type (
	FindOrCreateProject struct {
		Name     string   `arg:"name,req,pos" doc:"exact name of the project"`
		Company  ID       `arg:"company,pos" doc:"company that owns it; the user's when absent"`
		Geometry Geometry `arg:"geometry" doc:"outline of a new project, GeoJSON"`
		Extra
	}
	FindOrCreateMission struct {
		Project        ID       `arg:"project,req,pos" doc:"project it belongs to"`
		Name           string   `arg:"name,req,pos" doc:"exact name of the mission"`
		SurveyDate     Date     `arg:"survey_date" doc:"when a new mission was flown; now when absent"`
		NumberOfImages int      `arg:"number_of_images" doc:"how many images a new mission will have; without images it has no flight"`
		Coordinates    []any    `arg:"coordinates" doc:"outline of a new mission as a ring of positions, the last equal to the first; with images"`
		Geometry       Geometry `arg:"geometry" doc:"outline of a new mission, a GeometryCollection with a Polygon; with images, instead of coordinates"`
		Area           *float64 `arg:"area" doc:"area of a new mission in square metres; with images"`
		Extra
	}
)

// Found is a resource and whether it was created by the call.
type Found[T any] struct {
	Resource T
	Created  bool
}

// Values gives both in the order of a Lua call's results.
func (f Found[T]) Values() []any { return []any{f.Resource, f.Created} }

// candidatesShown is how many resources of one name an error lists.
const candidatesShown = 5

// byName finds or creates the resource of a name in a company or a project.
type byName[T interface {
	schema.Identified
	JSON() []byte
}] struct {
	manager, name, parent string
	find                  func() ([]T, error)
	describe              Op[Refs, Some[T]]
	create                func() (T, error)
	remove                func(ID) error
}

// allNamed finds the resources of an exact name in one place.
func allNamed[T any](ctx context.Context, search SearchOp[Query, T], name, parent string, id ID) func() ([]T, error) {
	return func() ([]T, error) {
		limit := mostTwins
		page, err := search.Page(ctx, Query{Limit: &limit, Filter: Filter{
			"name": map[string]any{"$eq": name}, parent: map[string]any{"$eq": string(id)}}})
		return page.Results, err
	}
}

func (n byName[T]) findOrCreate(ctx context.Context, c *Client) (Found[T], error) {
	found, err := n.foundBefore(ctx, c)
	if err != nil || len(found) > 0 {
		return first(found), err
	}
	created, err := n.create()
	if err != nil || c.planned { // a plan does not hold that it is deleted
		return Found[T]{created, true}, err
	}
	return n.settle(ctx, c, created)
}

// foundBefore finds what is there already. A run that is started again finds what
// its first start found: nothing, also when the resource was created then.
func (n byName[T]) foundBefore(ctx context.Context, c *Client) (found []T, err error) {
	id, err := declare.Remember(ctx, "found", func() (string, error) {
		if found, err = Settled(ctx, c, n.find, T.JSON); err != nil || len(found) == 0 {
			return "", err
		}
		if len(found) > 1 {
			return "", n.several(found)
		}
		return found[0].ResourceID(), nil
	})
	if err != nil || id == "" || len(found) > 0 {
		return found, err
	}
	return n.describe(ctx, Refs{IDs: IDs{id}})
}

// several returns an error that lists resources of one name.
func (n byName[T]) several(found []T) error {
	var ids []string
	for _, r := range found[:min(len(found), candidatesShown)] {
		ids = append(ids, r.ResourceID())
	}
	return fault.Hinted(fault.Of(&fault.ParameterError{}, "argument name: several %s of the %s are named %q: %s",
		n.manager, n.parent, n.name, strings.Join(ids, ", ")),
		"rename all but one of them, or call %s.describe with the id of the right one", n.manager)
}

func (c *Client) findOrCreateProject(ctx context.Context, in FindOrCreateProject) (Found[Project], error) {
	if in.Company == "" {
		user, err := c.Users.Describe(ctx, UserRef{})
		if err != nil {
			return Found[Project]{}, err
		}
		in.Company = ID(user.Company)
	}
	return byName[Project]{
		manager: "projects", name: in.Name, parent: "company",
		find:     allNamed(ctx, c.Projects.Search, in.Name, "company", in.Company),
		describe: c.Projects.Describe,
		create:   func() (Project, error) { return c.Projects.Create(ctx, CreateProject(in)) },
		remove: func(id ID) error {
			_, err := c.Projects.Delete(ctx, ProjectID{Project: id})
			return err
		},
	}.findOrCreate(ctx, c)
}

func (c *Client) findOrCreateMission(ctx context.Context, in FindOrCreateMission) (Found[Mission], error) {
	return byName[Mission]{
		manager: "missions", name: in.Name, parent: "project",
		find:     allNamed(ctx, c.Missions.Search, in.Name, "project", in.Project),
		describe: c.Missions.Describe,
		create:   func() (Mission, error) { return c.missionOf(ctx, in) },
		remove: func(id ID) error {
			_, err := c.Missions.Delete(ctx, Ref{ID: id})
			return err
		},
	}.findOrCreate(ctx, c)
}

// missionOf creates the mission that was not found.
func (c *Client) missionOf(ctx context.Context, in FindOrCreateMission) (Mission, error) {
	if in.SurveyDate == "" {
		now, err := declare.Remember(ctx, "survey date",
			func() (string, error) { return time.Now().UTC().Format(schema.DateForm), nil })
		if err != nil {
			return Mission{}, err
		}
		in.SurveyDate = Date(now)
	}
	created, err := c.Missions.Create(ctx,
		CreateMissionOrSurvey{Project: in.Project, Name: in.Name, SurveyDate: in.SurveyDate,
			NumberOfImages: in.NumberOfImages, Coordinates: in.Coordinates, Geometry: in.Geometry, Area: in.Area,
			Extra: in.Extra})
	return created.Mission, err
}

func first[T any](found []T) Found[T] {
	if len(found) == 0 {
		return Found[T]{}
	}
	return Found[T]{Resource: found[0]}
}
