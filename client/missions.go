package client

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/tidwall/gjson"

	"transect/client/declare"
	"transect/client/fault"
	"transect/client/schema"
)

// Missions are the surveys flown over a project.
type Missions struct {
	Create               Op[CreateMissionOrSurvey, Survey]       `create:"" unknown:"steps" composed:"yes" returns:"flight (nil without images), mission" raises:"QueryError: with images, coordinates and geometry are both given, or neither" doc:"Create a mission, with a flight when there are images."`
	FindOrCreate         Op[FindOrCreateMission, Found[Mission]] `create:"" unknown:"steps" composed:"yes" returns:"mission; true when it was created" doc:"Find the mission of a project by its exact name, or create it, with a flight when there are images. Several of that name are an error that lists them. If several runs create it at the same moment, all continue with the oldest, and each deletes the one it created."`
	CreateMission        Op[CreateMission, Mission]              `create:"missions" unknown:"search project,name" result:"mission" extra:"over" doc:"Create a mission without images: it has no flight."`
	CreateSurvey         Op[CreateSurvey, Survey]                `create:"projects/survey" adds:"addProjectToUsers" unknown:"search project,name" makes:"missions mission._id" extra:"over" returns:"flight, mission" raises:"QueryError: coordinates and geometry are both given, or neither" does:"flights.create|missions.create_mission" doc:"Create a mission with images, and its flight."`
	CreateArchive        Op[CreateArchive, Accepted]             `create:"create-mission-archive" unknown:"search" makes:"datasets none" returns:"true when the request was accepted" doc:"Ask for an archive of the mission's images."`
	CompleteSurveyUpload Op[CompleteSurveyUpload, None]          `set:"" unknown:"steps" composed:"yes" deprecated:"flights.update_status" doc:"Report that the uploads of a flight have ended."`
	ComputeBbox          Op[Ref, Mission]                        `set:"compute-mission-bbox" doc:"Compute the bounding box from the mission's content."`
	UpdateBbox           Op[UpdateBbox, Mission]                 `set:"update-mission-bbox" doc:"Set the bounding box."`
	UpdateGeometry       Op[UpdateGeometry, Mission]             `set:"update-mission-geometry" doc:"Set the geometry."`
	UpdateName           Op[Rename, Mission]                     `set:"update-mission-name" doc:"Rename a mission."`
	UpdateSurveyDate     Op[UpdateSurveyDate, Mission]           `set:"update-mission-survey-date" doc:"Set the survey date."`
	Delete               Op[Ref, None]                           `delete:"missions/delete-survey" extra:"no" does:"flights.delete|annotations.delete" doc:"Delete a mission."`
	Describe             Op[Refs, Some[Mission]]                 `read:"describe-mission|describe-missions" chunk:"1000" doc:"Describe one mission or a list of missions."`
	Search               SearchOp[Query, Mission]                `read:"search-missions" page:"1" limit:"100" refuse:"missions|flights|project|deleted" doc:"Find missions."`
}

// Inputs of the mission operations.
type (
	CreateMissionOrSurvey struct {
		Project        ID       `arg:"project,req" doc:"project it belongs to"`
		SurveyDate     Date     `arg:"survey_date,req" doc:"when it was flown"`
		NumberOfImages int      `arg:"number_of_images,req" doc:"how many images there will be; 0 makes a mission without a flight"`
		Name           string   `arg:"name" doc:"name of the mission"`
		Coordinates    []any    `arg:"coordinates" doc:"outline as a ring of positions, the last equal to the first; instead of geometry"`
		Geometry       Geometry `arg:"geometry" doc:"outline, a GeometryCollection with a Polygon, or the Polygon; instead of coordinates"`
		Area           *float64 `arg:"area" doc:"area in square metres; with images"`
		Extra
	}
	CreateMission struct {
		Project    ID     `arg:"project,req" doc:"project it belongs to"`
		SurveyDate Date   `arg:"survey_date,req" doc:"when it was flown"`
		Name       string `arg:"name" omit:"falsy" doc:"name of the mission"`
		Extra
	}
	CreateSurvey struct {
		SurveyDate     Date     `arg:"survey_date,req" doc:"when it was flown"`
		Project        ID       `arg:"project,req" wire:"project_id" doc:"project it belongs to"`
		NumberOfImages int      `arg:"number_of_images,req" wire:"number_of_photos" doc:"how many images there will be"`
		Name           string   `arg:"name" default:"" doc:"name of the mission"`
		Coordinates    []any    `arg:"coordinates" in:"none" doc:"outline as a ring of positions, the last equal to the first; instead of geometry"`
		Geometry       Geometry `arg:"geometry" doc:"outline, a GeometryCollection with a Polygon, or the Polygon; instead of coordinates"`
		Area           *float64 `arg:"area" default:"0" doc:"area in square metres"`
		Extra
	}
	CreateArchive struct {
		Ref
		Name      string `arg:"name" doc:"name of the archive"`
		ChunkSize *int   `arg:"chunk_size" doc:"largest size of one archive file, in megabytes"`
	}
	CompleteSurveyUpload struct {
		Flight ID     `arg:"flight,req" doc:"flight"`
		Status string `arg:"status" default:"complete" choices:"complete|failed" doc:"how the uploads ended"`
	}
)

// Survey is the result of creating a mission.
type Survey struct {
	Flight  *Flight `json:"flight"` // nil for a mission without images
	Mission Mission `json:"mission"`
}

// Values returns the results in the order the interface documents.
func (s Survey) Values() []any {
	if s.Flight == nil {
		return []any{nil, s.Mission}
	}
	return []any{*s.Flight, s.Mission}
}

