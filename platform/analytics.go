package platform

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/Masterminds/semver/v3"

	"transect/platform/analytic"
	"transect/platform/store"
)

// Analytics are programs that make products of the data on the platform.
var analytics = &resource{name: "analytic", plural: "analytics", unique: []string{"name", "version"}}

// localImage is the image of the analytics that the platform runs itself.
const localImage = "transect.local/"

func serveAnalytics() {
	slots := named(fields{"name": word, "required": flag, "scheme": object(nil), "source": object(nil)})
	analytics.rules = map[string]rule{"version": version, "inputs": slots, "parameters": slots, "credentials": slots,
		"deliverables": slots, "outputs": slots, "tags": list(word), "groups": list(word)}
	analytics.complete = func(r *Request, _, doc store.Doc) error {
		const key = "algorithm.docker_credentials_name"
		_, err := r.needCredentials(store.Text(doc, "company"), store.Text(doc, key), key)
		return err
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
		"order-analytic":                  do(orderAnalytic, "*", "deliverables"),
	})
}

// version accepts a semantic version.
func version(key string, v any) error {
	if _, err := semver.StrictNewVersion(fmt.Sprint(v)); err != nil {
		return wrong(key, "%q is not a semantic version such as 1.0.0", v)
	}
	return nil
}

// seedAnalytics puts in the analytics that the platform runs itself, exposed
// and enabled.
func (p *Platform) seedAnalytics(tx *store.Tx, now string) error {
	names := map[string]bool{}
	for _, program := range analytic.BuiltIn() {
		doc, err := describeProgram(program)
		if err != nil {
			return err
		}
		doc["_id"] = p.ids.Next(p.options.Now())
		doc["company"] = p.secrets.Company
		doc["creation_date"], doc["creation_user"] = now, p.secrets.UserID
		if err := tx.Insert(analytics.plural, doc); err != nil {
			return err
		}
		names[program.Definition.Name] = true
	}
	for name := range names {
		err := tx.Insert(analyticAccess.plural, store.Doc{
			"_id": p.ids.Next(p.options.Now()), "name": name, "company": p.secrets.Company,
			"exposed": true, "enabled": true, "creation_date": now,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func describeProgram(program analytic.Program) (store.Doc, error) {
	data, err := json.Marshal(program.Definition)
	if err != nil {
		return nil, err
	}
	doc, err := store.Decode(data)
	if err == nil {
		image := localImage + program.Definition.Name + ":" + program.Definition.Version
		doc["algorithm"] = store.Doc{"docker_image": image, "docker_credentials_name": ""}
		doc["outputs"] = []any{}
	}
	return doc, err
}

func deleteAnalytic(r *Request) (any, error) {
	id := r.text("analytic")
	if _, err := r.get(analytics, id); err != nil {
		return nil, err
	}
	return nil, r.tx.Remove(analytics.plural, id)
}

func setDockerCredentials(r *Request) (any, error) {
	name, version, company := r.text("name"), r.text("version"), r.text("company")
	doc, err := r.first(analytics, store.Doc{"name": name, "version": version, "company": company})
	if err != nil {
		return nil, err
	}
	if doc == nil {
		return nil, notFound("analytic", name+" "+version)
	}
	credentials := r.text("docker_credentials_name")
	if _, err := r.needCredentials(company, credentials, "docker_credentials_name"); err != nil {
		return nil, err
	}
	store.Set(doc, "algorithm.docker_credentials_name", credentials)
	return doc, r.save(analytics, doc)
}

// analyticAccess says on which companies' domains an analytic (all versions of
// a name) is exposed, and which companies may order it.
var analyticAccess = &resource{name: "analytic_access", plural: "analytic_access"}

// analyticCredentials says with which credentials analytics run.
var analyticCredentials = &resource{name: "analytic_credentials", plural: "analytic_credentials"}

// changeAccess is the endpoint of one verb. Its body is a list under the verb,
// with an entry for each company: {company, analytics_names}.
func changeAccess(verb, companyKey string) endpoint {
	check := list(object(fields{"analytics_names": list(word)}, companyKey, "analytics_names"))
	companyRef := &resource{refs: []ref{{companyKey, companies, leave}}}
	return do(func(r *Request) (any, error) {
		entries, _ := r.body[verb].([]any)
		if entries == nil {
			return nil, wrong(verb, "is required")
		}
		if err := check(verb, entries); err != nil {
			return nil, err
		}
		for i, v := range entries {
			entry := v.(map[string]any)
			if _, err := companyRef.resolve(r, entry); err != nil {
				return nil, inElement(err, verb, i)
			}
			for _, name := range textsOf(entry["analytics_names"]) {
				if err := r.setAccess(verb, store.Text(entry, companyKey), name); err != nil {
					return nil, err
				}
			}
		}
		return store.Doc{verb: entries}, nil
	}, verb)
}

func (r *Request) setAccess(verb, company, name string) error {
	known, err := r.first(analytics, store.Doc{"name": name})
	if err != nil {
		return err
	}
	if known == nil {
		return notFound("analytic", name)
	}
	doc, err := r.first(analyticAccess, store.Doc{"name": name, "company": company})
	if err != nil {
		return err
	}
	found := doc != nil
	if !found {
		doc = store.Doc{"name": name, "company": company, "exposed": false, "enabled": false}
	}
	switch verb {
	case "expose":
		doc["exposed"] = true
	case "unexpose": // what is not exposed cannot be ordered
		doc["exposed"], doc["enabled"] = false, false
	case "enable":
		if doc["exposed"] != true {
			return conflict("analytic %s is not exposed on the domain of company %s; expose it first", name, company)
		}
		doc["enabled"] = true
	case "disable":
		doc["enabled"] = false
	}
	if found {
		return r.save(analyticAccess, doc)
	}
	return r.create(analyticAccess, doc)
}

// mayOrder tells whether a company may order an analytic.
func (r *Request) mayOrder(company, name string) (bool, error) {
	found, err := r.first(analyticAccess, store.Doc{"name": name, "company": company, "enabled": true})
	return found != nil, err
}

// credentialTarget reads which analytics of which company credentials are for,
// and finds what is assigned to them; nil when nothing is.
func (r *Request) credentialTarget() (target, assigned store.Doc, err error) {
	name, versions, company := r.text("analytic_name"), r.text("analytic_version_range"), r.text("company")
	if err := versionRange("analytic_version_range", versions); err != nil {
		return nil, nil, err
	}
	if _, err := r.need(companies, company, "company"); err != nil {
		return nil, nil, err
	}
	target = store.Doc{"name": name, "analytic_version_range": versions, "company": company}
	assigned, err = r.first(analyticCredentials, target)
	return target, assigned, err
}

// assignCredentials sets by name which credentials analytics run with. Those
// under other names stay.
func assignCredentials(r *Request) (any, error) {
	credentials := r.object("credentials")
	target, doc, err := r.credentialTarget()
	if err != nil {
		return nil, err
	}
	if _, err := r.newestVersion(store.Text(target, "name"), "analytic_name"); err != nil {
		return nil, err
	}
	if err := every(word)("credentials", credentials); err != nil {
		return nil, err
	}
	for _, field := range slices.Sorted(maps.Keys(credentials)) {
		name := store.Text(credentials, field)
		if _, err := r.needCredentials(store.Text(target, "company"), name, "credentials."+field); err != nil {
			return nil, err
		}
	}
	if doc == nil {
		target["credentials"] = credentials
		return target, r.create(analyticCredentials, target)
	}
	assigned, _ := doc["credentials"].(map[string]any)
	all := maps.Clone(credentials)
	for name, value := range assigned {
		if all[name] == nil {
			all[name] = value
		}
	}
	doc["credentials"] = all
	return doc, r.save(analyticCredentials, doc)
}

func unassignCredentials(r *Request) (any, error) {
	target, doc, err := r.credentialTarget()
	if err != nil {
		return nil, err
	}
	if doc == nil {
		return nil, notFound("analytic_credentials", store.Text(target, "name")+" "+store.Text(target, "analytic_version_range"))
	}
	object, _ := doc["credentials"].(map[string]any)
	for _, name := range r.texts("credential_names") {
		delete(object, name)
	}
	return doc, r.save(analyticCredentials, doc)
}
