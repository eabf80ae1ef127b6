package platform

import (
	"slices"

	"transect/platform/store"
)

var missions = kind{name: "mission", plural: "missions", firstPage: 1, limit: 100}

func missionRoutes() []route {
	return []route{
		write("project-manager/missions", createMission),
		write("project-manager/projects/survey", createSurvey),
		write("project-manager/missions/delete-survey", deleteMission),
		write("project-manager/create-mission-archive", createMissionArchive),
		read("project-manager/describe-mission", missions.describe),
		read("project-manager/describe-missions", missions.describeMany),
		read("project-manager/search-missions", missions.search),
		write("project-manager/update-mission-name", missions.setText("name")),
		write("project-manager/update-mission-geometry", missions.setGeometry("geometry")),
		write("project-manager/update-mission-bbox", missions.setGeometry("real_bbox")),
		write("project-manager/update-mission-survey-date", missions.setDate("survey_date")),
		write("project-manager/compute-mission-bbox", missions.setter(computeMissionBox)),
	}
}

// createMission makes a mission without images, which has no flight.
func createMission(r *Request) (any, error) {
	a := r.args()
	project, surveyed := a.id("project"), a.date("survey_date")
	a.optText("name")
	a.optGeometry("geometry")
	if a.err != nil {
		return nil, a.err
	}
	doc, err := r.extras("flights", "user")
	if err != nil {
		return nil, err
	}
	doc["survey_date"] = surveyed
	if a.optText("name") == "" {
		doc["name"] = surveyed[:len("2006-01-02")]
	}
	if err := r.addMission(project, "project", doc, nil); err != nil {
		return nil, err
	}
	return store.Doc{"mission": doc}, nil
}

// createSurvey makes a mission and the flight its images belong to.
func createSurvey(r *Request) (any, error) {
	a := r.args()
	project, surveyed := a.id("project_id"), a.date("survey_date")
	a.need("number_of_photos")
	photos := a.integer("number_of_photos", 0, 1, 1<<31)
	name := a.optText("mission_name")
	if name == "" {
		name = a.optText("name")
	}
	if name == "" && a.err == nil {
		name = surveyed[:len("2006-01-02")]
	}
	a.optGeometry("geometry")
	if a.err != nil {
		return nil, a.err
	}
	mission, err := r.extras("project_id", "mission_name", "number_of_photos", "addProjectToUsers",
		"orderAnalytic", "processSettings", "flights", "user")
	if err != nil {
		return nil, err
	}
	mission["name"] = name
	mission["project"] = project
	mission["survey_date"] = surveyed
	flight := store.Doc{
		"name":             name,
		"survey_date":      surveyed,
		"number_of_photos": photos,
		"status":           store.Doc{"name": "uploading"},
		"user":             r.caller.user,
		"created":          date(r.now()),
	}
	if g := mission["geometry"]; g != nil {
		flight["geometry"] = g
	}
	if err := r.addMission(project, "project_id", mission, flight); err != nil {
		return nil, err
	}
	return store.Doc{"mission": mission, "flight": flight}, nil
}

// addMission keeps a new mission, its flight if it has one, and their places in
// the project's and the mission's lists.
func (r *Request) addMission(project, key string, mission, flight store.Doc) error {
	parent, err := r.need(projects, project, key)
	if err != nil {
		return err
	}
	mission["company"] = parent["company"]
	mission["user"] = r.caller.user
	mission["created"] = date(r.now())
	mission["flights"] = []any{}
	if err := r.create(missions, mission); err != nil {
		return err
	}
	if flight != nil {
		flight["project"], flight["mission"], flight["company"] = project, mission["_id"], parent["company"]
		if err := r.create(flights, flight); err != nil {
			return err
		}
		mission["flights"] = []any{flight["_id"]}
		if err := r.tx.Replace(missions.plural, mission); err != nil {
			return err
		}
	}
	list, _ := parent["missions"].([]any)
	parent["missions"] = append(list, mission["_id"])
	return r.tx.Replace(projects.plural, parent)
}

// deleteMission hides a mission with its flights, datasets and annotations.
func deleteMission(r *Request) (any, error) {
	a := r.args()
	id := a.id("mission")
	if a.err != nil {
		return nil, a.err
	}
	doc, err := r.get(missions, id)
	if err != nil {
		return nil, err
	}
	for _, k := range []kind{flights, datasets, annotations} {
		if err := r.deleteWhere(k, store.Doc{"mission": id}); err != nil {
			return nil, err
		}
	}
	parent, err := r.get(projects, store.Text(doc, "project"))
	if err != nil {
		return nil, err
	}
	if list, ok := parent["missions"].([]any); ok {
		parent["missions"] = slices.DeleteFunc(list, func(v any) bool { return v == any(id) })
		if err := r.tx.Replace(projects.plural, parent); err != nil {
			return nil, err
		}
	}
	return nil, r.softDelete(missions, doc)
}
