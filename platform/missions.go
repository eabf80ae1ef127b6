package platform

import (
	"errors"

	"transect/client/schema"
	"transect/platform/internal/store"
)

// Missions are surveys of a project. Their images belong to flights.
var missions = &resource{name: "mission", plural: "missions", limit: 100}

func serveMissions() {
	missions.refs = []ref{{"project", projects, cascade}}
	missions.ignored = []string{"flights", "user", "project_id", "mission_name", "number_of_photos", "addProjectToUsers",
		"orderAnalytic", "processSettings"}
	missions.rules = fields{{Name: "geometry", Type: "geometry"}}
	missions.complete = func(_ *Request, _, doc store.Doc) {
		if doc["_id"] == nil && store.Text(doc, "name") == "" {
			doc["name"] = store.Text(doc, "survey_date")[:len("2006-01-02")]
		}
	}
	serve("missions", missions, map[string]endpoint{
		// A mission without images has no flight.
		"create_mission":         do(func(r *Request) any { return r.addMission(nil) }, "*"),
		"create_survey":          do(createSurvey, "*"),
		"create-mission-archive": do(createMissionArchive),
		"compute-mission-bbox":   do(missions.changing(computeBox)),
	})
}

// createSurvey creates a mission and the flight that its images belong to.
func createSurvey(r *Request) any {
	photos := r.integer("number_of_photos", 0, 1, 1<<31)
	r.need(projects, r.text("project_id"), "project_id")
	if name := r.text("mission_name"); name != "" {
		r.body["name"] = name
	}
	r.body["project"] = r.body["project_id"]
	flight := store.Doc{"number_of_photos": photos, "status": store.Doc{"name": "uploading"}}
	return store.Doc{"mission": r.addMission(flight), "flight": flight}
}

// addMission stores a new mission, its flight if it has one, and their
// identifiers in the project's and the mission's lists.
func (r *Request) addMission(flight store.Doc) store.Doc {
	mission := missions.build(r, r.body)
	project := r.get(projects, store.Text(mission, "project"))
	mission["company"], mission["user"], mission["created"] = project["company"], r.caller.user, date(r.now())
	mission["flights"] = []any{}
	r.create(missions, mission)
	if flight != nil {
		flight["mission"] = mission["_id"]
		for _, key := range []string{"project", "company", "name", "survey_date", "user", "created", "geometry"} {
			if mission[key] != nil {
				flight[key] = mission[key]
			}
		}
		r.create(flights, flight)
		mission["flights"] = []any{flight["_id"]}
		r.replace(missions, mission)
	}
	project["missions"] = append(listOf(project, "missions"), mission["_id"])
	r.replace(projects, project)
	return mission
}

// Flights hold the images of a mission.
var flights = &resource{name: "flight", plural: "flights", limit: 100}

func serveFlights() {
	flights.refs = []ref{{"project", projects, cascade}, {"mission", missions, cascade}}
	serve("flights", flights, map[string]endpoint{
		"describe-flight-uploads-status": do(describeUploads),
		"update-flight-status":           do(flights.changing(setFlightStatus)),
		"update-flight-data":             do(flights.changing(setFlightData)),
	})
}

func setFlightStatus(r *Request, doc store.Doc) {
	doc["status"] = store.Doc{"name": r.text("status"), "date": date(r.now())}
}

// setFlightData sets the known location of the flight.
func setFlightData(r *Request, doc store.Doc) {
	data := r.object("data")
	if data == nil {
		panic(wrong("data", "is required"))
	}
	if data["geometry"] != nil {
		doc["geometry"] = data["geometry"]
	}
	if data["bbox"] == nil {
		return
	}
	bbox, _ := data["bbox"].([]any)
	corner := &schema.Param{Type: "position"}
	if len(bbox) != 4 || errors.Join(corner.CheckJSON("", bbox[:2]), corner.CheckJSON("", bbox[2:])) != nil {
		panic(wrong("data.bbox", "must be [minimal longitude, minimal latitude, maximal longitude, maximal latitude]"))
	}
	doc["bbox"] = bbox
}

// uploadStates maps the states of an image's ingestion to the names that the status of uploads counts them
// under.
var uploadStates = map[string]string{
	"pending": "waiting", "running": "running", "completed": "completed", "failed": "failed",
}

// describeUploads counts the images of each flight by state of ingestion.
func describeUploads(r *Request) any {
	filter := store.Doc{}
	for key, field := range map[string]string{"flights": "_id", "missions": "mission", "projects": "project"} {
		if r.body[key] != nil {
			filter[field] = store.Doc{"$in": r.body[key]}
		}
	}
	if len(filter) == 0 {
		panic(wrong("flights", "is required, or missions, or projects"))
	}
	limit, offset := flights.paging(r, 1)
	page := must(r.Search(flights.plural, store.Query{Filter: filter, Limit: limit, Offset: offset}))
	results := []store.Doc{}
	for _, flight := range page.Results {
		results = append(results, r.uploadsOf(must(store.Decode(flight))))
	}
	return store.Doc{"results": results, "total": page.Total}
}

func (r *Request) uploadsOf(flight store.Doc) store.Doc {
	status := store.Doc{
		"flight": flight["_id"], "mission": flight["mission"], "project": flight["project"],
		"number_of_photos": flight["number_of_photos"], "status": store.Text(flight, "status.name"),
	}
	for _, name := range uploadStates {
		status[name] = 0
	}
	total := 0
	for row := range r.rows(`SELECT json_extract(body, '$.ingestion.status'), count(*) FROM docs
		WHERE collection = ? AND flight = ? AND deletion_date IS NULL GROUP BY 1`, datasets.plural, flight["_id"]) {
		var state string
		var count int
		check(row.Scan(&state, &count))
		status[uploadStates[state]] = count
		total += count
	}
	status["datasets"] = total
	status["uploaded"] = total - status["waiting"].(int)
	return status
}
