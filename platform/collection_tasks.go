package platform

import (
	"maps"
	"slices"

	"transect/platform/store"
)

var tasks = kind{name: "task", plural: "tasks", limit: 50}

var taskStatuses = []string{"pending", "ready", "assigned", "scheduled", "data-captured", "data-submitted", "completed"}

func taskRoutes() []route {
	const root = "dct-service/task/"
	t := resource{
		kind: tasks,
		properties: []property{
			{key: "name", rule: words, when: atFirst},
			{key: "company", rule: ref(companies), when: once},
			{key: "site", rule: ref(projects)},
			{key: "survey", rule: ref(missions)},
			{key: "location", rule: objectOf(
				property{key: "adress", rule: object}, // spelt so by the interface
				property{key: "contact", rule: object},
				property{key: "task_area", rule: object},
			)},
			{key: "forecast_date_range", rule: period},
			{key: "scheduled_date_range", rule: period},
			{key: "team", rule: ref(teams)},
			{key: "pic", rule: ref(pilots)},
			{key: "comment", rule: remark},
			{key: "custom_props", rule: object},
			{key: "requirement", rule: object},
			{key: "purpose", rule: remark},
			{key: "status", rule: choice(taskStatuses...), otherwise: "pending"},
			{key: "field_report", rule: fieldReport},
		},
		derived:  []string{"flight_log"},
		complete: checkTask,
	}
	return t.routes(root, "task",
		write(root+"update-task", t.update()),
		write(root+"set-task-name", t.set("name")),
		write(root+"set-task-status", t.set("status")),
		write(root+"set-fieldreport-in-task", t.set("field_report")),
		write("dct-service/task-management/create-or-update-task-flight-log", setFlightLog))
}

// fieldReport tells how the data of a task was collected.
var fieldReport = objectOf(
	property{key: "capture_date", rule: day},
	property{key: "team", rule: ref(teams)},
	property{key: "pic", rule: ref(pilots)},
	property{key: "weather", rule: objectOf(
		property{key: "wind_speed", rule: quantity()},
		property{key: "type", rule: remark},
		property{key: "dew", rule: flag},
		property{key: "wind", rule: flag},
	)},
	property{key: "carrier", rule: ref(carriers)},
	property{key: "sensor", rule: ref(sensors)},
	property{key: "speed", rule: quantity()},
	property{key: "altitude", rule: quantity()},
	property{key: "duration", rule: quantity()},
	property{key: "overlap", rule: overlap},
	property{key: "comment", rule: remark},
	property{key: "custom_props", rule: object},
)

// checkTask refuses a pilot in charge who is not of the team, and a survey that
// is not of the site.
func checkTask(r *Request, a *args, doc store.Doc) error {
	team, pic := store.Text(doc, "team"), store.Text(doc, "pic")
	if (a.has("team") || a.has("pic")) && team != "" && pic != "" {
		pilot, err := r.tx.Get(pilots.plural, pic)
		if err != nil {
			return err
		}
		if list, _ := pilot["teams"].([]any); !slices.Contains(list, any(team)) {
			a.wrong("pic", "pilot %s is not of team %s", pic, team)
		}
	}
	site, survey := store.Text(doc, "site"), store.Text(doc, "survey")
	if (a.has("site") || a.has("survey")) && site != "" && survey != "" {
		mission, err := r.tx.Get(missions.plural, survey)
		if err != nil {
			return err
		}
		if mission["project"] != any(site) {
			a.wrong("survey", "mission %s is not of project %s", survey, site)
		}
	}
	return nil
}

// setFlightLog puts what is given beside the task in the place of its flight log.
func setFlightLog(r *Request) (any, error) {
	_, err := tasks.setter(func(r *Request, _ *args, doc store.Doc) error {
		log := maps.Clone(r.body)
		delete(log, tasks.name)
		doc["flight_log"] = log
		return nil
	})(r)
	return nil, err
}
