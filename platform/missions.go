package platform

import "transect/platform/store"

// Missions are surveys of a project. Their images belong to flights.
var missions = &resource{name: "mission", plural: "missions", limit: 100}

func init() {
	missions.refs = []ref{{"project", projects, cascade}}
	missions.ignored = []string{"flights", "user", "project_id", "mission_name", "number_of_photos", "addProjectToUsers",
		"orderAnalytic", "processSettings"}
	missions.rules = map[string]rule{"geometry": geometry}
	missions.complete = func(_ *Request, _, doc store.Doc) error {
		setDates(doc, "survey_date")
		if doc["_id"] == nil && store.Text(doc, "name") == "" {
			doc["name"] = store.Text(doc, "survey_date")[:len("2006-01-02")]
		}
		return nil
	}
	serve("missions", missions, map[string]endpoint{
		"create_mission":         do(createMission, "*"),
		"create_survey":          do(createSurvey, "*"),
		"create-mission-archive": do(createMissionArchive),
		"compute-mission-bbox":   do(missions.changing(computeBox)),
	})
}

// createMission makes a mission without images, which has no flight.
func createMission(r *Request) (any, error) { return r.addMission(nil) }

// createSurvey makes a mission and the flight its images belong to.
func createSurvey(r *Request) (any, error) {
	a := r.args()
	photos := a.integer("number_of_photos", 0, 1, 1<<31)
	if a.err != nil {
		return nil, a.err
	}
	if _, err := r.need(projects, r.text("project_id"), "project_id"); err != nil {
		return nil, err
	}
	if name := r.text("mission_name"); name != "" {
		r.body["name"] = name
	}
	r.body["project"] = r.body["project_id"]
	flight := store.Doc{"number_of_photos": photos, "status": store.Doc{"name": "uploading"}}
	mission, err := r.addMission(flight)
	return store.Doc{"mission": mission, "flight": flight}, err
}

// addMission stores a new mission, its flight if it has one, and their
// identifiers in the project's and the mission's lists.
func (r *Request) addMission(flight store.Doc) (store.Doc, error) {
	mission, err := missions.build(r, r.body)
	if err != nil {
		return nil, err
	}
	project, err := r.get(projects, store.Text(mission, "project"))
	if err != nil {
		return nil, err
	}
	mission["company"], mission["user"], mission["created"] = project["company"], r.caller.user, date(r.now())
	mission["flights"] = []any{}
	if err := r.create(missions, mission); err != nil {
		return nil, err
	}
	if flight != nil {
		flight["mission"] = mission["_id"]
		for _, key := range []string{"project", "company", "name", "survey_date", "user", "created", "geometry"} {
			if mission[key] != nil {
				flight[key] = mission[key]
			}
		}
		if err := r.create(flights, flight); err != nil {
			return nil, err
		}
		mission["flights"] = []any{flight["_id"]}
		if err := r.tx.Replace(missions.plural, mission); err != nil {
			return nil, err
		}
	}
	list, _ := project["missions"].([]any)
	project["missions"] = append(list, mission["_id"])
	return mission, r.tx.Replace(projects.plural, project)
}
