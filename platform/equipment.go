package platform

import (
	"slices"

	"transect/platform/store"
)

// Teams, their pilots, and what they fly with.
var (
	teams         = &resource{name: "team", plural: "teams", unique: []string{"company", "name"}}
	pilots        = &resource{name: "pilot", plural: "pilots", unique: []string{"user"}}
	carrierModels = &resource{name: "carrier_model", plural: "carrier_models"}
	carriers      = &resource{name: "carrier", plural: "carriers"}
	sensorModels  = &resource{name: "sensor_model", plural: "sensor_models"}
	sensors       = &resource{name: "sensor", plural: "sensors"}
)

// carrierTypes are those the service stores; clients translate other names.
var carrierTypes = []string{"fixed-wind", "multirotor", "ground-robot", "helicopter", "pedestrian"}

func init() {
	teams.refs = []ref{{"company", companies, leave}, {"leader", pilots, unlink}}
	teams.fixed = []string{"company"}

	// A user is one pilot, of any number of teams.
	pilots.refs = []ref{{"user", users, leave}, {"teams", teams, unlink},
		{"carrier_models", carrierModels, unlink}, {"sensor_models", sensorModels, unlink}}
	pilots.rules = map[string]rule{"teams": distinct, "carrier_models": distinct, "sensor_models": distinct}
	pilots.fixed = []string{"user"}
	pilots.derived = []string{"company", "companies"}
	pilots.defaults = store.Doc{"carrier_models": []any{}, "sensor_models": []any{}}
	pilots.complete = setPilotCompanies

	// A model without a company is there for all of them.
	for _, model := range []*resource{carrierModels, sensorModels} {
		model.refs = []ref{{"company", companies, leave}}
		model.unique = []string{"maker", "name", "company"}
	}
	carrierModels.refs = append(carrierModels.refs, ref{"compatible_sensor_models", sensorModels, unlink})
	carrierModels.defaults = store.Doc{"compatible_sensor_models": []any{}}
	carrierModels.rules = map[string]rule{"type": oneOf(carrierTypes...), "compatible_sensor_models": distinct,
		"unloaded_weight": quantity(), "flight_time": quantity(), "speed": quantities, "altitude": quantities}
	sensorModels.rules = map[string]rule{"weight": quantity("g", "kg"), "width": pixels, "height": pixels, "bands": bands}

	// A piece of equipment belongs to a team; its serial number tells it from
	// others of its model.
	for piece, model := range map[*resource]*resource{carriers: carrierModels, sensors: sensorModels} {
		piece.refs = []ref{{model.name, model, refuse}, {"team", teams, refuse}}
		piece.unique = []string{model.name, "serial_number"}
		piece.derived = []string{"company"}
		piece.complete = func(r *Request, _, doc store.Doc) error {
			team, err := r.get(teams, store.Text(doc, "team"))
			doc["company"] = team["company"]
			return err
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

// setPilotCompanies gives a pilot the companies of the pilot's teams.
func setPilotCompanies(r *Request, _, doc store.Doc) error {
	joined := []any{}
	for _, id := range textsOf(doc["teams"]) {
		team, err := r.get(teams, id)
		if err != nil {
			return err
		}
		if !slices.Contains(joined, team["company"]) {
			joined = append(joined, team["company"])
		}
	}
	doc["companies"] = joined
	return nil
}
