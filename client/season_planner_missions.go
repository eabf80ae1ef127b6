package client

import (
	"encoding/json"
)

// SeasonPlannerMissions are the data collections a trial plans.
type SeasonPlannerMissions struct {
	AddMissionToTrial Op[AddMissionToTrial, Trial]                         `create:"add-mission-to-trial" doc:"Plan a mission of a trial. The trial comes back."`
	Delete            Op[Ref, None]                                        `delete:"delete-mission" doc:"Delete a planned mission."`
	Describe          Op[Refs, Some[SeasonPlannerMission]]                 `read:"describe-mission|describe-missions" chunk:"1000" doc:"Describe one planned mission or a list of planned missions."`
	Search            SearchOp[Query, SeasonPlannerMission]                `read:"search-missions" page:"0" doc:"Find planned missions."`
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
		EstimationMethods []ID               `arg:"estimation_methods" doc:"estimation methods it collects data for"`
		GrowthStagesRange *GrowthStagesRange `arg:"growth_stages_range" doc:"growth stages it spans, {from, to}"`
	}
	// GrowthStagesRange is a first and a last growth stage.
	GrowthStagesRange struct {
		From ID `arg:"from" doc:"first growth stage"`
		To   ID `arg:"to" doc:"last growth stage"`
	}
)

// SeasonPlannerMission is a data collection a trial plans.
type SeasonPlannerMission struct {
	Record
	Company           string          `json:"company"` // of its trial
	Trial             string          `json:"trial"`
	Name              string          `json:"name"`
	StartDate         string          `json:"start_date"`
	EndDate           string          `json:"end_date"`
	Description       string          `json:"description"`
	EstimationMethods []string        `json:"estimation_methods"`
	GrowthStagesRange json.RawMessage `json:"growth_stages_range"` // {from, to}
	History
}
