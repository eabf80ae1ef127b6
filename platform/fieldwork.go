package platform

import (
	"maps"
	"slices"

	"transect/client/schema"
	"transect/platform/internal/store"
)

// Teams, their pilots, and their equipment.
var (
	teams         = &resource{name: "team", plural: "teams", unique: []string{"company", "name"}}
	pilots        = &resource{name: "pilot", plural: "pilots", unique: []string{"user"}}
	carrierModels = &resource{name: "carrier_model", plural: "carrier_models"}
	carriers      = &resource{name: "carrier", plural: "carriers"}
	sensorModels  = &resource{name: "sensor_model", plural: "sensor_models"}
	sensors       = &resource{name: "sensor", plural: "sensors"}
)

// carrierTypes lists the types the service stores; clients translate other names.
var carrierTypes = []string{"fixed-wind", "multirotor", "ground-robot", "helicopter", "pedestrian"}

func serveEquipment() {
	teams.refs = []ref{{"company", companies, leave}, {"leader", pilots, unlink}}
	teams.fixed = []string{"company"}

	// A user is one pilot, of any number of teams.
	pilots.refs = []ref{{"user", users, leave}, {"teams", teams, unlink},
		{"carrier_models", carrierModels, unlink}, {"sensor_models", sensorModels, unlink}}
	pilots.rules = distinct("teams", "carrier_models", "sensor_models")
	pilots.fixed = []string{"user"}
	pilots.derived = []string{"company", "companies"}
	pilots.defaults = store.Doc{"carrier_models": []any{}, "sensor_models": []any{}}
	pilots.complete = setPilotCompanies

	// A model without a company is available to all companies.
	for _, model := range []*resource{carrierModels, sensorModels} {
		model.refs = []ref{{"company", companies, leave}}
		model.unique = []string{"maker", "name", "company"}
	}
	carrierModels.refs = append(carrierModels.refs, ref{"compatible_sensor_models", sensorModels, unlink})
	carrierModels.defaults = store.Doc{"compatible_sensor_models": []any{}}
	carrierModels.rules = append(distinct("compatible_sensor_models"),
		schema.Param{Name: "type", Type: "string", Choices: carrierTypes})
	sensorModels.rules = fields{{Name: "width", Type: "pixels"}, {Name: "height", Type: "pixels"}}

	// A piece of equipment belongs to a team; its serial number is unique within its model.
	for piece, model := range map[*resource]*resource{carriers: carrierModels, sensors: sensorModels} {
		piece.refs = []ref{{model.name, model, refuse}, {"team", teams, refuse}}
		piece.unique = []string{model.name, "serial_number"}
		piece.derived = []string{"company"}
		piece.complete = func(r *Request, _, doc store.Doc) {
			doc["company"] = r.get(teams, store.Text(doc, "team"))["company"]
		}
	}
	carriers.defaults = store.Doc{"status": "ready"}

	serve("teams", teams, nil)
	serve("pilots", pilots, nil)
	serve("carrier_models", carrierModels, nil)
	serve("carriers", carriers, nil)
	serve("sensors_models", sensorModels, nil)
	serve("sensors", sensors, nil)
}

// setPilotCompanies derives a pilot's companies from the pilot's teams.
func setPilotCompanies(r *Request, _, doc store.Doc) {
	joined := []any{}
	for _, id := range textsOf(doc["teams"]) {
		team := r.get(teams, id)
		if !slices.Contains(joined, team["company"]) {
			joined = append(joined, team["company"])
		}
	}
	doc["companies"] = joined
}

// Tasks are orders to fly a site and collect its data.
var tasks = &resource{name: "task", plural: "tasks"}

func serveTasks() {
	tasks.refs = []ref{{"company", companies, leave}, {"site", projects, leave}, {"survey", missions, leave},
		{"team", teams, leave}, {"pic", pilots, leave}, {"field_report.team", teams, leave},
		{"field_report.pic", pilots, leave},
		{"field_report.carrier", carriers, leave}, {"field_report.sensor", sensors, leave}}
	tasks.fixed = []string{"company"}
	tasks.derived = []string{"flight_log"}
	tasks.defaults = store.Doc{"status": "pending"}
	tasks.complete = checkTask
	tasks.rules = fields{{Name: "status", Type: "string",
		Choices: []string{"pending", "ready", "assigned", "scheduled", "data-captured", "data-submitted", "completed"}}}
	serve("collection_tasks", tasks, map[string]endpoint{
		"create-or-update-task-flight-log": do(tasks.changing(setFlightLog), "*"),
	})
}

// checkTask refuses a pilot in charge who is not in the team, and a survey outside the site.
func checkTask(r *Request, given, doc store.Doc) {
	team, pic := store.Text(doc, "team"), store.Text(doc, "pic")
	if (given["team"] != nil || given["pic"] != nil) && team != "" && pic != "" {
		pilot := r.load(pilots, pic)
		if !slices.Contains(textsOf(pilot["teams"]), team) {
			panic(wrong("pic", "pilot %s is not of team %s", pic, team))
		}
	}
	site, survey := store.Text(doc, "site"), store.Text(doc, "survey")
	if (given["site"] != nil || given["survey"] != nil) && site != "" && survey != "" {
		mission := r.load(missions, survey)
		if mission["project"] != any(site) {
			panic(wrong("survey", "mission %s is not of project %s", survey, site))
		}
	}
}

// setFlightLog replaces a task's flight log with the rest of the body.
func setFlightLog(r *Request, doc store.Doc) {
	log := maps.Clone(r.body)
	delete(log, tasks.name)
	doc["flight_log"] = log
}
