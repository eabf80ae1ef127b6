package platform

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/Masterminds/semver/v3"

	"transect/client/schema"
	"transect/platform/internal/analytic"
	"transect/platform/internal/store"
)

// Analytics are programs that make products from data on the platform.
var analytics = &resource{name: "analytic", plural: "analytics", unique: []string{"name", "version"}}

// localImage prefixes the images of analytics that the platform runs itself.
const localImage = "transect.local/"

func serveAnalytics() {
	analytics.rules = fields{{Name: "version", Type: "version"}, {Name: "tags", Type: "[]word"},
		{Name: "groups", Type: "[]word"}}
	for _, name := range []string{"inputs", "parameters", "credentials", "deliverables", "outputs"} {
		analytics.rules = append(analytics.rules, schema.Param{Name: name, Type: "[]object", Distinct: true, Fields: fields{
			{Name: "name", Type: "word"}, {Name: "required", Type: "boolean", Optional: true},
			{Name: "scheme", Type: "object", Optional: true}, {Name: "source", Type: "object", Optional: true}}})
	}
	analytics.complete = func(r *Request, _, doc store.Doc) {
		const key = "algorithm.docker_credentials_name"
		if name := store.Text(doc, key); name != "" || r.revision == newest {
			r.needCredentials(store.Text(doc, "company"), name, key)
		}
	}
	serve("analytics", analytics, map[string]endpoint{
		"delete-analytic-permanently":     do(deleteAnalytic),
		"expose-analytics":                changeAccess("expose", "root_company"),
		"unexpose-analytics":              changeAccess("unexpose", "root_company"),
		"enable-analytics":                changeAccess("enable", "company"),
		"disable-analytics":               changeAccess("disable", "company"),
		"assign-analytic-credentials":     do(assignCredentials),
		"unassign-analytic-credentials":   do(unassignCredentials),
		"set-analytic-docker-credentials": do(setDockerCredentials),
		"order-analytic":                  do(func(r *Request) any { return r.order(r.body) }, "*", "deliverables"),
	})
}

