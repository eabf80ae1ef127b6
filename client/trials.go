package client

import (
	"context"
	"encoding/json"

	"github.com/tidwall/gjson"

	"transect/client/declare"
	"transect/client/fault"
	"transect/client/geojson"
)

// Trials are experiments with a crop on a field in a season.
type Trials struct {
	Create               Op[CreateTrial, Trial]   `create:"create-trial" unknown:"key field,name,season,crop" does:"season_planner_missions.create" doc:"Create a trial, with its planned missions if there are any."`
	Delete               Op[Ref, None]            `delete:"delete-trial" does:"season_planner_missions.delete|assessment_parameters_estimations.delete" doc:"Delete a trial."`
	Describe             Op[Refs, Some[Trial]]    `read:"describe-trial|describe-trials" chunk:"1000" doc:"Describe one trial or a list of trials."`
	Search               SearchOp[Query, Trial]   `read:"search-trials" page:"0" served:"5000" filters:"_id|company|creation_date|modification_date|deletion_date|name|field|crop|season" doc:"Find trials."`
	SetDTMDatasetOnTrial Op[SetTrialDTM, Trial]   `set:"set-dtm-dataset-on-trial" doc:"Set the terrain model of a trial."`
	SetPlotsOnTrial      Op[SetTrialPlots, Trial] `set:"set-plots-on-trial" doc:"Set the plots of a trial."`
	Update               Op[UpdateTrial, Trial]   `set:"update-trial" doc:"Change a trial. What is not given stays."`
}

// Inputs of the trial operations.
type (
	CreateTrial struct {
		Field    ID               `arg:"field,req" doc:"field it is on"`
		Name     string           `arg:"name,req" doc:"name of the trial"`
		Crop     ID               `arg:"crop,req" doc:"crop it grows"`
		Comment  string           `arg:"comment" doc:"remark"`
		Season   Date             `arg:"season" doc:"date in its season"`
		Location *TrialLocation   `arg:"location" doc:"where it is: GeoJSON Feature {type, crs, geometry, bbox}, its geometry a Polygon"`
		Missions []PlannedMission `arg:"missions" doc:"missions to plan, each {name, start_date, end_date, description, estimation_methods, growth_stages_range}"`
		Links    []ID             `arg:"links" set:"yes" doc:"trials it is linked to, all on the same field"`
		CustomID ID               `arg:"custom_id" doc:"identifier of your own"`
		Extra
	}
	UpdateTrial struct {
		Trial    ID             `arg:"trial,req,pos" doc:"trial"`
		Field    ID             `arg:"field,req,pos" doc:"field it is on"`
		Crop     ID             `arg:"crop,req,pos" doc:"crop it grows"`
		Name     string         `arg:"name,pos" doc:"new name"`
		Comment  string         `arg:"comment,pos" doc:"remark"`
		Season   Date           `arg:"season,pos" doc:"date in its season"`
		Location *TrialLocation `arg:"location,pos" doc:"where it is: GeoJSON Feature {type, crs, geometry, bbox}, its geometry a Polygon"`
		Links    []ID           `arg:"links,pos" set:"yes" doc:"trials it is linked to, all on the same field"`
		CustomID ID             `arg:"custom_id,pos" doc:"identifier of your own"`
		Extra
	}
	SetTrialDTM struct {
		Trial   ID `arg:"trial,req" doc:"trial"`
		Dataset ID `arg:"dataset,req" doc:"raster with the heights of the terrain"`
		Extra
	}
	SetTrialPlots struct {
		Trial ID    `arg:"trial,req" doc:"trial"`
		Plots Plots `arg:"plots,req" doc:"plots or micro-plots, {location}"`
		Extra
	}
	// Plots are the pieces a trial is divided into.
	Plots struct {
		Location Object `arg:"location,req" doc:"where they are, GeoJSON"`
	}
	// TrialLocation is where a trial is.
	TrialLocation struct {
		Type     string    `arg:"type,req" choices:"Feature" doc:"always Feature"`
		CRS      Object    `arg:"crs" doc:"reference system of the positions; WGS 84 when absent"`
		Geometry Drawing   `arg:"geometry,req" doc:"a Polygon"`
		Bbox     []float64 `arg:"bbox" doc:"bounding box, lowest values first"`
	}
)

// Validate requires a polygon, in degrees unless there is a reference system.
func (in TrialLocation) Validate() error {
	if kind := in.Geometry["type"]; kind != "Polygon" {
		return fault.Of(&fault.QueryError{}, "geometry is a %v, must be a Polygon", kind)
	}
	if in.CRS == nil {
		if err := Geometry(in.Geometry).Check(); err != nil {
			return err
		}
	}
	return geojson.CheckBox("argument bbox", in.Bbox, 4, 6)
}

