package platform

import (
	"slices"

	"transect/platform/store"
)

var (
	teams  = kind{name: "team", plural: "teams", limit: 50}
	pilots = kind{name: "pilot", plural: "pilots", limit: 50}
)

func teamRoutes() []route {
	t := resource{
		kind: teams,
		properties: []property{
			{key: "company", rule: ref(companies), when: once},
			{key: "name", rule: words, when: atFirst},
			{key: "leader", rule: ref(pilots)},
		},
		unique: []string{"company", "name"},
		uses:   []use{{by: carriers, key: "team"}, {by: sensors, key: "team"}, {pilots, "teams", letGo}},
	}
	return t.routes(equipmentRoot, "team",
		write(equipmentRoot+"set-team-name", t.set("name")),
		write(equipmentRoot+"set-team-leader", t.set("leader")))
}

// A user is a pilot once, of any number of teams.
func pilotRoutes() []route {
	t := resource{
		kind: pilots,
		properties: []property{
			{key: "user", rule: ref(users), when: once},
			{key: "teams", rule: refs(teams), when: atFirst},
			{key: "carrier_models", rule: refs(carrierModels), otherwise: []any{}},
			{key: "sensor_models", rule: refs(sensorModels), otherwise: []any{}},
		},
		derived:  []string{"company", "companies"},
		unique:   []string{"user"},
		complete: joinCompanies,
		uses:     []use{{teams, "leader", letGo}},
	}
	return t.routes(equipmentRoot, "pilot", write(equipmentRoot+"update-pilot", t.update()))
}

// joinCompanies gives a pilot the companies of the pilot's teams.
func joinCompanies(r *Request, _ *args, doc store.Doc) error {
	joined := []any{}
	list, _ := doc["teams"].([]any)
	for _, id := range list {
		team, err := r.get(teams, id.(string))
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
