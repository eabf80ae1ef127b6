package platform

import "transect/platform/store"

var flights = kind{name: "flight", plural: "flights", firstPage: 1, limit: 100}

var flightStatuses = []string{"flying", "uploading", "temporary-blocked", "error", "completed"}

func flightRoutes() []route {
	return []route{
		read("project-manager/describe-flight", flights.describe),
		read("project-manager/describe-flights", flights.describeMany),
		read("project-manager/search-flights", flights.search),
		read("project-manager/describe-flight-uploads-status", describeUploads),
		write("project-manager/update-flight-name", flights.setText("name")),
		write("project-manager/update-flight-bbox", flights.setGeometry("real_bbox")),
		write("project-manager/update-flight-survey-date", flights.setDate("survey_date")),
		write("project-manager/update-flight-status", flights.setter(setFlightStatus)),
		write("project-manager/update-flight-data", flights.setter(setFlightData)),
	}
}

func setFlightStatus(r *Request, a *args, doc store.Doc) error {
	doc["status"] = store.Doc{"name": a.oneOf("status", flightStatuses...), "date": date(r.now())}
	return nil
}

// setFlightData sets what is known of where the flight was.
func setFlightData(_ *Request, a *args, doc store.Doc) error {
	inner := within(a.object("data"), "data")
	if g := inner.optGeometry("geometry"); g != nil {
		doc["geometry"] = g
	}
	if inner.has("bbox") {
		bbox := inner.list("bbox")
		if len(bbox) != 4 || checkPosition(bbox[:2]) != nil || checkPosition(bbox[2:]) != nil {
			inner.wrong("bbox", "must be [minimal longitude, minimal latitude, maximal longitude, maximal latitude]")
		}
		doc["bbox"] = bbox
	}
	if a.err == nil {
		a.err = inner.err
	}
	return nil
}

// uploadStates are the states of an image on its way, and the names under
// which the uploads' status counts them.
var uploadStates = map[string]string{
	"pending": "waiting", "running": "running", "completed": "completed", "failed": "failed",
}

// describeUploads counts for each flight how far its images are.
func describeUploads(r *Request) (any, error) {
	a := r.args()
	filter := store.Doc{}
	for key, field := range map[string]string{"flights": "_id", "missions": "mission", "projects": "project"} {
		if a.has(key) {
			var ids []any
			for _, id := range a.ids(key, maxDescribed) {
				ids = append(ids, id)
			}
			filter[field] = store.Doc{"$in": ids}
		}
	}
	if len(filter) == 0 && a.err == nil {
		a.wrong("flights", "is required, or missions, or projects")
	}
	limit, offset := flights.paging(a)
	if a.err != nil {
		return nil, a.err
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
