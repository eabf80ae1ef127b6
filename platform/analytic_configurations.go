package platform

import (
	"github.com/Masterminds/semver/v3"

	"transect/client/semrange"
	"transect/platform/store"
)

// analyticConfigurations are sets of values for an analytic, each value for a
// range of its versions.
var analyticConfigurations = kind{
	name: "analytic_configuration", plural: "analytic_configurations", firstPage: 0, limit: 100,
}

// configurationAssignments say which set a company uses for an analytic.
var configurationAssignments = kind{name: "assignment", plural: "analytic_configuration_assignments"}

func configurationRoutes() []route {
	const root = "analytics-service/"
	return []route{
		write(root+"create-analytic-configuration", createConfiguration),
		write(root+"update-analytic-configuration", analyticConfigurations.setter(updateConfiguration)),
		write(root+"delete-analytic-configuration", analyticConfigurations.one(deleteConfiguration)),
		read(root+"describe-analytic-configuration", analyticConfigurations.describe),
		read(root+"search-analytic-configurations", analyticConfigurations.search),
		write(root+"assign-analytic-configuration-to-company", assignConfiguration),
		write(root+"unassign-analytic-configuration-from-company", unassignConfiguration),
	}
}

func createConfiguration(r *Request) (any, error) {
	a := r.args()
	name, analytic := a.text("name"), a.text("analytic_name")
	a.optText("description")
	a.configurations("versions")
	company, err := r.owner(a)
	if err != nil {
		return nil, err
	}
	if _, err := r.newestVersion(analytic, "analytic_name"); err != nil {
		return nil, err
	}
	if err := r.needFree(analyticConfigurations, company, name, ""); err != nil {
		return nil, err
	}
	doc, err := r.extras()
	if err != nil {
		return nil, err
	}
	doc["company"] = company
	return doc, r.create(analyticConfigurations, doc)
}

// configurations checks a list of {analytic_version_range, value}.
func (a *args) configurations(key string) []any {
	list := a.list(key)
	if a.err == nil && len(list) == 0 {
		a.wrong(key, "must have at least one configuration")
	}
	for i, v := range list {
		object, ok := v.(map[string]any)
		if !ok {
			a.wrong(key, "element %d must be an object", i)
			return nil
		}
		inner := within(object, a.at+key+"["+itoa(i)+"]")
		inner.object("value")
		versions := inner.text("analytic_version_range")
		if _, err := semrange.Parse(versions); err != nil {
			inner.wrong("analytic_version_range", "%q is no range of versions", versions)
		}
		if a.err == nil {
			a.err = inner.err
		}
	}
	return list
}

// updateConfiguration changes what is given; new configurations take the place
// of all there were.
func updateConfiguration(r *Request, a *args, doc store.Doc) error {
	if !a.has("name") && !a.has("description") && !a.has("versions") {
		return invalid("nothing to change: name, description or versions is needed")
	}
	if a.has("name") {
		doc["name"] = a.text("name")
		company, id := store.Text(doc, "company"), store.Text(doc, "_id")
		if a.err == nil {
			a.err = r.needFree(analyticConfigurations, company, store.Text(doc, "name"), id)
		}
	}
	if a.has("description") {
		doc["description"] = a.optText("description")
	}
	if a.has("versions") {
		doc["versions"] = a.configurations("versions")
	}
	return nil
}

// deleteConfiguration deletes a set and has no company use it any longer.
func deleteConfiguration(r *Request, id string) error {
	doc, err := r.get(analyticConfigurations, id)
	if err != nil {
		return err
	}
	if err := r.deleteWhere(configurationAssignments, store.Doc{analyticConfigurations.name: id}); err != nil {
		return err
	}
	return r.softDelete(analyticConfigurations, doc)
}

// newestVersion finds the highest version of an analytic.
func (r *Request) newestVersion(name, key string) (store.Doc, error) {
	docs, err := r.tx.All(analytics.plural, store.Doc{"name": name})
	if err != nil {
		return nil, err
	}
	var newest store.Doc
	var highest *semver.Version
	for _, doc := range docs {
		version, err := semver.StrictNewVersion(store.Text(doc, "version"))
		if err == nil && (highest == nil || version.GreaterThan(highest)) {
			newest, highest = doc, version
		}
	}
	if newest == nil {
		f := notFound("analytic", name)
		f.Message = key + ": " + f.Message
		return nil, f
	}
	return newest, nil
}

// assignment reads a set and a company, and finds which set the company uses
// for the same analytic; nil when it uses none.
func (r *Request) assignment() (set store.Doc, company string, used store.Doc, err error) {
	a := r.args()
	id := a.id(analyticConfigurations.name)
	company = a.id("company")
	if a.err != nil {
		return nil, "", nil, a.err
	}
	if set, err = r.get(analyticConfigurations, id); err != nil {
		return nil, "", nil, err
	}
	if _, err = r.need(companies, company, "company"); err != nil {
		return nil, "", nil, err
	}
	found, err := r.tx.All(configurationAssignments.plural, store.Doc{
		"company": company, "analytic_name": set["analytic_name"],
	})
	if err == nil && len(found) > 0 {
		used = found[0]
	}
	return set, company, used, err
}

// assignConfiguration has a company use a set, with all configurations it will
// ever have. A company uses one set for an analytic: with two there would be no
// telling which configuration counts.
func assignConfiguration(r *Request) (any, error) {
	set, company, used, err := r.assignment()
	if err != nil {
		return nil, err
	}
	analytic, err := r.newestVersion(store.Text(set, "analytic_name"), analyticConfigurations.name)
	if err != nil {
		return nil, err
	}
	relation := store.Doc{"company": company, "analytic": analytic["_id"], analyticConfigurations.name: set["_id"]}
	switch {
	case used == nil:
	case used[analyticConfigurations.name] == set["_id"]:
		return relation, nil
	default:
		return nil, conflict("company %s uses configuration set %s for analytic %s; unassign that first",
			company, used[analyticConfigurations.name], set["analytic_name"])
	}
	return relation, r.create(configurationAssignments, store.Doc{
		"company": company, "analytic_name": set["analytic_name"], analyticConfigurations.name: set["_id"],
	})
}

func unassignConfiguration(r *Request) (any, error) {
	set, company, used, err := r.assignment()
	if err != nil {
		return nil, err
	}
	if used == nil || used[analyticConfigurations.name] != set["_id"] {
		return nil, fail(404, "ResourceNotFound", "configuration set %s is not assigned to company %s", set["_id"], company)
	}
	return nil, r.softDelete(configurationAssignments, used)
}
