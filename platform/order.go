package platform

import (
	"maps"
	"slices"

	"transect/client/suggest"
	"transect/platform/analytic"
	"transect/platform/store"
)

func orderAnalytic(r *Request) (any, error) { return r.order(r.body) }

// order checks an order and makes the product that will hold its result.
func (r *Request) order(given store.Doc) (store.Doc, error) {
	project, mission := store.Text(given, "project"), store.Text(given, "mission")
	objects := map[string]store.Doc{}
	for _, key := range []string{"inputs", "parameters", "deliverables"} {
		if given[key] == nil {
			continue
		}
		if err := object(nil)(key, given[key]); err != nil {
			return nil, err
		}
		objects[key] = given[key].(map[string]any)
	}
	inputs, parameters := objects["inputs"], objects["parameters"]
	ordered, err := r.need(analytics, store.Text(given, "analytic"), "analytic")
	if err != nil {
		return nil, err
	}
	for key, given := range map[string]store.Doc{"inputs": inputs, "parameters": parameters} {
		if err := checkSlots(ordered, key, given); err != nil {
			return nil, err
		}
	}
	deliverables, err := wantedDeliverables(ordered, objects["deliverables"])
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
	doc, err := extras(given, "name", "status", "outputs")
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

// extras returns a copy of a body without the keys named: what a request gives
// beyond the arguments of the operation is kept in the document.
func extras(body store.Doc, without ...string) (store.Doc, error) {
	doc := maps.Clone(body)
	for _, key := range without {
		delete(doc, key)
	}
	for _, key := range reserved {
		if _, ok := doc[key]; ok {
			return nil, wrong(key, "is set by the platform")
		}
	}
	return doc, nil
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