// seedAnalytics inserts the analytics that the platform runs itself, exposed and enabled.
func (p *Platform) seedAnalytics(t tx, now string) {
	names, n := map[string]bool{}, 2 // the company and the user are 1 and 2
	next := func() string {
		n++
		return seedID(p.home, n)
	}
	for _, program := range analytic.BuiltIn() {
		name := program.Definition.Name
		doc := must(store.Decode(must(json.Marshal(program.Definition))))
		maps.Copy(doc, store.Doc{
			"_id": next(), "company": p.secrets.Company, "creation_date": now,
			"creation_user": p.secrets.UserID,
			"algorithm": store.Doc{"docker_image": localImage + name + ":" + program.Definition.Version,
				"docker_credentials_name": ""},
			"outputs": []any{},
		})
		t.insert(analytics, doc)
		names[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		t.insert(analyticAccess, store.Doc{
			"_id": next(), "name": name, "company": p.secrets.Company,
			"exposed": true, "enabled": true, "creation_date": now,
		})
	}
}

func deleteAnalytic(r *Request) any {
	id := r.text("analytic")
	r.get(analytics, id)
	r.remove(analytics, id)
	return nil
}

func setDockerCredentials(r *Request) any {
	name, version, company := r.text("name"), r.text("version"), r.text("company")
	doc := r.first(analytics, store.Doc{"name": name, "version": version, "company": company})
	if doc == nil {
		panic(notFound("analytic", name+" "+version))
	}
	credentials := r.text("docker_credentials_name")
	r.needCredentials(company, credentials, "docker_credentials_name")
	store.Set(doc, "algorithm.docker_credentials_name", credentials)
	r.save(analytics, doc)
	return doc
}

// analyticAccess holds the companies on whose domains an analytic (all versions of a name) is exposed, and
// the companies that may order it.
var analyticAccess = &resource{name: "analytic_access", plural: "analytic_access"}

// analyticCredentials holds the credentials that analytics run with.
var analyticCredentials = &resource{name: "analytic_credentials", plural: "analytic_credentials"}

// changeAccess returns the endpoint of a verb. Its body has a list under the verb, with an entry for each
// company: {company, analytics_names}.
func changeAccess(verb, companyKey string) endpoint {
	entry := fields{{Name: companyKey, Type: "id"}, {Name: "analytics_names", Type: "[]word"}}
	declared := fields{{Name: verb, Type: "[]object", Fields: entry}}
	return do(func(r *Request) any {
		check(schema.CheckFields(declared, "", r.body))
		entries := listOf(r.body, verb)
		for i, v := range entries {
			entry := v.(map[string]any)
			inElement(verb, i, func() { r.resolve([]ref{{companyKey, companies, leave}}, entry) })
			for _, name := range textsOf(entry["analytics_names"]) {
				r.setAccess(verb, store.Text(entry, companyKey), name)
			}
		}
		return store.Doc{verb: entries}
	}, verb)
}

func (r *Request) setAccess(verb, company, name string) {
	if r.first(analytics, store.Doc{"name": name}) == nil {
		panic(notFound("analytic", name))
	}
	doc := r.first(analyticAccess, store.Doc{"name": name, "company": company})
	if doc == nil {
		doc = store.Doc{"name": name, "company": company, "exposed": false, "enabled": false}
		r.create(analyticAccess, doc)
	}
	switch verb {
	case "expose":
		doc["exposed"] = true
	case "unexpose": // an analytic that is not exposed cannot be ordered
		doc["exposed"], doc["enabled"] = false, false
	case "enable":
		if doc["exposed"] != true {
			panic(conflict("analytic %s is not exposed on the domain of company %s; expose it first", name, company))
		}
		doc["enabled"] = true
	case "disable":
		doc["enabled"] = false
	}
	r.save(analyticAccess, doc)
}

// credentialTarget reads the analytic, version range and company that credentials are for, and returns the
// stored assignment, or nil.
func (r *Request) credentialTarget() (target, assigned store.Doc) {
	name, versions, company := r.text("analytic_name"), r.text("analytic_version_range"), r.text("company")
	checkAs("range", "analytic_version_range", versions)
	r.need(companies, company, "company")
	target = store.Doc{"name": name, "analytic_version_range": versions, "company": company}
	return target, r.first(analyticCredentials, target)
}

// assignCredentials sets, by name, the credentials that analytics run with. Other names keep theirs.
func assignCredentials(r *Request) any {
	credentials := r.object("credentials")
	target, doc := r.credentialTarget()
	r.newestVersion(store.Text(target, "name"), "analytic_name")
	checkAs("{}word", "credentials", credentials)
	for _, field := range slices.Sorted(maps.Keys(credentials)) {
		name := store.Text(credentials, field)
		r.needCredentials(store.Text(target, "company"), name, "credentials."+field)
	}
	if doc == nil {
		target["credentials"] = credentials
		r.create(analyticCredentials, target)
		return target
	}
	maps.Copy(objectOf(doc, "credentials"), credentials)
	r.save(analyticCredentials, doc)
	return doc
}

func unassignCredentials(r *Request) any {
	target, doc := r.credentialTarget()
	if doc == nil {
		panic(notFound("analytic_credentials", store.Text(target, "name")+" "+store.Text(target, "analytic_version_range")))
	}
	for _, name := range r.texts("credential_names") {
		delete(objectOf(doc, "credentials"), name)
	}
	r.save(analyticCredentials, doc)
	return doc
}

// analyticConfigurations are sets of values for an analytic, each value for a range of versions.
// configurationAssignments hold the set that a company uses for an analytic.
var (
	analyticConfigurations = &resource{
		name: "analytic_configuration", plural: "analytic_configurations", unique: []string{"company", "name"},
	}
	configurationAssignments = &resource{name: "assignment", plural: "analytic_configuration_assignments"}
)

func serveAnalyticConfigurations() {
	analyticConfigurations.rules = fields{{Name: "versions", Type: "[]object", Fields: fields{
		{Name: "value", Type: "object"}, {Name: "analytic_version_range", Type: "range"}}}}
	analyticConfigurations.refs = []ref{{"company", companies, leave}}
	analyticConfigurations.complete = func(r *Request, given, doc store.Doc) {
		if len(listOf(doc, "versions")) == 0 {
			panic(wrong("versions", "must have at least one configuration"))
		}
		if doc["_id"] == nil {
			r.newestVersion(store.Text(doc, "analytic_name"), "analytic_name")
		}
		owned(r, given, doc)
	}
	configurationAssignments.refs = []ref{{analyticConfigurations.name, analyticConfigurations, cascade}}
	resources = append(resources, configurationAssignments)
	serve("analytic_configurations", analyticConfigurations, map[string]endpoint{
		"update-analytic-configuration":                do(updateConfiguration),
		"assign-analytic-configuration-to-company":     do(assignConfiguration),
		"unassign-analytic-configuration-from-company": do(unassignConfiguration),
	})
}

// updateConfiguration changes the given keys; a list of versions replaces the
// stored one.
func updateConfiguration(r *Request) any {
	if r.body["name"] == nil && r.body["description"] == nil && r.body["versions"] == nil {
		panic(invalid("nothing to change: name, description or versions is needed"))
	}
	return analyticConfigurations.change(r)
}

// newestVersion returns the highest version of an analytic.
func (r *Request) newestVersion(name, key string) store.Doc {
	var newest store.Doc
	var highest *semver.Version
	for _, doc := range r.all(analytics, store.Doc{"name": name}) {
		version, err := semver.StrictNewVersion(store.Text(doc, "version"))
		if err == nil && (highest == nil || version.GreaterThan(highest)) {
			newest, highest = doc, version
		}
	}
	if newest == nil {
		f := notFound("analytic", name)
		f.Message = key + ": " + f.Message
		panic(f)
	}
	return newest
}

// assignment reads a set and a company, and returns the set that the company uses for the same analytic, or
// nil.
func (r *Request) assignment() (set store.Doc, company string, used store.Doc) {
	company = r.text("company")
	set = r.get(analyticConfigurations, r.text(analyticConfigurations.name))
	r.need(companies, company, "company")
	used = r.first(configurationAssignments, store.Doc{"company": company, "analytic_name": set["analytic_name"]})
	return set, company, used
}

// assignConfiguration makes a company use a set, including configurations added to it later. A company uses
// one set per analytic: with two it would be ambiguous which applies.
func assignConfiguration(r *Request) any {
	set, company, used := r.assignment()
	analytic := r.newestVersion(store.Text(set, "analytic_name"), analyticConfigurations.name)
	relation := store.Doc{"company": company, "analytic": analytic["_id"], analyticConfigurations.name: set["_id"]}
	switch {
	case used == nil:
	case used[analyticConfigurations.name] == set["_id"]:
		return relation
	default:
		panic(conflict("company %s uses configuration set %s for analytic %s; unassign that first",
			company, used[analyticConfigurations.name], set["analytic_name"]))
	}
	r.create(configurationAssignments, store.Doc{
		"company": company, "analytic_name": set["analytic_name"], analyticConfigurations.name: set["_id"],
	})
	return relation
}

func unassignConfiguration(r *Request) any {
	set, company, used := r.assignment()
	if used == nil || used[analyticConfigurations.name] != set["_id"] {
		panic(fail(404, "ResourceNotFound", "configuration set %s is not assigned to company %s", set["_id"], company))
	}
	r.softDelete(configurationAssignments, used)
	return nil
}
