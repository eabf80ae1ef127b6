package platform

import (
	"maps"
	"slices"

	"transect/platform/store"
)

// Tasks are orders to fly a site and collect its data.
var tasks = &resource{name: "task", plural: "tasks"}

func init() {
	tasks.refs = []ref{{"company", companies, leave}, {"site", projects, leave}, {"survey", missions, leave},
		{"team", teams, leave}, {"pic", pilots, leave}, {"field_report.team", teams, leave}, {"field_report.pic", pilots, leave},
		{"field_report.carrier", carriers, leave}, {"field_report.sensor", sensors, leave}}
	tasks.fixed = []string{"company"}
	tasks.derived = []string{"flight_log"}
	tasks.defaults = store.Doc{"status": "pending"}
	tasks.complete = checkTask
	tasks.rules = map[string]rule{
		// "adress" is how the interface spells it.
		"location":            object(fields{"adress": object(nil), "contact": object(nil), "task_area": object(nil)}),
		"forecast_date_range": period, "scheduled_date_range": period,
		"status": oneOf("pending", "ready", "assigned", "scheduled", "data-captured", "data-submitted", "completed"),
		"field_report": object(fields{
			"capture_date": day, "speed": quantity(), "altitude": quantity(), "duration": quantity(), "overlap": overlap,
			"comment": anyText, "custom_props": object(nil),
			"weather": object(fields{"wind_speed": quantity(), "type": anyText, "dew": flag, "wind": flag}),
		}),
	}
	serve("collection_tasks", tasks, map[string]endpoint{
		"create-or-update-task-flight-log": do(tasks.changing(setFlightLog), "*"),
	})
}

// checkTask refuses a pilot in charge who is not of the team, and a survey that
// is not of the site.
func checkTask(r *Request, given, doc store.Doc) error {
	team, pic := store.Text(doc, "team"), store.Text(doc, "pic")
	if (given["team"] != nil || given["pic"] != nil) && team != "" && pic != "" {
		pilot, err := r.tx.Get(pilots.plural, pic)
		if err != nil {
			return err
		}
		if !slices.Contains(textsOf(pilot["teams"]), team) {
			return wrong("pic", "pilot %s is not of team %s", pic, team)
		}
	}
	site, survey := store.Text(doc, "site"), store.Text(doc, "survey")
	if (given["site"] != nil || given["survey"] != nil) && site != "" && survey != "" {
		mission, err := r.tx.Get(missions.plural, survey)
		if err != nil {
			return err
		}
		if mission["project"] != any(site) {
			return wrong("survey", "mission %s is not of project %s", survey, site)
		}
	}
	return nil
}

// setFlightLog replaces a task's flight log by what is given beside the task.
func setFlightLog(r *Request, doc store.Doc) error {
	log := maps.Clone(r.body)
	delete(log, tasks.name)
	doc["flight_log"] = log
	return nil
}
