package client

import (
	"context"
	"strings"
	"time"

	"transect/client/fault"
	"transect/client/recovery"
	"transect/client/schema"
)

// Inputs of the operations that find a resource by name or create it.
type (
	FindOrCreateProject struct {
		Name     string   `arg:"name,req,pos" doc:"exact name of the project"`
		Company  ID       `arg:"company,pos" doc:"company that owns it; that of the user when absent"`
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

// findByName searches by exact name. Several matches are an error that lists them.
func findByName[T schema.Identified](ctx context.Context, search SearchOp[Query, T], manager, name, parent string,
	id ID) (found []T, err error) {
	limit := candidatesShown
	page, err := search.Page(ctx, Query{Limit: &limit, Filter: Filter{
		"name": map[string]any{"$eq": name}, parent: map[string]any{"$eq": string(id)}}})
	if err != nil || len(page.Results) <= 1 {
		return page.Results, err
	}
	ids := make([]string, len(page.Results))
	for i, r := range page.Results {
		ids[i] = r.ResourceID()
	}
	return nil, fault.Hinted(fault.Of(&fault.ParameterError{}, "argument name: several %s of the %s are named %q: %s",
		manager, parent, name, strings.Join(ids, ", ")),
		"rename all but one of them, or call %s.describe with the id of the right one", manager)
}

// foundBefore finds what is there already. A run that is started again finds what
// its first start found: nothing, also when the resource was created then.
func foundBefore[T schema.Identified](ctx context.Context, find func() ([]T, error),
	describe Op[Refs, Some[T]]) (found []T, err error) {
	id, err := recovery.Remember(ctx, "found", func() (string, error) {
		if found, err = find(); err != nil || len(found) == 0 {
			return "", err
		}
		return found[0].ResourceID(), nil
	})
	if err != nil || id == "" || len(found) > 0 {
		return found, err
	}
	return describe(ctx, Refs{IDs: IDs{id}})
}

func (c *Client) findOrCreateProject(ctx context.Context, in FindOrCreateProject) (Found[Project], error) {
	if in.Company == "" {
		user, err := c.Users.Describe(ctx, UserRef{})
		if err != nil {
			return Found[Project]{}, err
		}
		in.Company = ID(user.Company)
	}
	found, err := foundBefore(ctx, func() ([]Project, error) {
		return findByName(ctx, c.Projects.Search, "projects", in.Name, "company", in.Company)
	}, c.Projects.Describe)
	if err != nil || len(found) > 0 {
		return first(found), err
	}
	made, err := c.Projects.Create(ctx, CreateProject(in))
	return Found[Project]{made, true}, err
}

func (c *Client) findOrCreateMission(ctx context.Context, in FindOrCreateMission) (Found[Mission], error) {
	found, err := foundBefore(ctx, func() ([]Mission, error) {
		return findByName(ctx, c.Missions.Search, "missions", in.Name, "project", in.Project)
	}, c.Missions.Describe)
	if err != nil || len(found) > 0 {
		return first(found), err
	}
	if in.SurveyDate == "" {
		now, err := recovery.Remember(ctx, "survey date",
			func() (string, error) { return time.Now().UTC().Format(schema.DateForm), nil })
		if err != nil {
			return Found[Mission]{}, err
		}
		in.SurveyDate = Date(now)
	}
	made, err := c.Missions.Create(ctx,
		CreateMissionOrSurvey{Project: in.Project, Name: in.Name, SurveyDate: in.SurveyDate,
			NumberOfImages: in.NumberOfImages, Coordinates: in.Coordinates, Geometry: in.Geometry, Area: in.Area,
			Extra: in.Extra})
	return Found[Mission]{made.Mission, true}, err
}

func first[T any](found []T) Found[T] {
	if len(found) == 0 {
		return Found[T]{}
	}
	return Found[T]{Resource: found[0]}
}