// Rebuild makes the answer of a mission that was found: it names the flight.
func (CreateSurvey) Rebuild(ctx context.Context, found []byte, read declare.Reader) ([]byte, error) {
	flight, err := read(ctx, "flights", gjson.GetBytes(found, "flights.0").String())
	return fmt.Appendf(nil, `{"mission":%s,"flight":%s}`, found, cmp.Or(string(flight), "null")), err
}

// Rebuild makes the answer of an archive that was found.
func (CreateArchive) Rebuild(context.Context, []byte, declare.Reader) ([]byte, error) {
	return []byte(`{"request":"accepted"}`), nil
}

// Accepted reports whether the platform took a request on.
type Accepted bool

// Validate refuses outlines given in both forms, or in none: a survey without
// one cannot be shown on a map.
func (in CreateSurvey) Validate() error {
	ring, shape := in.Coordinates != nil || in.Extra.Extra["coordinates"] != nil, in.Geometry != nil ||
		in.Extra.Extra["geometry"] != nil
	switch {
	case ring && shape:
		return fault.Of(&fault.QueryError{}, "coordinates and geometry cannot be combined; give one of them")
	case !ring && !shape:
		return fault.Hinted(fault.Of(&fault.QueryError{}, "the outline is missing: give coordinates or geometry"),
			"imagery.scan(folder).footprint gives the coordinates of a folder of images")
	case in.Geometry != nil && !holdsPolygon(in.Geometry):
		return fault.Of(&fault.QueryError{}, "argument geometry must be a GeometryCollection with a Polygon")
	}
	return nil
}

// holdsPolygon reports whether a geometry is a Polygon, or a collection with one.
func holdsPolygon(shape Geometry) bool {
	parts, _ := shape["geometries"].([]any)
	return shape["type"] == "Polygon" || slices.ContainsFunc(parts, func(part any) bool {
		object, _ := schema.AsObject(part)
		return object["type"] == "Polygon"
	})
}

// outline returns the geometry of a mission; for a ring of positions it is a
// GeometryCollection with a Polygon.
func outline(ring []any, shape Geometry) Geometry {
	if ring == nil {
		return shape
	}
	polygon := map[string]any{"type": "Polygon", "coordinates": []any{ring}}
	return Geometry{"type": "GeometryCollection", "geometries": []any{polygon}}
}

// Shape adds what a survey request always holds.
func (in CreateSurvey) Shape(body map[string]any) error {
	if in.Name != "" {
		body["mission_name"] = in.Name
	}
	shape := outline(in.Coordinates, in.Geometry)
	if shape["type"] == "Polygon" {
		shape = Geometry{"type": "GeometryCollection", "geometries": []any{map[string]any(shape)}}
	}
	if shape != nil {
		body["geometry"] = map[string]any(shape)
	}
	body["orderAnalytic"], body["processSettings"] = map[string]any{}, map[string]any{}
	return nil
}

// Validate refuses an outline in two forms.
func (in CreateMissionOrSurvey) Validate() error {
	if in.Coordinates != nil && in.Geometry != nil {
		return fault.Of(&fault.QueryError{}, "coordinates and geometry cannot be combined; give one of them")
	}
	return nil
}

func (c *Client) createMission(ctx context.Context, in CreateMissionOrSurvey) (Survey, error) {
	in = in.outlined()
	if in.NumberOfImages > 0 {
		return c.Missions.CreateSurvey(ctx, CreateSurvey{Project: in.Project, SurveyDate: in.SurveyDate, Name: in.Name,
			NumberOfImages: in.NumberOfImages, Coordinates: in.Coordinates, Geometry: in.Geometry, Area: in.Area,
			Extra: in.Extra})
	}
	m, err := c.Missions.CreateMission(ctx,
		CreateMission{Project: in.Project, SurveyDate: in.SurveyDate, Name: in.Name, Extra: in.further()})
	return Survey{Mission: m}, err
}

// outlined takes an outline that is given under extra for one given by name.
func (in CreateMissionOrSurvey) outlined() CreateMissionOrSurvey {
	extra := maps.Clone(in.Extra.Extra)
	if shape, ok := schema.AsObject(extra["geometry"]); ok && in.Geometry == nil {
		in.Geometry = shape
		delete(extra, "geometry")
	}
	if ring, ok := extra["coordinates"].([]any); ok && in.Coordinates == nil {
		in.Coordinates = ring
		delete(extra, "coordinates")
	}
	in.Extra.Extra = extra
	return in
}

// further returns the extra arguments of a mission without images, including
// the ones only a survey declares.
func (in CreateMissionOrSurvey) further() Extra {
	all := map[string]any{}
	if shape := outline(in.Coordinates, in.Geometry); shape != nil {
		all["geometry"] = map[string]any(shape)
	}
	if in.Area != nil {
		all["area"] = *in.Area
	}
	maps.Copy(all, in.Extra.Extra)
	return Extra{Extra: all}
}

// completeSurveyUpload takes the route that replaced the withdrawn one.
func (c *Client) completeSurveyUpload(ctx context.Context, in CompleteSurveyUpload) (None, error) {
	status := map[string]string{"complete": "completed", "failed": "error"}[in.Status]
	flight, err := c.Flights.UpdateStatus(ctx, UpdateFlightStatus{Ref: Ref{ID: in.Flight}, Status: status})
	if err == nil && flight.ID == "" {
		err = fault.Of(&fault.QueryError{}, "the answer holds no flight, so its status may be the old one")
	}
	return None{}, err
}
