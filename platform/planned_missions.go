package platform

import (
	"maps"
	"slices"

	"transect/platform/store"
)

// plannedMissions are those of trials. They are planned for a season and have
// nothing to do with the missions of projects but their name.
var plannedMissions = kind{name: "mission", plural: "season_planner_missions", limit: 5000}

// plannedMission reads the plan of a mission.
func plannedMission() resource {
	return resource{
		kind: plannedMissions,
		properties: []property{
			{key: "trial", rule: ref(trials), when: once},
			{key: "name", rule: words, when: always},
			{key: "start_date", rule: day},
			{key: "end_date", rule: day},
			{key: "description", rule: remark},
			{key: "estimation_methods", rule: refs(estimationMethods), otherwise: []any{}},
			{key: "growth_stages_range", rule: objectOf(
				property{key: "from", rule: ref(growthStages)},
				property{key: "to", rule: ref(growthStages)},
			)},
		},
		derived:  []string{"company"},
		complete: placeMission,
		uses: []use{
			{trials, "missions", letGo},
			{estimations, "mission", cascade}, {reportEntries, "mission", cascade},
		},
	}
}

func plannedMissionRoutes() []route {
	t := plannedMission()
	return []route{
		write(trialRoot+"add-mission-to-trial", addMissionToTrial),
		write(trialRoot+"update-mission", t.setter(t.changePlan)),
		write(trialRoot+"delete-mission", t.one(t.delete)),
		read(trialRoot+"describe-mission", t.describe),
		read(trialRoot+"describe-missions", t.describeUnder("missions")),
		read(trialRoot+"search-missions", t.search),
	}
}

// addMissionToTrial plans a mission and answers with its trial.
func addMissionToTrial(r *Request) (any, error) {
	a := r.args()
	id := a.id("trial")
	if a.err != nil {
		return nil, a.err
	}
	trial, err := r.need(trials, id, "trial")
	if err != nil {
		return nil, err
	}
	return trial, r.plan(trial, r.body, "")
}

// plan makes a mission of a trial, with what it is to estimate.
func (r *Request) plan(trial, body store.Doc, at string) error {
	body = maps.Clone(body)
	body["trial"] = trial["_id"]
	mission, err := plannedMission().build(r, argsAt(body, at))
	if err != nil {
		return err
	}
	if err := r.create(plannedMissions, mission); err != nil {
		return err
	}
	if err := r.planEstimations(mission); err != nil {
		return err
	}
	list, _ := trial["missions"].([]any)
	trial["missions"] = append(slices.Clone(list), mission["_id"])
	return r.save(trials, trial)
}

// changePlan changes a mission, and with it what is to be estimated.
func (t resource) changePlan(r *Request, a *args, mission store.Doc) error {
	if err := t.fill(r, a, mission, updating); err != nil {
		return err
	}
	return r.planEstimations(mission)
}

// placeMission gives a mission the company of its trial, and checks its dates
// and that its methods estimate for the crop of the trial.
func placeMission(r *Request, a *args, mission store.Doc) error {
	trial, err := r.get(trials, store.Text(mission, "trial"))
	if err != nil {
		return err
	}
	mission["company"] = trial["company"]
	checkPeriod(a, "end_date", mission)
	if !a.has("estimation_methods") {
		return nil
	}
	for _, id := range mission["estimation_methods"].([]any) {
		method, err := r.get(estimationMethods, id.(string))
		if err != nil {
			return err
		}
		if list, _ := method["crops"].([]any); !slices.Contains(list, trial["crop"]) {
			a.wrong("estimation_methods", "method %s is not for the crop of trial %s", id, trial["_id"])
		}
	}
	return nil
}
