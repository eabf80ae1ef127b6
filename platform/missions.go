package platform

import (
	"transect/platform/store"
)

// Missions are surveys of a project. Their images belong to flights.
var missions = &resource{name: "mission", plural: "missions", limit: 100}

func serveMissions() {
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
	photos, err := r.integer("number_of_photos", 0, 1, 1<<31)
	if err != nil {
		return nil, err
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

// Flights hold the images of a mission.
var flights = &resource{name: "flight", plural: "flights", limit: 100}

func serveFlights() {
	flights.refs = []ref{{"project", projects, cascade}, {"mission", missions, cascade}}
	flights.complete = func(_ *Request, _, doc store.Doc) error {
		setDates(doc, "survey_date")
		return nil
	}
	serve("flights", flights, map[string]endpoint{
		"describe-flight-uploads-status": do(describeUploads),
		"update-flight-status":           do(flights.changing(setFlightStatus)),
		"update-flight-data":             do(flights.changing(setFlightData)),
	})
}

func setFlightStatus(r *Request, doc store.Doc) error {
	doc["status"] = store.Doc{"name": r.text("status"), "date": date(r.now())}
	return nil
}

// setFlightData sets what is known of where the flight was.
func setFlightData(r *Request, doc store.Doc) error {
	data := r.object("data")
	if data == nil {
		return wrong("data", "is required")
	}
	if data["geometry"] != nil {
		doc["geometry"] = data["geometry"]
	}
	if data["bbox"] == nil {
		return nil
	}
	bbox, _ := data["bbox"].([]any)
	if len(bbox) != 4 || position("", bbox[:2]) != nil || position("", bbox[2:]) != nil {
		return wrong("data.bbox", "must be [minimal longitude, minimal latitude, maximal longitude, maximal latitude]")
	}
	doc["bbox"] = bbox
	return nil
}

// uploadStates are the states of an image's ingestion, and the names under
// which the status of uploads counts them.
var uploadStates = map[string]string{
	"pending": "waiting", "running": "running", "completed": "completed", "failed": "failed",
}

// describeUploads counts for each flight how far its images are.
func describeUploads(r *Request) (any, error) {
	filter := store.Doc{}
	for key, field := range map[string]string{"flights": "_id", "missions": "mission", "projects": "project"} {
		if r.body[key] != nil {
			filter[field] = store.Doc{"$in": r.body[key]}
		}
	}
	if len(filter) == 0 {
		return nil, wrong("flights", "is required, or missions, or projects")
	}
	limit, offset, err := flights.paging(r, 1)
	if err != nil {
		return nil, err
	}
	page, err := r.tx.Search(flights.plural, store.Query{Filter: filter, Limit: limit, Offset: offset})
	if err != nil {
		return nil, err
	}
	results := []store.Doc{}
	for _, raw := range page.Results {
		flight, err := store.Decode(raw)
		if err != nil {
			return nil, err
		}
		status, err := r.uploadsOf(flight)
		if err != nil {
			return nil, err
		}
		results = append(results, status)
	}
	return store.Doc{"results": results, "total": page.Total}, nil
}

func (r *Request) uploadsOf(flight store.Doc) (store.Doc, error) {
	status := store.Doc{
		"flight": flight["_id"], "mission": flight["mission"], "project": flight["project"],
		"number_of_photos": flight["number_of_photos"], "status": store.Text(flight, "status.name"),
	}
	for _, name := range uploadStates {
		status[name] = 0
	}
	total := 0
	rows, err := r.tx.Query(`SELECT json_extract(body, '$.ingestion.status'), count(*) FROM docs
		WHERE collection = ? AND flight = ? AND deletion_date IS NULL GROUP BY 1`, datasets.plural, flight["_id"])
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var state string
		var count int
		if err := rows.Scan(&state, &count); err != nil {
			return nil, err
		}
		status[uploadStates[state]] = count
		total += count
	}
	status["datasets"] = total
	status["uploaded"] = total - status["waiting"].(int)
	return status, rows.Err()
}
