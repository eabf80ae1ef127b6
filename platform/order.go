package platform

import (
	"slices"

	"transect/client/suggest"
	"transect/platform/analytic"
	"transect/platform/store"
)

// orderAnalytic checks an order and makes the product that will hold its result.
func orderAnalytic(r *Request) (any, error) {
	a := r.args()
	id := a.id("analytic")
	project, mission := a.optID("project"), a.optID("mission")
	inputs, parameters, wanted := a.optObject("inputs"), a.optObject("parameters"), a.optObject("deliverables")
	if a.err != nil {
		return nil, a.err
	}
	ordered, err := r.need(analytics, id, "analytic")
	if err != nil {
		return nil, err
	}
	for key, given := range map[string]store.Doc{"inputs": inputs, "parameters": parameters} {
		if err := checkSlots(ordered, key, given); err != nil {
			return nil, err
		}
	}
	deliverables, err := wantedDeliverables(ordered, wanted)
	if err != nil {
		return nil, err
	}
	// An input that is a mission says where the product belongs.
	if mission == "" {
		mission = store.Text(inputs, "mission")
	}
	company := r.p.secrets.Company
	if mission != "" {
		doc, err := r.need(missions, mission, "mission")
		if err != nil {
			return nil, err
		}
		if project == "" {
			project = store.Text(doc, "project")
		}
		if project != store.Text(doc, "project") {
			return nil, invalid("mission: %s is not in project %s", mission, project)
		}
	}
	if project != "" {
		doc, err := r.need(projects, project, "project")
		if err != nil {
			return nil, err
		}
		company = store.Text(doc, "company")
	}
	name, version := store.Text(ordered, "name"), store.Text(ordered, "version")
	allowed, err := r.mayOrder(company, name)
	if err != nil {
		return nil, err
	}
	if !allowed {
		return nil, forbidden("analytic %s is not enabled for company %s", name, company)
	}
	doc, err := r.extras("name", "status", "outputs")
	if err != nil {
		return nil, err
	}
	doc["name"] = name
	doc["analytic_name"], doc["analytic_version"] = name, version
	doc["company"] = company
	doc["status"] = productPending
	doc["inputs"], doc["parameters"] = orEmpty(inputs), orEmpty(parameters)
	doc["deliverables"] = deliverables
	doc["outputs"] = []any{}
	for key, value := range map[string]string{"project": project, "mission": mission} {
		if value != "" {
			doc[key] = value
		}
	}
	if err := r.create(products, doc); err != nil {
		return nil, err
	}
	r.afterwards(r.p.workers.wake)
	return doc, enqueue(r.tx, productJob, store.Text(doc, "_id"))
}

func orEmpty(doc store.Doc) store.Doc {
	if doc == nil {
		return store.Doc{}
	}
	return doc
}

// slotsOf lists the entries that an analytic declares under a key.
func slotsOf(ordered store.Doc, key string) (slots []store.Doc, names []string) {
	list, _ := ordered[key].([]any)
	for _, v := range list {
		if slot, ok := v.(map[string]any); ok {
			slots = append(slots, slot)
			names = append(names, store.Text(slot, "name"))
		}
	}
	return slots, names
}

// checkSlots checks what an analytic is ordered with against what it declares.
func checkSlots(ordered store.Doc, key string, given store.Doc) error {
	slots, names := slotsOf(ordered, key)
	for name := range given {
		if !slices.Contains(names, name) {
			return unknownSlot(ordered, key, name, names)
		}
	}
	for _, slot := range slots {
		name := store.Text(slot, "name")
		value, ok := given[name]
		if !ok || value == nil {
			if slot["required"] == true {
				return invalid("%s.%s: is required by analytic %s", key, name, store.Text(ordered, "name"))
			}
			continue
		}
		scheme, _ := slot["scheme"].(map[string]any)
		if err := analytic.Check(scheme, key+"."+name, value); err != nil {
			return invalid("%v", err)
		}
	}
	return nil
}

func unknownSlot(ordered store.Doc, key, name string, names []string) error {
	message := key + "." + name + ": is not known to analytic " + store.Text(ordered, "name") + " " + store.Text(ordered, "version")
	if hint := suggest.Hint(name, names); hint != "" {
		message += "; " + hint
	}
	return invalid("%s", message)
}

// wantedDeliverables gives an object of those that will be made: the required
// ones and those asked for. Each will hold the id of its dataset.
func wantedDeliverables(ordered, wanted store.Doc) (store.Doc, error) {
	slots, names := slotsOf(ordered, "deliverables")
	for name := range wanted {
		if !slices.Contains(names, name) {
			return nil, unknownSlot(ordered, "deliverables", name, names)
		}
	}
	made := store.Doc{}
	for _, slot := range slots {
		name := store.Text(slot, "name")
		if _, ok := wanted[name]; ok || slot["required"] == true {
			made[name] = nil
		}
	}
	return made, nil
}
