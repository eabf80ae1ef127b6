package platform

import (
	"maps"
	"slices"
	"time"

	"transect/client/schema"
	"transect/client/suggest"
	"transect/platform/internal/analytic"
	"transect/platform/internal/store"
)

// Products are the results of orders.
var products = &resource{name: "product", plural: "products"}

// maxLogs is the default and the largest number of log lines in a response.
const maxLogs = 1_000_000

func serveProducts() {
	products.ignored = []string{"name", "status", "outputs"}
	serve("products", products, map[string]endpoint{
		"cancel-product":        do(cancelProduct),
		"retrieve-product-logs": do(retrieveLogs, "limit", "offset", "after"),
	})
}

// cancelProduct ends a product that has not ended yet.
func cancelProduct(r *Request) any {
	id := r.text("product")
	doc := r.get(products, id)
	planned := schema.IsPlannedID(id) // it has ended only in the overlay
	if status := store.Text(doc, "status"); status != statusPending && status != statusRunning &&
		!(planned && status == statusAvailable) {
		panic(conflict("product %s has ended already: it is %s", id, status))
	}
	doc["status"] = statusCancelled
	doc["end_date"] = date(r.now())
	// A run without a job cannot store anything more.
	r.exec("DELETE FROM jobs WHERE id = ?", id)
	r.p.addLog(r.tx, id, "warning", "cancelled", nil)
	r.afterwards(r.p.workers.wake)
	r.save(products, doc)
	return doc
}

// retrieveLogs returns the log lines of a product, oldest first: all, or at most limit lines after a
// timestamp or from an offset.
func retrieveLogs(r *Request) any {
	id := r.text("product")
	limit := r.integer("limit", maxLogs, 1, maxLogs)
	offset := r.integer("offset", 0, 0, 1<<40)
	var after int64
	if r.body["after"] != nil {
		t, err := time.Parse(time.RFC3339Nano, r.text("after"))
		if err != nil {
			panic(wrong("after", "must be the timestamp of a log line"))
		}
		after = t.UnixMicro()
	}
	doc := r.get(products, id)
	logs, total := []store.Doc{}, 0
	for row := range r.rows("SELECT time, record FROM logs WHERE product = ? AND time > ? ORDER BY time LIMIT ? OFFSET ?",
		id, after, limit, offset) {
		var micro int64
		var record []byte
		check(row.Scan(&micro, &record))
		line := must(store.Decode(record))
		line["timestamp"] = time.UnixMicro(micro).UTC().Format("2006-01-02T15:04:05.000000Z")
		logs = append(logs, line)
	}
	check(r.QueryRow("SELECT count(*) FROM logs WHERE product = ?", id).Scan(&total))
	// The last line is written together with the end, so none can follow it.
	ended := !slices.Contains([]string{statusPending, statusRunning}, store.Text(doc, "status"))
	return store.Doc{"total": store.Doc{"value": total}, "logs": logs, "complete": ended}
}

// order checks an order and creates the product for its result.
func (r *Request) order(given store.Doc) store.Doc {
	project, mission := store.Text(given, "project"), store.Text(given, "mission")
	for _, key := range []string{"inputs", "parameters", "deliverables"} {
		if given[key] != nil {
			checkAs("object", key, given[key])
		}
	}
	ordered := r.need(analytics, store.Text(given, "analytic"), "analytic")
	name := store.Text(ordered, "name")
	checkSlots(ordered, "inputs", given)
	checkSlots(ordered, "parameters", given)
	deliverables := wantedDeliverables(ordered, given)
	// An input that is a mission implies where the product belongs.
	if mission == "" {
		mission = store.Text(given, "inputs.mission")
	}
	company := r.p.secrets.Company
	if mission != "" {
		of := store.Text(r.need(missions, mission, "mission"), "project")
		if project != "" && project != of {
			panic(invalid("mission: %s is not in project %s", mission, project))
		}
		project = of
	}
	if project != "" {
		company = store.Text(r.need(projects, project, "project"), "company")
	}
	if r.under == nil && r.first(analyticAccess, store.Doc{"name": name, "company": company, "enabled": true}) == nil {
		panic(forbidden("analytic %s is not enabled for company %s", name, company))
	}
	doc := products.build(r, given)
	maps.Copy(doc, store.Doc{
		"name": name, "analytic_name": name, "analytic_version": ordered["version"], "company": company,
		"status":       statusPending,
		"deliverables": deliverables, "outputs": []any{},
	})
	for key, value := range map[string]any{"inputs": store.Doc{}, "parameters": store.Doc{}, "project": project,
		"mission": mission} {
		if doc[key] == nil && value != "" {
			doc[key] = value
		}
	}
	r.create(products, doc)
	if r.under != nil {
		r.planProduct(ordered, doc)
		return doc
	}
	r.enqueue(productJob, store.Text(doc, "_id"))
	return doc
}

// slotsOf lists the entries that an analytic declares under a key, and refuses ordered names that are not
// declared.
func slotsOf(ordered store.Doc, key string, given store.Doc) (slots []store.Doc) {
	var names []string
	for _, v := range listOf(ordered, key) {
		slots = append(slots, v.(map[string]any))
		names = append(names, store.Text(v.(map[string]any), "name"))
	}
	for name := range given {
		if slices.Contains(names, name) {
			continue
		}
		hint := suggest.Hint(name, names)
		if hint != "" {
			hint = "; " + hint
		}
		panic(invalid("%s.%s: is not known to analytic %s %s%s", key, name, ordered["name"], ordered["version"], hint))
	}
	return slots
}

// checkSlots checks the values in an order against the analytic's declaration.
func checkSlots(ordered store.Doc, key string, given store.Doc) {
	given = objectOf(given, key)
	for _, slot := range slotsOf(ordered, key, given) {
		name := store.Text(slot, "name")
		switch value := given[name]; {
		case mentionsPlanned(value): // planned ids differ in form from the platform's
		case value != nil:
			if err := analytic.Check(objectOf(slot, "scheme"), key+"."+name, value); err != nil {
				panic(invalid("%v", err))
			}
		case slot["required"] == true:
			panic(invalid("%s.%s: is required by analytic %s", key, name, ordered["name"]))
		}
	}
}

// wantedDeliverables returns an object with the deliverables to make: the required and the ordered ones. Each
// will hold the id of its dataset.
func wantedDeliverables(ordered, given store.Doc) store.Doc {
	wanted := objectOf(given, "deliverables")
	product := store.Doc{}
	for _, slot := range slotsOf(ordered, "deliverables", wanted) {
		name := store.Text(slot, "name")
		if _, ok := wanted[name]; ok || slot["required"] == true {
			product[name] = nil
		}
	}
	return product
}
