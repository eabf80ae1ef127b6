package platform

import "transect/platform/store"

// equipmentRoot is where teams and what they fly with are managed.
const equipmentRoot = "dct-service/asset-management/"

var (
	carrierModels = kind{name: "carrier_model", plural: "carrier_models", limit: 50}
	carriers      = kind{name: "carrier", plural: "carriers", limit: 50}
	sensorModels  = kind{name: "sensor_model", plural: "sensor_models", limit: 50}
	sensors       = kind{name: "sensor", plural: "sensors", limit: 50}
)

var (
	carrierTypes    = []string{"fixed-wind", "multirotor", "ground-robot", "helicopter", "pedestrian"}
	carrierStatuses = []string{"ready", "in-maintenance", "out-of-service"}
	sensorTypes     = []string{"rgb", "ms", "hs", "lidar", "thermal"}
	lensTypes       = []string{"perspective", "fisheye"}
)

// equipmentModel is a resource that describes what a maker sells. A model of no
// company is there for all of them.
func equipmentModel(k kind, types []string, properties ...property) resource {
	return resource{
		kind: k,
		properties: append([]property{
			{key: "name", rule: words, when: atFirst},
			{key: "maker", rule: words, when: atFirst},
			{key: "type", rule: choice(types...), when: atFirst},
			{key: "company", rule: ref(companies)},
		}, properties...),
		unique: []string{"maker", "name", "company"},
	}
}

func carrierModelRoutes() []route {
	t := equipmentModel(carrierModels, carrierTypes,
		property{key: "unloaded_weight", rule: quantity()},
		property{key: "flight_time", rule: quantity()},
		property{key: "speed", rule: quantities},
		property{key: "altitude", rule: quantities},
		property{key: "compatible_sensor_models", rule: refs(sensorModels), otherwise: []any{}},
	)
	t.uses = []use{{by: carriers, key: "carrier_model"}, {pilots, "carrier_models", letGo}}
	return t.routes(equipmentRoot, "carrier-model")
}

func sensorModelRoutes() []route {
	t := equipmentModel(sensorModels, sensorTypes,
		property{key: "weight", rule: quantity("g", "kg")},
		property{key: "lens_type", rule: choice(lensTypes...)},
		property{key: "width", rule: pixels},
		property{key: "height", rule: pixels},
		property{key: "focal_length", rule: number},
		property{key: "pixel_size", rule: number},
		property{key: "principal_point", rule: numbers},
		property{key: "distortion", rule: object},
		property{key: "bands", rule: bands},
	)
	t.uses = []use{
		{by: sensors, key: "sensor_model"},
		{pilots, "sensor_models", letGo},
		{carrierModels, "compatible_sensor_models", letGo},
	}
	return t.routes(equipmentRoot, "sensor-model")
}

// equipment is a resource that a team owns a piece of, told from others of its
// model by the serial number.
func equipment(k, model kind, properties ...property) resource {
	return resource{
		kind: k,
		properties: append([]property{
			{key: model.name, rule: ref(model), when: atFirst},
			{key: "team", rule: ref(teams), when: atFirst},
			{key: "serial_number", rule: words, when: atFirst},
			{key: "firmware", rule: remark},
			{key: "comment", rule: remark},
		}, properties...),
		derived: []string{"company"},
		unique:  []string{model.name, "serial_number"},
		complete: func(r *Request, _ *args, doc store.Doc) error {
			team, err := r.get(teams, store.Text(doc, "team"))
			doc["company"] = team["company"]
			return err
		},
	}
}

func carrierRoutes() []route {
	t := equipment(carriers, carrierModels, property{key: "status", rule: choice(carrierStatuses...), otherwise: "ready"})
	return t.routes(equipmentRoot, "carrier")
}

func sensorRoutes() []route {
	return equipment(sensors, sensorModels).routes(equipmentRoot, "sensor")
}
