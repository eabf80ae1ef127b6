package platform

import (
	"encoding/json"
	"fmt"

	"github.com/Masterminds/semver/v3"

	"transect/platform/analytic"
	"transect/platform/store"
)

// Analytics are programs that make products of the data on the platform.
var analytics = &resource{name: "analytic", plural: "analytics", unique: []string{"name", "version"}}

// localImage is the image of the analytics that the platform runs itself.
const localImage = "transect.local/"

func init() {
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
