package platform

import (
	"maps"
	"slices"
	"time"

	"transect/client/suggest"
	"transect/platform/analytic"
	"transect/platform/store"
)

// Products are the results of orders.
var products = &resource{name: "product", plural: "products"}

// The states of a product.
const (
	productPending   = "pending"
	productRunning   = "running"
	productAvailable = "available"
	productFailed    = "failed"
	productRejected  = "rejected"
	productCancelled = "cancelled"
)

// maxLogs is how many log lines are answered when no limit is given.
const maxLogs = 1_000_000

func serveProducts() {
	serve("products", products, map[string]endpoint{
		"cancel-product":        do(cancelProduct),
		"retrieve-product-logs": do(retrieveLogs, "limit", "offset", "after"),
	})
}

// cancelProduct ends a product that has not ended yet.
func cancelProduct(r *Request) (any, error) {
	id := r.text("product")
	doc, err := r.get(products, id)
	if err != nil {
		return nil, err
	}
	if status := store.Text(doc, "status"); status != productPending && status != productRunning {
		return nil, conflict("product %s has ended already: it is %s", id, status)
	}
	doc["status"] = productCancelled
	doc["end_date"] = date(r.now())
	// A run without a job cannot store anything more.
	if err := r.tx.Exec("DELETE FROM jobs WHERE id = ?", id); err != nil {
		return nil, err
	}
	if err := r.p.addLog(r.tx, id, "warning", "cancelled", nil); err != nil {
		return nil, err
	}
	r.afterwards(r.p.workers.wake)
	return doc, r.save(products, doc)
}

// retrieveLogs answers with the log lines of a product, oldest first: all of
// them, or at most limit of those after a timestamp, or from an offset.
func retrieveLogs(r *Request) (any, error) {
	id := r.text("product")
	limit, err := r.integer("limit", maxLogs, 1, maxLogs)
	if err != nil {
		return nil, err
	}
	offset, err := r.integer("offset", 0, 0, 1<<40)
	if err != nil {
		return nil, err
	}
	var after int64
	if r.body["after"] != nil {
		t, err := time.Parse(time.RFC3339Nano, r.text("after"))
		if err != nil {
			return nil, wrong("after", "must be the timestamp of a log line")
		}
		after = t.UnixMicro()
	}
	doc, err := r.get(products, id)
	if err != nil {
		return nil, err
	}
	rows, err := r.tx.Query("SELECT time, record FROM logs WHERE product = ? AND time > ? ORDER BY time LIMIT ? OFFSET ?",
		id, after, limit, offset)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	logs := []store.Doc{}
	for rows.Next() {
		var micro int64
		var record []byte
		if err := rows.Scan(&micro, &record); err != nil {
			return nil, err
		}
		line, err := store.Decode(record)
		if err != nil {
			return nil, err
		}
		line["timestamp"] = time.UnixMicro(micro).UTC().Format("2006-01-02T15:04:05.000000Z")
		logs = append(logs, line)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	total := 0
	err = r.tx.QueryRow("SELECT count(*) FROM logs WHERE product = ?", id).Scan(&total)
	// The last line is written together with the end, so none can follow it.
	ended := !slices.Contains([]string{productPending, productRunning}, store.Text(doc, "status"))
	return store.Doc{"total": store.Doc{"value": total}, "logs": logs, "complete": ended}, err
}

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
// beyond the arguments of the operation is stored.
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
