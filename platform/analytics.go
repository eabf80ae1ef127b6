package platform

import (
	"encoding/json"
	"slices"

	"github.com/Masterminds/semver/v3"

	"transect/platform/analytic"
	"transect/platform/store"
)

var analytics = kind{name: "analytic", plural: "analytics", firstPage: 0, limit: 50}

// localImage is the image of the analytics that the platform runs itself.
const localImage = "transect.local/"

func analyticRoutes() []route {
	return []route{
		write("analytics-service/create-analytic", createAnalytic),
		write("analytics-service/delete-analytic-permanently", deleteAnalytic),
		read("analytics-service/describe-analytic", analytics.describe),
		read("analytics-service/search-analytics", analytics.search),
		write("analytics-service/expose-analytics", changeAccess("expose", "root_company")),
		write("analytics-service/unexpose-analytics", changeAccess("unexpose", "root_company")),
		write("analytics-service/enable-analytics", changeAccess("enable", "company")),
		write("analytics-service/disable-analytics", changeAccess("disable", "company")),
		write("analytics-service/assign-analytic-credentials", assignCredentials),
		write("analytics-service/unassign-analytic-credentials", unassignCredentials),
		write("analytics-service/set-analytic-docker-credentials", setDockerCredentials),
		write("analytics-service/order-analytic", orderAnalytic),
	}
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

func createAnalytic(r *Request) (any, error) {
	a := r.args()
	name, version, company := a.text("name"), a.text("version"), a.id("company")
	algorithm := within(a.object("algorithm"), "algorithm")
	algorithm.text("docker_image")
	algorithm.text("docker_credentials_name")
	if a.err == nil {
		a.err = algorithm.err
	}
	if _, err := semver.StrictNewVersion(version); a.err == nil && err != nil {
		a.wrong("version", "%q is no semantic version such as 1.0.0", version)
	}
	for _, key := range []string{"inputs", "parameters", "credentials", "deliverables", "outputs"} {
		a.slots(key)
	}
	for _, key := range []string{"tags", "groups"} {
		if a.has(key) {
			a.texts(key)
		}
	}
	if a.err != nil {
		return nil, a.err
	}
	if _, err := r.needCredentials(company, algorithm.text("docker_credentials_name"), "algorithm.docker_credentials_name"); err != nil {
		return nil, err
	}
	same, err := r.tx.All(analytics.plural, store.Doc{"name": name, "version": version})
	if err != nil {
		return nil, err
	}
	if len(same) > 0 {
		return nil, conflict("analytic %s %s exists already", name, version)
	}
	doc, err := r.extras()
	if err != nil {
		return nil, err
	}
	return doc, r.create(analytics, doc)
}

// slots checks a list of inputs, parameters or deliverables.
func (a *args) slots(key string) {
	if !a.has(key) {
		return
	}
	var names []string
	for i, v := range a.list(key) {
		object, ok := v.(map[string]any)
		if !ok {
			a.wrong(key, "element %d must be an object", i)
			return
		}
		inner := within(object, key+"["+itoa(i)+"]")
		name := inner.text("name")
		if slices.Contains(names, name) {
			inner.wrong("name", "%q is there twice", name)
		}
		names = append(names, name)
		inner.boolean("required")
		inner.optObject("scheme")
		inner.optObject("source")
		if a.err == nil {
			a.err = inner.err
		}
	}
}

func deleteAnalytic(r *Request) (any, error) {
	a := r.args()
	id := a.id("analytic")
	if a.err != nil {
		return nil, a.err
	}
	if _, err := r.get(analytics, id); err != nil {
		return nil, err
	}
	return nil, r.tx.Remove(analytics.plural, id)
}

func setDockerCredentials(r *Request) (any, error) {
	a := r.args()
	name, version, company := a.text("name"), a.text("version"), a.id("company")
	credentials := a.text("docker_credentials_name")
	if a.err != nil {
		return nil, a.err
	}
	found, err := r.tx.All(analytics.plural, store.Doc{"name": name, "version": version, "company": company})
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, notFound("analytic", name+" "+version)
	}
	if _, err := r.needCredentials(company, credentials, "docker_credentials_name"); err != nil {
		return nil, err
	}
	store.Set(found[0], "algorithm.docker_credentials_name", credentials)
	return found[0], r.save(analytics, found[0])
}
