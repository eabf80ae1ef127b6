package platform

import (
	"github.com/Masterminds/semver/v3"

	"transect/platform/store"
)

// analyticConfigurations are sets of values for an analytic, each value for a
// range of its versions. configurationAssignments say which set a company uses
// for an analytic.
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

// newestVersion finds the highest version of an analytic.
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

// assignment reads a set and a company, and finds which set the company uses
// for the same analytic; nil when it uses none.
func (r *Request) assignment() (set store.Doc, company string, used store.Doc) {
	company = r.text("company")
	set = r.get(analyticConfigurations, r.text(analyticConfigurations.name))
	r.need(companies, company, "company")
	used = r.first(configurationAssignments, store.Doc{"company": company, "analytic_name": set["analytic_name"]})
	return set, company, used
}

// assignConfiguration has a company use a set, with all configurations it will
// ever have. A company uses one set for an analytic: with two there would be no
// telling which configuration counts.
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
