package platform

import (
	"maps"
	"slices"

	"transect/client/semrange"
	"transect/platform/store"
)

// analyticAccess says on which companies' domains an analytic (all versions of
// a name) is exposed, and which companies may order it.
var analyticAccess = kind{name: "analytic_access", plural: "analytic_access"}

// analyticCredentials says with which credentials analytics run.
var analyticCredentials = kind{name: "analytic_credentials", plural: "analytic_credentials"}

// changeAccess is the handler of one verb. Its body is a list under the verb,
// with an entry for each company: {company, analytics_names}.
func changeAccess(verb, companyKey string) handler {
	return func(r *Request) (any, error) {
		a := r.args()
		list := a.list(verb)
		if a.err != nil {
			return nil, a.err
		}
		for i, v := range list {
			at := verb + "[" + itoa(i) + "]"
			object, ok := v.(map[string]any)
			if !ok {
				return nil, invalid("%s: must be an object", at)
			}
			entry := within(object, at)
			company, names := entry.id(companyKey), entry.texts("analytics_names")
			if entry.err != nil {
				return nil, entry.err
			}
			if _, err := r.need(companies, company, at+"."+companyKey); err != nil {
				return nil, err
			}
			for _, name := range names {
				if err := r.setAccess(verb, company, name); err != nil {
					return nil, err
				}
			}
		}
		return store.Doc{verb: list}, nil
	}
}

func (r *Request) setAccess(verb, company, name string) error {
	known, err := r.tx.Search(analytics.plural, store.Query{Filter: store.Doc{"name": name}, Limit: 1, NoTotal: true})
	if err != nil {
		return err
	}
	if len(known.Results) == 0 {
		return notFound("analytic", name)
	}
	found, err := r.tx.All(analyticAccess.plural, store.Doc{"name": name, "company": company})
	if err != nil {
		return err
	}
	doc := store.Doc{"name": name, "company": company, "exposed": false, "enabled": false}
	if len(found) > 0 {
		doc = found[0]
	}
	switch verb {
	case "expose":
		doc["exposed"] = true
	case "unexpose": // nobody may order what is not exposed
		doc["exposed"], doc["enabled"] = false, false
	case "enable":
		if doc["exposed"] != true {
			return conflict("analytic %s is not exposed on the domain of company %s; expose it first", name, company)
		}
		doc["enabled"] = true
	case "disable":
		doc["enabled"] = false
	}
	if len(found) > 0 {
		return r.save(analyticAccess, doc)
	}
	return r.create(analyticAccess, doc)
}

// mayOrder tells whether a company may order an analytic.
func (r *Request) mayOrder(company, name string) (bool, error) {
	found, err := r.tx.All(analyticAccess.plural, store.Doc{"name": name, "company": company, "enabled": true})
	return len(found) > 0, err
}

// credentialTarget reads which analytics of which company credentials are for.
func (r *Request) credentialTarget(a *args) (store.Doc, error) {
	name, versions, company := a.text("analytic_name"), a.text("analytic_version_range"), a.id("company")
	if a.err != nil {
		return nil, a.err
	}
	if _, err := semrange.Parse(versions); err != nil {
		return nil, invalid("analytic_version_range: %q is no range of versions", versions)
	}
	if _, err := r.need(companies, company, "company"); err != nil {
		return nil, err
	}
	return store.Doc{"name": name, "analytic_version_range": versions, "company": company}, nil
}

// assignCredentials sets by name what analytics run with; what was set under
// other names stays.
func assignCredentials(r *Request) (any, error) {
	a := r.args()
	credentials := a.object("credentials")
	target, err := r.credentialTarget(a)
	if err != nil {
		return nil, err
	}
	if _, err := r.newestVersion(store.Text(target, "name"), "analytic_name"); err != nil {
		return nil, err
	}
	if err := r.needAssigned(store.Text(target, "company"), credentials); err != nil {
		return nil, err
	}
	found, err := r.tx.All(analyticCredentials.plural, target)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		target["credentials"] = credentials
		return target, r.create(analyticCredentials, target)
	}
	for name, value := range credentials {
		store.Set(found[0], "credentials", merged(found[0]["credentials"], name, value))
	}
	return found[0], r.save(analyticCredentials, found[0])
}

// needAssigned checks that a company has all credentials that are named.
func (r *Request) needAssigned(company string, assigned store.Doc) error {
	a := within(assigned, "credentials")
	for _, field := range slices.Sorted(maps.Keys(assigned)) {
		name := a.text(field)
		if a.err != nil {
			return a.err
		}
		if _, err := r.needCredentials(company, name, a.at+field); err != nil {
			return err
		}
	}
	return nil
}

func merged(v any, key string, value any) store.Doc {
	object, ok := v.(map[string]any)
	if !ok {
		object = store.Doc{}
	}
	object[key] = value
	return object
}

func unassignCredentials(r *Request) (any, error) {
	a := r.args()
	names := a.texts("credential_names")
	target, err := r.credentialTarget(a)
	if err != nil {
		return nil, err
	}
	found, err := r.tx.All(analyticCredentials.plural, target)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, notFound("analytic_credentials", store.Text(target, "name")+" "+store.Text(target, "analytic_version_range"))
	}
	object, _ := found[0]["credentials"].(map[string]any)
	for name := range object {
		if slices.Contains(names, name) {
			delete(object, name)
		}
	}
	return found[0], r.save(analyticCredentials, found[0])
}