// Trial is an experiment with a crop on a field in a season.
type Trial struct {
	Record   `doc:"Experiment with a crop on a field in a season."`
	Company  string          `json:"company" type:"id" doc:"company it belongs to"`
	Field    string          `json:"field" type:"id" doc:"field it is on"`
	Name     string          `json:"name" doc:"name of the trial"`
	Crop     string          `json:"crop" type:"id" doc:"crop it grows"`
	Comment  string          `json:"comment" doc:"remark"`
	Season   string          `json:"season" type:"date" doc:"date in its season"`
	Location json.RawMessage `json:"location" type:"table" doc:"where it is, GeoJSON Feature"`
	Missions json.RawMessage `json:"missions" doc:"its planned missions: ids, or tables"`
	Links    []string        `json:"links" type:"[]id" doc:"trials it is linked to, on the same field"`
	CustomID string          `json:"custom_id" doc:"identifier of your own"`
	Plots    json.RawMessage `json:"plots" type:"table" doc:"plots or micro-plots, {location}"`
	DTM      string          `json:"dtm_dataset" type:"id" doc:"dataset with the heights of the terrain"`
	History
}

// SeasonPlannerMissions are the data collections a trial plans.
type SeasonPlannerMissions struct {
	AddMissionToTrial Op[AddMissionToTrial, Trial]                         `create:"add-mission-to-trial" unknown:"search trial,name" makes:"season_planner_missions none" does:"trials.describe" doc:"Plan a mission of a trial. The trial comes back."`
	Delete            Op[Ref, None]                                        `delete:"delete-mission" does:"assessment_parameters_estimations.delete" doc:"Delete a planned mission."`
	Describe          Op[Refs, Some[SeasonPlannerMission]]                 `read:"describe-mission|describe-missions" chunk:"1000" doc:"Describe one planned mission or a list of planned missions."`
	Search            SearchOp[Query, SeasonPlannerMission]                `read:"search-missions" page:"0" served:"5000" filters:"_id|company|creation_date|modification_date|deletion_date|name|trial" doc:"Find planned missions."`
	UpdateMission     Op[UpdateSeasonPlannerMission, SeasonPlannerMission] `set:"update-mission" doc:"Change a planned mission."`
}

// Inputs of the operations on season planner missions.
type (
	AddMissionToTrial struct {
		Trial ID `arg:"trial,req" doc:"trial it belongs to"`
		PlannedMission
		Extra
	}
	UpdateSeasonPlannerMission struct {
		Mission ID `arg:"mission,req" doc:"planned mission"`
		PlannedMission
		Extra
	}
	// PlannedMission is the plan of a mission.
	PlannedMission struct {
		Name string `arg:"name,req" doc:"its name"`
		DateRange
		Description       string             `arg:"description" doc:"what it is for"`
		EstimationMethods []ID               `arg:"estimation_methods" set:"yes" doc:"estimation methods it collects data for"`
		GrowthStagesRange *GrowthStagesRange `arg:"growth_stages_range" doc:"growth stages it spans, {from, to}"`
	}
	// GrowthStagesRange is a first and a last growth stage.
	GrowthStagesRange struct {
		From ID `arg:"from" doc:"first growth stage"`
		To   ID `arg:"to" doc:"last growth stage"`
	}
)

// Rebuild makes the answer of a mission that was found: its trial.
func (AddMissionToTrial) Rebuild(ctx context.Context, found []byte, read declare.Reader) ([]byte, error) {
	return read(ctx, "trials", gjson.GetBytes(found, "trial").String())
}

// SeasonPlannerMission is a data collection a trial plans.
type SeasonPlannerMission struct {
	Record            `doc:"Data collection a trial plans."`
	Company           string          `json:"company" type:"id" doc:"company of its trial"`
	Trial             string          `json:"trial" type:"id" doc:"trial it belongs to"`
	Name              string          `json:"name" doc:"its name"`
	StartDate         string          `json:"start_date" type:"date" doc:"when it starts"`
	EndDate           string          `json:"end_date" type:"date" doc:"when it ends"`
	Description       string          `json:"description" doc:"what it is for"`
	EstimationMethods []string        `json:"estimation_methods" type:"[]id" doc:"estimation methods it collects data for"`
	GrowthStagesRange json.RawMessage `json:"growth_stages_range" type:"table" doc:"growth stages it spans, {from, to}"`
	History
}
